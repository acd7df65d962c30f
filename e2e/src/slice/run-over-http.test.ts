import type { ExecutionRecord } from "@engine/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
  await engine.register("hello", "trouble", "review");
});
afterAll(() => engine[Symbol.asyncDispose]());

test("EXE-81 a sync run answers 200 with the output, and names its execution in a header", async () => {
  const answer = await engine.http.post<ExecutionRecord>(
    "/workflows/default/hello_world/run/sync",
    "World",
  );
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    namespace: "default",
    workflow: "hello_world",
    version: 1,
    state: "COMPLETED",
    input: "World",
    output: "Hello, World!",
    error: null,
  });
  expect(answer.headers.get("x-engine-execution-id")).toBe(answer.body.execution_id);
});

test("EXE-78 a path without a namespace means the namespace default", async () => {
  const answer = await engine.http.post("/workflows/hello_world/run/sync", "you");
  expect(answer).toMatchObject({ status: 200, body: { output: "Hello, you!" } });
});

test("EXE-81 an async run answers 202 at once; its status tells when it is done", async () => {
  const { status, headers, body } = await engine.http.post<ExecutionRecord>(
    "/workflows/default/hello_world/run/async",
    "later",
  );
  expect(status).toBe(202);
  expect(body).toMatchObject({ state: "CREATED", output: null });
  expect(headers.get("location")).toBe(body.status_url);
  const read = () => engine.http.get<ExecutionRecord>(body.status_url);
  await until("it is COMPLETED", async () => (await read()).body.state === "COMPLETED");
  expect((await read()).body.output).toBe("Hello, later!");
});

test("EXE-23 EXE-25 the log is numbered from 1 without gaps and pages continue where one ended", async () => {
  const { body } = await engine.http.post<ExecutionRecord>(
    "/workflows/default/hello_world/run/sync",
    "log",
  );
  const path = `/executions/${body.execution_id}/events`;
  const whole = await engine.http.get<{ items: { type: string; seq: number }[] }>(path);
  expect(whole.body.items.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
    "1 WORKFLOW_CREATED",
    "2 WORKFLOW_CLAIMED",
    "3 WORKFLOW_STARTED",
    "4 TASK_STARTED",
    "5 TASK_COMPLETED",
    "6 WORKFLOW_COMPLETED",
  ]);
  const page = await engine.http.get<{ items: { seq: number }[] }>(`${path}?after=2&limit=3`);
  expect(page.body.items.map(({ seq }) => seq)).toEqual([3, 4, 5]);
});

test("EXE-35 EXE-81 a failed run answers 500 with the failure as data, without a stack", async () => {
  const answer = await engine.http.post<ExecutionRecord>(
    "/workflows/default/failing/run/sync",
    "out of range",
  );
  expect(answer).toMatchObject({
    status: 500,
    body: {
      state: "FAILED",
      error: {
        code: "workflow_failed",
        message: "out of range",
        details: { type: "RangeError", attempts: 1, task_call_id: "refuse~1" },
      },
    },
  });
  expect(JSON.stringify(answer.body)).not.toMatch(/trouble\.ts|\bat \w+ \(/);
});

test("EXE-36 a body that catches a task's failure gets it as a TaskError and can end well", async () => {
  const answer = await engine.http.post("/workflows/default/forgiving/run/sync", "no");
  expect(answer).toMatchObject({ status: 200, body: { output: "RangeError: no" } });
});

test("EXE-89 the basic API runs, resumes and inspects with short answers", async () => {
  const run = await engine.http.post("/hello_world", "basic");
  expect(run).toMatchObject({ status: 200 });
  expect(run.body).toEqual({
    execution_id: expect.any(String),
    name: "hello_world",
    input: "basic",
    output: "Hello, basic!",
  });

  const article = { topic: "basic", file: engine.home.file("basic.txt") };
  const paused = await engine.http.post<{ execution_id: string }>("/review", article);
  expect(paused).toMatchObject({ status: 202, body: { name: "review", output: null } });
  const id = paused.body.execution_id;
  const resumed = await engine.http.post(`/review/${id}`, { ok: true });
  expect(resumed).toMatchObject({
    status: 200,
    body: { execution_id: id, output: "published: On basic" },
  });

  const inspected = await engine.http.get(`/inspect/${id}`);
  expect(inspected).toMatchObject({
    status: 200,
    body: { execution_id: id, name: "review", state: "COMPLETED", label: null },
  });
  const { events } = inspected.body as { events: { seq: number }[] };
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));

  const detailed = await engine.http.post("/hello_world?inspect=true", "all");
  expect(detailed).toMatchObject({ status: 200, body: { state: "COMPLETED", version: 1 } });
  expect((detailed.body as { events: unknown[] }).events).toHaveLength(6);
});

test("EXE-59 EXE-67 registering the same file again makes no new version", async () => {
  await engine.register("hello");
  const { body } = await engine.http.get<{ items: { version: number }[] }>(
    "/workflows/default/hello_world/versions",
  );
  expect(body.items.map(({ version }) => version)).toEqual([1]);
});
