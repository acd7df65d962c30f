import type { ExecutionRecord } from "@engine/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ workers: [] });
  await engine.register("voluminous");
});
afterAll(() => engine[Symbol.asyncDispose]());

const RUN = "/workflows/default/measured/run/sync";
const resume = (id: string) => `/workflows/default/measured/resume/${id}`;

test("EXE-49 a large input reaches the body, also of the worker that replays it, and so does a large answer", async () => {
  const input = Array.from({ length: 200_000 }, (_, n) => [n]);
  const { length } = JSON.stringify(input);
  const one = engine.startWorker("one");
  const { status, body } = await engine.http.post<ExecutionRecord>(RUN, input);
  expect(status).toBe(202);
  expect(body).toMatchObject({ state: "PAUSED" });
  expect(body.input).toEqual(input);
  const { execution_id } = body;
  // No copy is warm on the other one.
  await one.kill();
  engine.startWorker("two");
  const answer = { text: "x".repeat(600_000) };
  const resumed = await engine.http.post<ExecutionRecord>(resume(execution_id), answer);
  expect(resumed.body.output).toEqual([length, length, JSON.stringify(answer).length]);
  const log = await engine.http.log(execution_id);
  const started = log.find(({ type }) => type === "WORKFLOW_STARTED");
  expect(started?.value).toMatchObject({ $stored: { metadata: { bytes: length } } });
  const value = `/executions/${execution_id}/events/${started?.seq}/value`;
  expect((await engine.http.get(value)).body).toEqual(input);
});

test("EXE-87 a fork of an execution with a large input has it too", async () => {
  const input = { text: "x".repeat(400_000) };
  const { length } = JSON.stringify(input);
  const { body } = await engine.http.post<ExecutionRecord>(RUN, input);
  const fork = `/executions/${body.execution_id}/fork`;
  const { body: forked } = await engine.http.post<ExecutionRecord>(fork, {});
  const read = () => engine.http.execution(forked.execution_id);
  await until("the fork rests", async () => (await read()).state === "PAUSED");
  const resumed = await engine.http.post<ExecutionRecord>(resume(forked.execution_id), 1);
  expect(resumed.body).toMatchObject({ input, output: [length, length, 1] });
});
