import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { CliProcess } from "../harness/cli-process.ts";
import { type Engine, startEngine } from "../harness/engine.ts";
import type { Random } from "../harness/random.ts";
import { until } from "../harness/until.ts";
import { type IsWorthIt, underFire } from "./under-fire.ts";
import type { Kill } from "./violations.ts";

/** One kill in three hits the server, the others a worker. */
const KILLS = Number(process.env["E2E_KILLS"] ?? 30);
const SEED = Number(process.env["E2E_SEED"] ?? Date.now() % 1_000_000);
const WORKERS = ["a", "b"];

test("I1 I2 I3 I4 I5 I7 EXE-20 EXE-50 EXE-53 EXE-55 kill -9 of workers and server at random moments loses no start, no recorded outcome, no event, no signal and no child", {
  timeout: 120_000 + KILLS * 4_000,
}, async () => {
  await using engine = await startEngine({ workers: [] });
  const strike = (random: Random, isWorthIt: IsWorthIt) => killAtRandom(engine, random, isWorthIt);
  const found = await underFire(engine, { seed: SEED, strike, kills: KILLS, stuckMs: 60_000 });
  expect(found.children).toBeGreaterThan(KILLS / 2);
  expect(found.signals).toBeGreaterThan(KILLS / 2);
});

async function killAtRandom(engine: Engine, random: Random, isWorthIt: IsWorthIt): Promise<Kill[]> {
  const workers = new Map(WORKERS.map((name) => [name, engine.startWorker(name)]));
  const targets = Array.from({ length: KILLS }, (_, i) => (i % 3 === 0 ? "server" : "worker"));
  const kills: Kill[] = [];
  const end = async (target: Kill["target"], victim: CliProcess) => {
    if (victim.ended) throw new Error(`a ${target} ended by itself: ${victim.report()}`);
    const from = Date.now();
    await victim.kill();
    kills.push({ target, pid: victim.pid, from, to: Date.now() });
  };

  for (const target of random.shuffled(targets as Kill["target"][])) {
    await isWorthIt(kills.length);
    await sleep(random.between(400, 2_600));
    if (target === "server") {
      await end("server", engine.server);
      engine.startServerAgain();
      continue;
    }
    const [name, worker] = [...workers][random.between(0, WORKERS.length - 1)] ?? [];
    if (!name || !worker) throw new Error("no worker to kill");
    await end("worker", worker);
    workers.set(name, engine.startWorker(name));
  }
  await until("the server answers", () => engine.http.isHealthy());
  return kills;
}
