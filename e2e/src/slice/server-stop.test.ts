import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

test("EXE-81 a server that is asked to stop answers who waits, exits 0 within 10 s, and the run goes on later", async () => {
  await using engine = await startEngine();
  await engine.register("slow");
  const input = { steps: 40, ms: 100 };
  const waiting = engine.http.post<ExecutionRecord>("/workflows/slow/run/sync", input);
  const running = async () => {
    const { body } = await engine.http.get<{ total: number }>("/executions?state=running");
    return body.total === 1;
  };
  await until("it runs", running);

  engine.server.signal("SIGTERM");
  const asked = performance.now();
  const answer = await waiting;
  expect(answer).toMatchObject({ status: 202, body: { state: "RUNNING", output: null } });
  expect(await engine.server.result(10_000)).toMatchObject({ code: 0 });
  expect(performance.now() - asked).toBeLessThanOrEqual(10_000);

  engine.startServerAgain();
  const id = answer.body.execution_id;
  await engine.untilEnded(id);
  expect(await engine.http.execution(id)).toMatchObject({ state: "COMPLETED", output: 4_000 });
  // The worker kept it through the outage: nobody else had to take it.
  const claims = (await engine.http.log(id)).filter(({ type }) => type === "WORKFLOW_CLAIMED");
  expect(claims).toHaveLength(1);
});
