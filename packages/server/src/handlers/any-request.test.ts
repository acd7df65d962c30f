/**
 * Requests to every route: as they should be but for a part that is anything at all. Whatever it is,
 * the answer is a result or a coded error, never a defect. `FUZZ_RUNS` sets how many are sent.
 */
import { Config, ErrorBody, type Json, type Route, routes, SESSION_HEADER } from "@engine/contract";
import { openSqliteStore } from "@engine/store";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Server, startServer } from "../server.ts";
import { heartbeat, registration, ScriptedWorker } from "../testing/scripted-worker.ts";
import { HELLO, hello, silent } from "../testing/start-engine.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 1500);
vi.setConfig({ testTimeout: 30_000 + numRuns * 50 });

let server: Server;
let close: () => Promise<void>;
let names: Readonly<Record<string, string>>;
let session: string;
/** By how the path of a route ends. */
let bodies: Readonly<Record<string, Json>>;

beforeAll(async () => {
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  const config = Config.parse({ server: { port: 0 }, executions: { sync_timeout: 0.01 } });
  server = await startServer({ config, store, log: silent, version: "0" });
  close = async () => {
    await server.close();
    await store.close();
  };
  await server.engine.catalog.register({ source: HELLO }, { by: null });
  const worker = new ScriptedWorker("w", server.workers, Date.now);
  await worker.register();
  await worker.connect();
  await server.engine.executions.start(hello());
  const { execution_id, head } = await worker.next("assign");
  const known = { execution_id, generation: 1 };
  const rest = { ns: "default", wf: "hello", seq: "1", hash: "0".repeat(64), version: "1" };
  names = { ...rest, name: "w", id: execution_id, workflow_name: "hello" };
  session = worker.ref.session;
  const of = { execution_id, workflow: "hello" };
  const events = [
    worker.event(of, "WORKFLOW_STARTED", null),
    worker.callEvent("TASK_STARTED", "sleep~1", { until: "2030-01-01T00:00:00.000Z" }),
    worker.callEvent("TASK_STARTED", "call~1", { workflow: "default/hello", wait: true }),
    worker.pauseEvent("TASK_STARTED", { name: "p" }),
    worker.pauseEvent("TASK_PAUSED", { name: "p", until: "2030-01-01T00:00:00.000Z" }),
  ];
  const item = { ...known, base_seq: head, state: "RUNNING", events };
  const beat = { ...heartbeat([{ ...known, seq: head }]), wait_seconds: 0 };
  const interval = { type: "interval", every_seconds: 3600, start_at: "2030-01-01T00:00:00Z" };
  const value = { generation: 1, text: "{}", task: "t", version: "1", digest: "d", ttl_ms: 1 };
  bodies = {
    register: registration("v"),
    heartbeat: beat,
    poll: beat,
    checkpoints: { items: [item] },
    checkpoint: item,
    // Under another generation: what it gave back could not be asked about any more.
    release: { items: [{ ...known, generation: 2, reason: "draining" }] },
    cache: { ...value, value: null },
    schedules: { name: "s", workflow: "hello", spec: interval },
    fork: { from_seq: 1, from_call: "a~1", input: null, version: 1, name: "x" },
    workflows: { source: HELLO, files: [{ path: "a.ts", source: HELLO }], entry: "a.ts" },
    cancel: { reason: "no", timeout_seconds: 1 },
    "": value,
  } as unknown as Record<string, Json>;
});
afterAll(() => close());

/** Streams, and what would leave nobody to ask for. */
const LEFT_OUT = ["connect", "stream", "disconnect", "drain"];
const rows: readonly Route[] = Object.values(routes)
  .flatMap((group) => Object.values(group) as Route[])
  .filter(({ path, lines }) => !lines && !LEFT_OUT.some((end) => path.endsWith(`/${end}`)));

const word = fc.oneof(
  fc.constantFrom(
    "",
    "0",
    "-1",
    "1e9",
    "NaN",
    "null",
    "true",
    "%00",
    "..",
    "__proto__",
    "a b",
    "é",
  ),
  fc.string({ maxLength: 12 }),
);
const anything = fc.oneof(
  word,
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>({ $rich: "x" }, { $stored: {} }, [[[]]], 1e308, -0.5, "\0"),
);
const request = fc.record({
  row: fc.oneof(
    fc.constantFrom(...rows),
    fc.constantFrom(...rows.filter(({ body }) => body !== undefined)),
  ),
  params: fc.dictionary(fc.constantFrom("ns", "wf", "name", "id", "seq", "call", "hash"), word, {
    maxKeys: 1,
  }),
  query: fc.dictionary(
    fc.constantFrom(
      "limit",
      "offset",
      "order",
      "state",
      "after",
      "generation",
      "mode",
      "events",
      "x",
    ),
    word,
    { maxKeys: 2 },
  ),
  place: fc.nat(),
  other: anything,
});

/** The value with one of its parts, chosen by a number, replaced; or with one that is unknown. */
function replaced(value: Json, place: number, other: unknown): unknown {
  const copies: unknown[] = [other];
  const walk = (part: Json, put: (changed: unknown) => unknown): void => {
    if (typeof part !== "object" || part === null) return;
    const entries = Object.entries(part);
    const withChild = (key: string, changed: unknown) =>
      put(
        Array.isArray(part) ? part.with(Number(key), changed as Json) : { ...part, [key]: changed },
      );
    if (!Array.isArray(part)) copies.push(put({ ...part, unknown_key: other }));
    for (const [key, child] of entries) {
      copies.push(withChild(key, other));
      walk(child, (changed) => withChild(key, changed));
    }
  };
  walk(value, (changed) => changed);
  return copies[place % copies.length];
}

function urlOf(
  { path }: Route,
  params: Record<string, string>,
  query: Record<string, string>,
): URL {
  const known = { ...names, mode: "async", call: "a~1", ...params };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(known[name as keyof typeof known] ?? "x"),
  );
  const url = new URL(server.url + filled);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  return url;
}

test("NET-3 NET-7 whatever a request holds, it is answered by a result or a coded error", async () => {
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(request, async ({ row, params, query, place, other }) => {
      const left = new AbortController();
      const hangs = setTimeout(() => left.abort(new Error(`no answer: ${row.path}`)), 5_000);
      const sent = bodies[row.path.split("/").at(-1) ?? ""] ?? bodies[""] ?? null;
      const hasBody = row.body !== undefined;
      const answer = await fetch(urlOf(row, params, query), {
        method: row.method,
        headers: { [SESSION_HEADER]: session, "content-type": "application/json" },
        signal: left.signal,
        ...(hasBody && { body: JSON.stringify(replaced(sent, place, other)) ?? "null" }),
      });
      seen.add(answer.status);
      const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
      const text = isStream ? "" : await answer.text();
      clearTimeout(hangs);
      left.abort();
      expect(answer.status, `${row.method} ${row.path} ${text}`).not.toBe(500);
      // An item of a batch has an error of its own.
      expect(text).not.toContain('"code":"internal"');
      if (answer.ok || isStream) return;
      ErrorBody.parse(JSON.parse(text));
    }),
    { numRuns },
  );
  expect([...seen]).toEqual(expect.arrayContaining([200, 404, 422]));
});
