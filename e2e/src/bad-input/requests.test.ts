import type { ExecutionRecord } from "@engine/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

const UNKNOWN_ID = "0197f3a0-0000-7000-8000-000000000000";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
  await engine.register("hello", "slow", "review", "trouble");
});
afterAll(() => engine[Symbol.asyncDispose]());

function refusal(code: string, details: Record<string, unknown> = {}) {
  return { error: { code, message: expect.stringMatching(/.{10,}/), ...withDetails(details) } };
}

function withDetails(details: Record<string, unknown>) {
  return Object.keys(details).length ? { details } : {};
}

test("EXE-79 an unknown workflow is 404 and says that it is the workflow", async () => {
  const answer = await engine.http.post("/workflows/default/nowhere/run/sync", null);
  expect(answer).toMatchObject({
    status: 404,
    body: refusal("not_found", { resource: "workflow" }),
  });
});

test("EXE-79 an unknown or malformed execution id is 404 wherever it is asked for", async () => {
  for (const id of [UNKNOWN_ID, "not-an-id"]) {
    for (const path of [
      `/executions/${id}`,
      `/executions/${id}/events`,
      `/workflows/default/hello_world/status/${id}`,
      `/inspect/${id}`,
    ]) {
      const answer = await engine.http.get(path);
      expect(answer, path).toMatchObject({
        status: 404,
        body: refusal("not_found", { resource: "execution" }),
      });
    }
    const resumed = await engine.http.post(`/workflows/default/review/resume/${id}`, null);
    expect(resumed).toMatchObject({ status: 404, body: refusal("not_found") });
  }
});

test("EXE-79 an execution of another workflow than the path's is 404", async () => {
  const { body } = await engine.http.post<ExecutionRecord>("/workflows/hello_world/run/sync", "x");
  const answer = await engine.http.get(`/workflows/default/review/status/${body.execution_id}`);
  expect(answer).toMatchObject({ status: 404, body: refusal("not_found") });
});

test("EXE-82 resuming a finished execution is 409 execution_finished", async () => {
  const { body } = await engine.http.post<ExecutionRecord>("/workflows/hello_world/run/sync", "x");
  const path = `/workflows/default/hello_world/resume/${body.execution_id}`;
  expect(await engine.http.post(path, null)).toMatchObject({
    status: 409,
    body: refusal("execution_finished", { state: "COMPLETED" }),
  });
});

test("EXE-82 resuming a running execution is 409 not_paused and changes nothing", async () => {
  const input = { steps: 3, ms: 400 };
  const { body } = await engine.http.post<ExecutionRecord>("/workflows/slow/run/async", input);
  const id = body.execution_id;
  await until("it runs", async () => (await engine.http.execution(id)).state === "RUNNING");
  const answer = await engine.http.post(`/workflows/default/slow/resume/${id}`, null);
  expect(answer).toMatchObject({
    status: 409,
    body: refusal("not_paused", { state: "RUNNING" }),
  });
  await engine.untilEnded(id);
  expect(await engine.http.execution(id)).toMatchObject({ state: "COMPLETED", output: 1200 });
});

test("EXE-79 a body that is not JSON is 400 bad_request and starts nothing", async () => {
  const before = await engine.http.get<{ total: number }>("/executions");
  const answer = await engine.http.postText("/workflows/default/hello_world/run/sync", '{"name":');
  expect(answer).toMatchObject({ status: 400, body: refusal("bad_request") });
  const after = await engine.http.get<{ total: number }>("/executions");
  expect(after.body.total).toBe(before.body.total);
});

test("EXE-79 an unknown mode is 400; a wrong query is 422 and names it", async () => {
  const mode = await engine.http.post("/workflows/default/hello_world/run/soon", null);
  expect(mode).toMatchObject({ status: 400, body: refusal("bad_request") });
  const query = await engine.http.get("/executions?limit=many");
  expect(query).toMatchObject({
    status: 422,
    body: { error: { code: "invalid_input", details: { issues: [{ path: "query.limit" }] } } },
  });
});

test("EXE-47 an output that cannot be stored fails its task and names the path inside the value", async () => {
  const answer = await engine.http.post<ExecutionRecord>("/workflows/default/unencodable/run/sync");
  expect(answer).toMatchObject({
    status: 500,
    body: {
      state: "FAILED",
      error: {
        code: "workflow_failed",
        message: expect.stringContaining("output.items[1].client"),
        details: { type: "UnencodableValueError", code: "unencodable_value" },
      },
    },
  });
  const log = await engine.http.log(answer.body.execution_id);
  const failed = log.find(({ type }) => type === "TASK_FAILED");
  expect(failed).toMatchObject({ name: "odd", value: { type: "UnencodableValueError" } });
});
