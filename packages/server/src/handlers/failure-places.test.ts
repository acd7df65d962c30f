import {
  type ExecutionRecord,
  type Failure,
  type Json,
  type NewEvent,
  routes,
} from "@engine/contract";
import { createApp } from "@engine/http";
import { expect, test } from "vitest";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { basicHandlers } from "./basic.ts";
import { executionHandlers } from "./executions.ts";

const AT = "lib/prices.ts:4:11";
const STACK = `at price (${AT})\nat charge (orders.ts:12:9)`;
const plain = { code: null, retryable: true, cause: null, attempts: 1, task_call_id: null };
const rollback: Failure = { ...plain, type: "Error", message: "kept", details: { at: AT, n: 1 } };
const cause: Failure = { ...plain, type: "Error", message: "deep", details: { at: AT } };
/** What a worker records: places at every level, beside what the author gave. */
const failure: Failure = {
  ...plain,
  type: "Declined",
  message: "no luck",
  details: { code: 51, at: AT, rollback },
  cause,
  task_call_id: "charge~1",
};

function http(t: TestEngine) {
  const { executions, basic } = routes;
  return createApp({
    routes: { executions, basic },
    handlers: {
      executions: executionHandlers(t.engine, 300),
      basic: basicHandlers(t.engine, 300),
    },
    log: silent,
    ids: () => "r",
  });
}

/** Asks for a run, which fails in a task; gives the answer's text. */
async function failed(
  t: TestEngine,
  app: ReturnType<typeof http>,
  url: string,
  before: (worker: ScriptedWorker) => readonly NewEvent[] = () => [],
): Promise<string> {
  const worker = await t.worker();
  const headers = { "content-type": "application/json" };
  const answer = app.inject({ method: "POST", url, headers, payload: "null" });
  const assigned = await worker.next("assign");
  const told = { meta: { attempts: 1, stack: STACK } };
  await worker.checkpoint(assigned, assigned.head, "FAILED", [
    worker.begin(assigned),
    ...before(worker),
    worker.callEvent("TASK_STARTED", "charge~1"),
    { ...worker.callEvent("TASK_FAILED", "charge~1", failure as unknown as Json), ...told },
    {
      ...worker.event(assigned, "WORKFLOW_FAILED", failure as unknown as Json),
      meta: { stack: STACK },
    },
  ]);
  return (await answer).body;
}

const RUNS: readonly [string, string][] = [
  ["a sync run", "/workflows/default/hello/run/sync?detailed=true"],
  ["a streamed run", "/workflows/default/hello/run/stream?detailed=true&events=all"],
  ["a basic run", "/hello?inspect=true"],
];

test.each(RUNS)(
  "EXE-35 %s is answered without places and stacks, since it goes to a caller",
  async (_, url) => {
    await using t = await TestEngine.start();
    const app = http(t);
    const text = await failed(t, app, url);
    expect(text).toContain("no luck");
    expect(text).toContain('"TASK_FAILED"');
    expect(text).not.toContain("prices.ts");
    expect(text).not.toContain("orders.ts");
  },
);

test("EXE-35 a record too long to be held has no places either, in the stream of a run", async () => {
  await using t = await TestEngine.start();
  const url = "/workflows/default/hello/run/stream?detailed=true";
  const text = await failed(t, http(t), url, (worker) => [
    worker.callEvent("TASK_STARTED", "read~1"),
    worker.callEvent("TASK_COMPLETED", "read~1", "x".repeat(200_000)),
    worker.callEvent("TASK_STARTED", "read~2"),
    worker.callEvent("TASK_COMPLETED", "read~2", "x".repeat(200_000)),
  ]);
  expect(text).toContain('"TASK_FAILED"');
  expect(text).not.toContain("prices.ts");
  expect(text).not.toContain("orders.ts");
});

test("EXE-35 what the author gave stays in the answer, also beside a place and in causes", async () => {
  await using t = await TestEngine.start();
  const body = await failed(t, http(t), "/workflows/default/hello/run/sync");
  const { message: _, ...rest } = failure;
  expect((JSON.parse(body) as ExecutionRecord).error).toEqual({
    code: "workflow_failed",
    message: "no luck",
    details: {
      ...rest,
      details: { code: 51, rollback: { ...rollback, details: { n: 1 } } },
      cause: { ...cause, details: null },
    },
  });
});

test("EXE-35 whoever reads the execution is told the place, and with its log the stack", async () => {
  await using t = await TestEngine.start();
  const app = http(t);
  await failed(t, app, "/workflows/default/hello/run/sync");
  const get = async (url: string) => (await app.inject({ method: "GET", url })).body;
  const { items } = JSON.parse(await get("/executions")) as { items: ExecutionRecord[] };
  const [{ execution_id } = expect.unreachable()] = items;
  const record = JSON.parse(await get(`/executions/${execution_id}?detailed=true`));
  expect(record).toMatchObject({ error: { details: { details: { at: AT, code: 51 } } } });
  expect(record.events.slice(-2)).toMatchObject([
    { meta: { attempts: 1, stack: STACK }, value: { details: { at: AT } } },
    { meta: { stack: STACK } },
  ]);
  for (const url of [
    `/workflows/default/hello/status/${execution_id}`,
    `/executions/${execution_id}?mode=stream`,
    `/inspect/${execution_id}`,
  ]) {
    expect(await get(url), url).toContain(AT);
  }
});
