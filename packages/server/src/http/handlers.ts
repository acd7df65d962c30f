import type { Parsed, Route } from "@engine/contract";
import type { Caller } from "./authorize.ts";
import type { Reply } from "./reply.ts";

/** What a handler may know of the request beside its parsed input. */
export interface Call {
  /** Fires when the client leaves before the answer is complete, or the server ends the stream. */
  readonly signal: AbortSignal;
  readonly caller: Caller;
  readonly request_id: string;
  /** As received, names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type Handler<R extends Route> = (
  input: Parsed<R>,
  call: Call,
) => Reply<R> | Promise<Reply<R>>;

/** One function per route of a group, named as the contract names it. */
export type Handlers<Group> = {
  readonly [Name in keyof Group]: Group[Name] extends Route ? Handler<Group[Name]> : never;
};

/** One set of handlers per group of a route table. */
export type TableHandlers<Table> = { readonly [Group in keyof Table]: Handlers<Table[Group]> };

export type RouteTable = Readonly<Record<string, Readonly<Record<string, Route>>>>;
