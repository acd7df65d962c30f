import { EngineError, type Input, type Output, type Route, routes } from "@engine/contract";
import { readAnswer } from "./answer.ts";
import { FrameStream } from "./frame-stream.ts";
import { baseOf, type RequestInput, requestOf, type Target, urlOf } from "./request.ts";
import { type Fetch, type FetchResponse, unreachable } from "./transport.ts";

export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:8000`; a path prefix is kept. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string;
  /** Replaces the transport, for example with an in-process server in a test. */
  readonly fetch?: Fetch;
}

export interface CallOptions {
  /** Ends the call or the stream from this side. */
  readonly signal?: AbortSignal;
}

/** One method per route, grouped as the route table groups them. */
export type Client = { readonly [G in keyof typeof routes]: Calls<(typeof routes)[G]> };

type Calls<Group> = {
  readonly [N in keyof Group]: Group[N] extends Route ? RouteCall<Group[N]> : never;
};

/** Routes that answer with a stream also have `.stream`; some have nothing else. */
export type RouteCall<R extends Route> = (R extends StreamOnly | LinesOnly
  ? unknown
  : (...args: Args<R>) => Promise<Output<R>>) &
  (R extends { readonly frames: readonly string[] }
    ? { readonly stream: (...args: Args<R>) => Promise<FrameStream> }
    : unknown);

/** Open both ways, which `fetch` cannot do everywhere: workers bring their own transport. */
type LinesOnly = { readonly lines: true };
type StreamOnly = { readonly answers: { readonly 200: { readonly raw: "text/event-stream" } } };

type Args<R extends Route> =
  unknown extends Input<R>
    ? [input?: Record<string, never>, options?: CallOptions]
    : { [Part in keyof Input<R>]?: never } extends Input<R>
      ? [input?: Input<R>, options?: CallOptions]
      : [input: Input<R>, options?: CallOptions];

/**
 * A client of an engine's HTTP interface, derived from the route table.
 *
 * A route with one answer gives its body; one with several gives `{ status, body }`. Everything
 * else is thrown as EngineError: what the server refused under its own code, a server that cannot
 * be reached as `unavailable`.
 *
 * @example
 * ```ts
 * const client = createClient({ baseUrl: "http://127.0.0.1:8000" });
 *
 * const { status, body } = await client.executions.run({
 *   params: { ns: "default", wf: "hello_world", mode: "sync" },
 *   body: "World",
 * });
 * if (status === 200) console.log(body.output);
 *
 * const frames = await client.executions.run.stream({
 *   params: { ns: "default", wf: "hello_world", mode: "stream" },
 *   body: "World",
 * });
 * for await (const { event, data } of frames) console.log(event, data);
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const send: Fetch = options.fetch ?? ((url, request) => fetch(url, request));
  const target: Target = { base: baseOf(options.baseUrl), token: options.token };

  async function request(
    route: Route,
    input: RequestInput,
    url: string,
    signal: AbortSignal | undefined,
  ): Promise<FetchResponse> {
    const sent = requestOf(target, route, input);
    return send(url, signal ? { ...sent, signal } : sent);
  }

  function callOf(route: Route) {
    async function call(input: RequestInput = {}, { signal }: CallOptions = {}): Promise<unknown> {
      const url = urlOf(target.base, route, input);
      try {
        const response = await request(route, input, url, signal);
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
      connection.signal.addEventListener("abort", () =>
        signal?.removeEventListener("abort", leave),
      );
      try {
        const response = await request(route, input, url, connection.signal);
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

  // The table and the client have the same keys by the type of Client; mapping loses them.
  return mapValues(routes, (group) => mapValues(group, callOf)) as unknown as Client;
}

function mapValues<T, U>(
  record: Readonly<Record<string, T>>,
  map: (value: T) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
