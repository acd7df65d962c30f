import { readFile } from "node:fs/promises";
import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";

async function pausedReview(engine: Engine): Promise<{ id: string; file: string }> {
  const file = engine.home.file("bodies.txt");
  const { status, body } = await engine.http.post<ExecutionRecord>(
    "/workflows/default/review/run/sync",
    { topic: "pausing", file },
  );
  expect(status).toBe(202);
  expect(body).toMatchObject({
    state: "PAUSED",
    worker: null,
    pause: { name: "verdict", kind: "input", value: { title: "On pausing" } },
    resume_url: `/workflows/default/review/resume/${body.execution_id}`,
  });
  return { id: body.execution_id, file };
}

test("EXE-25 EXE-52 a paused execution continues with the input of its resume, once", async () => {
  await using engine = await startEngine();
  await engine.register("review");
  const { id, file } = await pausedReview(engine);

  const path = `/workflows/default/review/resume/${id}`;
  const resumed = await engine.http.post<ExecutionRecord>(path, { ok: true });
  expect(resumed).toMatchObject({ status: 200, body: { output: "published: On pausing" } });
  expect(await readFile(file, "utf8")).toBe("write\npublish\n");
  const log = await engine.http.log(id);
  expect(log.map(({ type }) => type)).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "TASK_STARTED",
    "TASK_PAUSED",
    "WORKFLOW_PAUSED",
    "TASK_RESUMED",
    "TASK_COMPLETED",
    "WORKFLOW_RESUMING",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "WORKFLOW_COMPLETED",
  ]);

  const again = await engine.http.post(path, { ok: true });
  expect(again).toMatchObject({
    status: 409,
    body: { error: { code: "execution_finished", details: { state: "COMPLETED" } } },
  });
});

test("I4 EXE-27 a resume on a worker that never saw the execution runs no recorded body again", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("review");
  const first = engine.startWorker("first");
  const { id, file } = await pausedReview(engine);
  await first.kill();
  engine.startWorker("second");

  const path = `/workflows/default/review/resume/${id}`;
  const resumed = await engine.http.post<ExecutionRecord>(path, { ok: true });
  expect(resumed).toMatchObject({ status: 200, body: { output: "published: On pausing" } });
  expect(await readFile(file, "utf8")).toBe("write\npublish\n");
});

test("I1 a resume given while no worker is there is kept until one joins, server restart included", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("review");
  const first = engine.startWorker("first");
  const { id } = await pausedReview(engine);
  await first.stop();

  const path = `/workflows/default/review/resume/${id}/async`;
  const accepted = await engine.http.post<ExecutionRecord>(path, null);
  expect(accepted).toMatchObject({ status: 202, body: { state: "RESUMING" } });
  await engine.server.kill();
  engine.startServerAgain();
  engine.startWorker("second");
  await engine.untilEnded(id);
  expect(await engine.http.execution(id)).toMatchObject({ state: "COMPLETED", output: null });
});

test("I12 EXE-52 of two racing resumes one is answered, the other is told the pause is gone", async () => {
  await using engine = await startEngine();
  await engine.register("review");
  const { id } = await pausedReview(engine);
  const path = `/workflows/default/review/resume/${id}`;
  const answers = await Promise.all([
    engine.http.post(path, { ok: true }),
    engine.http.post(path, { ok: true }),
  ]);
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 409]);
  const refused = answers.find(({ status }) => status === 409);
  expect(refused?.body).toMatchObject({
    error: { code: expect.stringMatching(/^(not_paused|execution_finished)$/) },
  });
  const log = await engine.http.log(id);
  expect(log.filter(({ type }) => type === "TASK_RESUMED")).toHaveLength(1);
});
