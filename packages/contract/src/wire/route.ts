import type * as z from "zod";
import type { Permission } from "./permission.ts";

/** An answer that is not JSON: a media type, or null for no body. */
export interface RawAnswer {
  readonly raw: string | null;
  readonly meaning: string;
  /** Headers that say what became of it, of an answer without a body: a client gives them in its place. */
  readonly headers?: z.ZodObject;
}

/**
 * A limit that follows `executions.max_value_bytes`: of a body that is a value, or of one that holds
 * a value's JSON text as a string.
 */
type ConfiguredLimit = "value" | "quoted_value";

/** A rate and whose requests it counts: addresses before it is known who asks, principals after. */
type RouteLimit =
  | { readonly rate: "register"; readonly per: "address" }
  | { readonly rate: "test_token"; readonly per: "principal" };

/** One HTTP operation, described once: the server binds it, the client calls it, the docs print it. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path parameters are written `{name}`. */
  readonly path: string;
  /** One sentence for the docs. */
  readonly summary: string;
  readonly permission: Permission;
  /** What the route does, not its verb, decides whether it counts as a write (AUTH-7). */
  readonly effect: "read" | "write";
  /** Parameters of the path that are not just any text; a value that does not fit names nothing. */
  readonly params?: Readonly<Record<string, z.ZodType>>;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  /** How often it may be asked for, by a rate of `[engine.security.rate_limits]` (NET-2). */
  readonly limit?: RouteLimit;
  /** Absent: a body is refused. Any JSON, or a schema of named fields. */
  readonly body?: z.ZodType;
  /** Largest body in bytes, or what is configured; 1 MiB when absent (NET-1). */
  readonly bodyLimit?: number | ConfiguredLimit;
  /**
   * Every status that carries a result rather than an error, with its body. An answer whose status
   * is listed and whose body fits is a result; any other non-2xx is an `ErrorBody`.
   */
  readonly answers: Readonly<Record<number, z.ZodType | RawAnswer>>;
  /**
   * Lines of JSON both ways over one request that stays open: every line sent is answered by one, in
   * order, this one's or an `ErrorBody`. `body` is what a line holds.
   */
  readonly lines?: z.ZodType;
  /**
   * Answered as it is: secrets that were asked for, tokens that are made, the worker protocol (RED-3),
   * and whether the server is well (RED-5).
   * Absent: whatever is masked anywhere is masked in it.
   */
  readonly redact?: false;
  /**
   * What speaks a protocol of its own reads the body and answers, once the row has let the caller in:
   * the media types by which it does. Redaction, where it is needed, is its matter too.
   */
  readonly speaks?: readonly string[];
  /** SSE frames by their names, with their data, when the route can answer with a stream. */
  readonly frames?: Readonly<Record<string, z.ZodType>>;
}

/** Whether an answer is no JSON. */
export function isRaw(answer: z.ZodType | RawAnswer): answer is RawAnswer {
  return "raw" in answer;
}

/** What a caller passes to a route. */
export type Input<R extends Route> = Params<R, "input"> &
  Part<R, "query", "input"> &
  Part<R, "headers", "input"> &
  Part<R, "body", "input">;

/** What a handler receives: the same object, parsed. */
export type Parsed<R extends Route> = Params<R, "output"> &
  Part<R, "query", "output"> &
  Part<R, "headers", "output"> &
  Part<R, "body", "output">;

type BodyOf<A> = A extends z.ZodType ? z.output<A> : A extends { raw: null } ? undefined : string;

/** Every listed answer as `{ status, body }`. */
export type Answer<R extends Route> = {
  [S in keyof R["answers"] & number]: {
    readonly status: S;
    readonly body: BodyOf<R["answers"][S]>;
  };
}[keyof R["answers"] & number];

type IsUnion<T, U = T> = T extends unknown ? ([U] extends [T] ? false : true) : never;

/** What a client is given of an answer: its body, or headers that say something in place of one. */
type ToldBy<A> = A extends { headers: infer H extends z.ZodObject } ? z.output<H> : BodyOf<A>;

type Told<R extends Route> = {
  [S in keyof R["answers"] & number]: {
    readonly status: S;
    readonly body: ToldBy<R["answers"][S]>;
  };
}[keyof R["answers"] & number];

/** What the client gives back: the body where there is one answer, else the status beside it. */
export type Output<R extends Route> =
  IsUnion<keyof R["answers"] & number> extends true ? Told<R> : Told<R>["body"];

type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;
type Params<R extends Route, Side extends "input" | "output"> = [Names<R["path"]>] extends [never]
  ? unknown
  : { params: { [Name in Names<R["path"]>]: Param<R, Name, Side> } };
type Param<R extends Route, Name extends string, Side extends "input" | "output"> = R extends {
  params: { [K in Name]: infer S extends z.ZodType };
}
  ? Side extends "output"
    ? z.output<S>
    : z.input<S>
  : string;

type Part<
  R extends Route,
  Key extends "query" | "headers" | "body",
  Side extends "input" | "output",
> = R extends { [K in Key]: infer S extends z.ZodType }
  ? Side extends "output"
    ? { [K in Key]: z.output<S> }
    : Key extends "body"
      ? { body: z.input<S> }
      : { [K in Key]?: z.input<S> }
  : unknown;
