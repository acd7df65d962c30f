import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { CliProcess } from "../harness/cli-process.ts";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import type { Random } from "../harness/random.ts";
import { type IsWorthIt, underFire } from "./under-fire.ts";
import type { Kill } from "./violations.ts";

const KILLS = Number(process.env["E2E_KILLS"] ?? 12);
const SEED = Number(process.env["E2E_SEED"] ?? Date.now() % 1_000_000);
const WORKERS = ["a", "b"];
/** How long after the last fault anything may still be open. */
const STUCK_MS = 20_000;

test("I1 I2 I3 I4 I5 I17 LIV-3 kill -9 of one of two servers or workers, and restarts of their PostgreSQL, lose no acknowledged start or result, and nothing is stuck 20 s later", {
  timeout: 120_000 + KILLS * 6_000,
}, async () => {
  await using cluster = await startCluster({ workers: [] });
  const strike = (random: Random, isWorthIt: IsWorthIt) =>
    breakAtRandom(cluster, random, isWorthIt);
  const found = await underFire(cluster, { seed: SEED, strike, kills: KILLS, stuckMs: STUCK_MS });
  expect(found.children).toBeGreaterThan(0);
  expect(found.signals).toBeGreaterThan(0);
});

/** Of four faults two hit a worker, one a server and one the database. */
const FAULTS = ["worker", "server", "worker", "database"] as const;

async function breakAtRandom(
  cluster: Cluster,
  random: Random,
  isWorthIt: IsWorthIt,
): Promise<Kill[]> {
  const workers = new Map(WORKERS.map((name) => [name, cluster.startWorker(name)]));
  await Promise.all([...workers.values()].map((worker) => worker.printed(/connected/)));
  const targets = Array.from({ length: KILLS }, (_, i) => FAULTS[i % FAULTS.length] ?? "worker");
  const kills: Kill[] = [];
  const end = async (target: Kill["target"], victim: CliProcess) => {
    if (victim.ended) throw new Error(`a ${target} ended by itself: ${victim.report()}`);
    const from = Date.now();
    await victim.kill();
    kills.push({ target, pid: victim.pid, from, to: Date.now() });
  };

  // One server lives at any time, and the next fault does not wait for the other one.
  let restarted = Promise.resolve();
  for (const [done, target] of random.shuffled(targets).entries()) {
    await isWorthIt(done);
    await sleep(random.between(400, 2_000));
    const awayMs = random.between(0, 1_500);
    if (target === "worker") {
      const [name, worker] = [...workers][random.between(0, WORKERS.length - 1)] ?? [];
      if (!name || !worker) throw new Error("no worker to kill");
      await end("worker", worker);
      workers.set(name, cluster.startWorker(name));
      continue;
    }
    // A server that finds no database when it starts says so and ends: nobody restarts it here.
    await restarted;
    if (target === "database") {
      await cluster.postgres.crash();
      await sleep(awayMs);
      await cluster.postgres.start();
    } else {
      const server = cluster.servers[random.between(0, cluster.servers.length - 1)];
      if (!server) throw new Error("no server to kill");
      await end("server", server.process);
      restarted = sleep(awayMs).then(() => server.startAgain());
    }
  }
  await restarted;
  return kills;
}
