import { type Route, routes } from "@engine/contract";
import { caFileOfEnvironment, trustCaFile } from "./authorities.ts";
import { exposure, warnOnConsole } from "./exposed-token.ts";
import { baseOf, type Target } from "./request.ts";
import { callOf, type RouteCalls } from "./route-call.ts";
import { systemTiming, type Timing } from "./timing.ts";
import type { Fetch } from "./transport.ts";
import { createWorkflowClient, type WorkflowClient } from "./workflow-client.ts";
import type { AnyWorkflowShape, WorkflowShape } from "./workflow-shape.ts";

/** Where the server is, and what the client uses of the world. */
export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:8000`; a path prefix is kept. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string;
  /** Replaces the transport, for example with an in-process server in a test. */
  readonly fetch?: Fetch;
  /** Told once where the token can be read on its way (NET-6); `console.warn` unless given. */
  readonly warn?: (message: string) => void;
  /** Replaces the clock and the chance behind retries, for example in a test. */
  readonly timing?: Timing;
}

/** One method per route, in their groups, and typed clients of single workflows. */
export interface Client extends RouteCalls {
  /**
   * A typed client of one workflow (EXE-90). The type can come from the workflow's file without
   * its code: an `import type`, or `typeof import(…)`, is gone when the program runs. Nothing is
   * sent before the first call. Without a type any JSON goes in and comes out.
   *
   * @param name `<namespace>/<name>`; a name alone is one of namespace `default`.
   * @throws EngineError `bad_request` when that is not a workflow's name.
   * @example
   * ```ts
   * const checkout = client.workflow<typeof import("./checkout.ts").checkout>("shop/checkout");
   *
   * const receipt = await checkout.run({ cart: "c1" });
   *
   * const handle = await checkout.start({ cart: "c2" }, { idempotencyKey: "order-17" });
   * await handle.signal("address_changed", { zip: "10115" });
   * const other = await handle.result();
   * ```
   */
  workflow<W extends WorkflowShape = AnyWorkflowShape>(name: string): WorkflowClient<W>;
}

/**
 * A client of an engine's HTTP interface, derived from the route table.
 *
 * A route with one answer gives its body; one with several gives `{ status, body }`. Everything
 * else is thrown as EngineError: what the server refused under its own code, a server that cannot
 * be reached as `unavailable`. For running workflows see {@link Client.workflow}.
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
  const target: Target = { base: baseOf(options.baseUrl), token: options.token };
  const send = warning(options.fetch ?? systemFetch, target, options.warn);
  const timing = options.timing ?? systemTiming;
  // The table and the calls have the same keys by the type of RouteCalls; mapping loses them.
  const calls = mapValues(routes, (group) =>
    mapValues(group, (route: Route) => callOf(route, target, send)),
  ) as unknown as RouteCalls;
  const shared = { executions: calls.executions, timing };
  return {
    ...calls,
    workflow: (name) => createWorkflowClient(name, shared),
  };
}

/** The same transport; before the first request it says where the token can be read on its way. */
function warning(
  send: Fetch,
  { base, token }: Target,
  warn: (message: string) => void = warnOnConsole,
): Fetch {
  let exposed = token === undefined ? undefined : exposure(base);
  if (exposed === undefined) return send;
  return (url, request) => {
    if (exposed !== undefined) warn(exposed);
    exposed = undefined;
    return send(url, request);
  };
}

const systemFetch: Fetch = (url, request) => {
  if (url.startsWith("https:")) trustCaFile(caFileOfEnvironment());
  return fetch(url, request);
};

function mapValues<T, U>(
  record: Readonly<Record<string, T>>,
  map: (value: T) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
