import { EngineError, type Input, type Output, type Route, type routes } from "@engine/contract";
import { readAnswer } from "./answer.ts";
import { FrameStream } from "./frame-stream.ts";
import { type RequestInput, requestOf, type Target, urlOf } from "./request.ts";
import { type Fetch, unreachable } from "./transport.ts";

/** Options of every call of a route. */
export interface CallOptions {
  /** Ends the call or the stream from this side. */
  readonly signal?: AbortSignal;
}

/** One method per route, grouped as the route table groups them. */
export type RouteCalls = { readonly [G in keyof typeof routes]: Calls<(typeof routes)[G]> };

type Calls<Group> = {
  readonly [N in keyof Group]: Group[N] extends Route ? RouteCall<Group[N]> : never;
};

/** Routes that answer with a stream also have `.stream`; some have nothing else. */
export type RouteCall<R extends Route> = (R extends StreamOnly | LinesOnly | Spoken
  ? unknown
  : (...args: Args<R>) => Promise<Output<R>>) &
  (R extends { readonly frames: Readonly<Record<string, unknown>> }
    ? { readonly stream: (...args: Args<R>) => Promise<FrameStream> }
    : unknown);

/** Open both ways, which `fetch` cannot do everywhere: workers bring their own transport. */
type LinesOnly = { readonly lines: object };
/** What speaks a protocol of its own has clients of its own. */
type Spoken = { readonly speaks: readonly string[] };
type StreamOnly = { readonly answers: { readonly 200: { readonly raw: "text/event-stream" } } };

type Args<R extends Route> =
  unknown extends Input<R>
    ? [input?: Record<string, never>, options?: CallOptions]
    : { [Part in keyof Input<R>]?: never } extends Input<R>
      ? [input?: Input<R>, options?: CallOptions]
      : [input: Input<R>, options?: CallOptions];

/** The method of a route; what it takes and gives is typed by the table, see {@link RouteCalls}. */
export function callOf(route: Route, target: Target, fetch: Fetch): unknown {
  async function call(input: RequestInput = {}, { signal }: CallOptions = {}): Promise<unknown> {
    const url = urlOf(target.base, route, input);
    try {
      const request = requestOf(target, route, input);
      const response = await fetch(url, signal ? { ...request, signal } : request);
      return await readAnswer(route, response, `${route.method} ${url}`);
    } catch (error) {
      throw error instanceof EngineError || signal?.aborted ? error : unreachable(url, error);
    }
  }

  async function stream(
    input: RequestInput = {},
    { signal }: CallOptions = {},
  ): Promise<FrameStream> {
    const url = urlOf(target.base, route, input);
    const connection = new AbortController();
    const leave = () => connection.abort(signal?.reason);
    if (signal?.aborted) leave();
    else signal?.addEventListener("abort", leave, { once: true });
    connection.signal.addEventListener("abort", () => signal?.removeEventListener("abort", leave));
    try {
      const request = requestOf(target, route, input);
      const response = await fetch(url, { ...request, signal: connection.signal });
      const type = response.headers.get("content-type") ?? "";
      if (type.startsWith("text/event-stream")) return new FrameStream(response, connection, url);
      await readAnswer(route, response, `${route.method} ${url}`);
      throw new EngineError("bad_request", `${url} does not answer with a stream`);
    } catch (error) {
      connection.abort();
      throw error instanceof EngineError || signal?.aborted ? error : unreachable(url, error);
    }
  }

  return route.frames ? Object.assign(call, { stream }) : call;
}
