import type { ExecutionRecord, Why } from "@engine/contract";
import { expect, test } from "vitest";
import { startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

for (const store of ["sqlite", "postgres"] as const) {
  test(`AFF-3 WHY-3 what no worker matches parks, says what is missing, and starts when a match joins, also after a kill of the server (${store})`, async () => {
    await using engine = await startEngine({ store, workers: [] });
    await engine.register("placed");
    const start = (input: object) =>
      engine.http.post<ExecutionRecord>("/workflows/default/placed/run/async", input);
    const us = engine.startWorker("us", labels("us"));
    await us.printed(/connected/);
    const { execution_id } = (await start({ region: "eu" })).body;

    const told = await engine.cli("why", execution_id);
    expect(told.code).toBe(0);
    expect(told.stdout).toContain('us lacks label("region").eq("eu")');

    await engine.server.kill();
    engine.startServerAgain();
    const why = () =>
      engine.http.get<Why>(`/executions/${execution_id}/why`).catch(() => undefined);
    await until("the worker is back", async () => (await why())?.body.workers.connected === 1);
    expect((await why())?.body).toMatchObject({
      state: "CREATED",
      reasons: [{ code: "no_matching_worker" }],
      workers: { connected: 1, matching: 0, free: 0 },
      nearest: [{ worker: "us", failing: ['label("region").eq("eu")'] }],
    });
    // What another one can have is not held up.
    await engine.untilEnded((await start({ region: "us" })).body.execution_id);

    engine.startWorker("eu", labels("eu"));
    await engine.untilEnded(execution_id);
    expect(await engine.http.execution(execution_id)).toMatchObject({
      state: "COMPLETED",
      output: "ran in eu",
    });
  });
}

test("AFF-5 AFF-6 without the input that a term reads a start fails at once, whatever workers there are", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("placed");
  const path = "/workflows/default/placed/run";
  const { status, body } = await engine.http.post<ExecutionRecord>(`${path}/async`, {});
  expect(status).toBe(202);
  const failed = await engine.http.execution(body.execution_id);
  expect(failed).toMatchObject({
    state: "FAILED",
    generation: 0,
    error: {
      message:
        'affinity term label("region").eq(input("region")) needs input "region", which this execution does not have',
    },
  });
  expect((await engine.http.post(`${path}/sync`, {})).status).toBe(500);
});

test("WMD-3 a service that is granted lets a worker have what asks for it, and its tasks the socket; revoked, nothing more comes", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("granted");
  const sockets = JSON.stringify({ inference: "/run/inference.sock" });
  const worker = engine.startWorker("gpu", { ENGINE_WORKERS__SERVICES: sockets });
  await worker.printed(/connected/);
  const waiting = await engine.start("granted");
  expect((await engine.cli("why", waiting)).stdout).toContain('gpu lacks service("inference")');

  expect((await engine.cli("worker", "service", "grant", "gpu", "inference")).code).toBe(0);
  expect(await engine.untilEnded(waiting)).toMatchObject({
    state: "COMPLETED",
    output: "/run/inference.sock",
  });

  expect((await engine.cli("worker", "service", "revoke", "gpu", "inference")).code).toBe(0);
  const late = await engine.start("granted");
  const why = await engine.http.get<Why>(`/executions/${late}/why`);
  expect(why.body).toMatchObject({ state: "CREATED", workers: { connected: 1, matching: 0 } });
});

function labels(region: string): Record<string, string> {
  return { ENGINE_WORKERS__LABELS: JSON.stringify({ region }) };
}
