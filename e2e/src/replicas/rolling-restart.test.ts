import { setTimeout as sleep } from "node:timers/promises";
import type { WorkerRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { claimsOf } from "../faults/take-over.ts";
import { startCluster } from "../harness/cluster.ts";
import { Random } from "../harness/random.ts";
import { until } from "../harness/until.ts";
import { listExecutions, untilAllEnded } from "../kill/all-executions.ts";
import { startLoad } from "../kill/ledger-load.ts";
import { ledgerVerdict } from "../kill/ledger-verdict.ts";
import { startPayer } from "../kill/payer.ts";
import { steadyStarts } from "./steady-starts.ts";

const SEED = Number(process.env["E2E_SEED"] ?? Date.now() % 1_000_000);

test("WRK-13 I1 I4 EXE-81 servers that are restarted one after the other under load fail no start, and workers keep what they run", async () => {
  process.stderr.write(`rolling restart: E2E_SEED=${SEED}\n`);
  await using cluster = await startCluster();
  await cluster.register("ledger", "hello");
  const file = cluster.home.file("bodies.txt");
  await using payer = startPayer(cluster.http);
  await using load = startLoad(cluster.http, { random: new Random(SEED), file, payer });
  await using steady = steadyStarts(cluster.http, new Random(SEED + 1));
  const moves: number[] = [];
  const connections = async () => {
    const { body } = await cluster.http.get<{ items: WorkerRecord[] }>("/workers");
    return body.items.map(({ connected_at }) => Date.parse(connected_at ?? ""));
  };

  for (const server of cluster.servers) {
    await sleep(2_000);
    const before = await connections();
    const asked = Date.now();
    server.process.signal("SIGTERM");
    expect(await server.process.result(10_000)).toMatchObject({ code: 0 });
    await server.startAgain();
    const moved = (await connections()).filter((at, i) => at !== before[i]);
    moves.push(...moved.map((at) => at - asked));
  }
  await until("more has been started since", () => load.acknowledged.length > 30);
  await Promise.all([load.stop(), steady.stop()]);
  await untilAllEnded(cluster, 30_000);

  const { acknowledged } = load;
  const verdict = await ledgerVerdict(cluster, {
    ...{ acknowledged, sent: payer.sent, file, kills: [] },
  });
  process.stderr.write(
    `rolling restart: ${acknowledged.length + steady.answered} acknowledged, ${load.failures.length + steady.failures.length} starts failed, workers moved after ${moves} ms\n`,
  );
  expect(steady.failures).toEqual([]);
  expect(load.failures).toEqual([]);
  expect(verdict.violations).toEqual([]);
  expect(verdict.extraRuns).toBe(0);
  expect(moves.length).toBeGreaterThan(0);
  for (const { execution_id } of await listExecutions(cluster)) {
    const reasons = claimsOf(await cluster.http.log(execution_id)).map(({ reason }) => reason);
    expect(reasons).not.toContain("recover");
  }
});
