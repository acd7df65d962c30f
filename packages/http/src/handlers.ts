import type { Json, Parsed, Route } from "@engine/contract";
import type * as z from "zod";
import type { Caller } from "./authorize.ts";
import type { LargeJson } from "./json/large-json.ts";
import type { Permit } from "./permit.ts";
import type { Reply } from "./reply.ts";

/** What a handler may know of the request beside its parsed input. */
export interface Call {
  /** Fires when the client leaves before the answer is complete, or the server ends the stream. */
  readonly signal: AbortSignal;
  readonly caller: Caller;
  /** Where a handler demands what the row leaves to it; without that its answer is not sent. */
  readonly permit: Pick<Permit, "demand" | "demandOf" | "demandRun" | "demandToRun" | "seen">;
  readonly request_id: string;
  /** The row's name in the route table, as `schedules.create`. */
  readonly action: string;
  /** Of the client, behind the proxies that are trusted (NET-2); undefined once it is gone. */
  readonly address: string | undefined;
  /** As received, names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Names and values by turns, before any repeats are joined. */
  readonly raw_headers: readonly string[];
}

export type Handler<R extends Route> = (
  input: Received<R>,
  call: Call,
) => Reply<R> | Promise<Reply<R>>;

/**
 * A request as its row describes it. A large body that may be any JSON is given as its text, and so
 * is a large field of that kind in a route with a `bodyLimit`.
 */
type Received<R extends Route> = R extends { body: infer Body extends z.ZodType }
  ? Omit<Parsed<R>, "body"> & { body: WithText<R, z.output<Body>> }
  : Parsed<R>;

type WithText<R, Value> = Json extends Value
  ? Value | LargeJson
  : R extends { bodyLimit: NonNullable<Route["bodyLimit"]> }
    ? Value extends object
      ? { [Key in keyof Value]: Json extends Value[Key] ? Value[Key] | LargeJson : Value[Key] }
      : Value
    : Value;

/**
 * Looks for the record that a large body is for, before the body is read, and rejects where there is
 * none.
 */
export type Look = (request: {
  readonly params: Readonly<Record<string, string>>;
  /** As received. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}) => Promise<unknown>;

/** The lookups of a table, by group and route; most routes have none. */
export type Looks<Table> = {
  readonly [Group in keyof Table]?: { readonly [Name in keyof Table[Group]]?: Look };
};

/**
 * What a route settles before any of its body is read: that there is what the path names, and that the
 * caller may have it. It rejects otherwise; what it demands of the permit counts for the handler too.
 */
export type Before<R extends Route> = (
  input: Omit<Parsed<R>, "body">,
  call: Pick<Call, "permit" | "caller">,
) => Promise<unknown>;

/** What routes of a table settle before their bodies, by group and route; most leave all to handlers. */
export type Befores<Table> = {
  readonly [Group in keyof Table]?: {
    readonly [Name in keyof Table[Group]]?: Table[Group][Name] extends Route
      ? Before<Table[Group][Name]>
      : never;
  };
};

/** One function per route of a group, named as the contract names it. */
export type Handlers<Group> = {
  readonly [Name in keyof Group]: Group[Name] extends Route ? Handler<Group[Name]> : never;
};

/** One set of handlers per group of a route table. */
export type TableHandlers<Table> = { readonly [Group in keyof Table]: Handlers<Table[Group]> };

export type RouteTable = Readonly<Record<string, Readonly<Record<string, Route>>>>;
