import { setTimeout as sleep } from "node:timers/promises";
import { type ExecutionSummary, isOutcome, isTerminal } from "@engine/contract";
import { expect, test } from "vitest";
import type { CliProcess } from "../harness/cli-process.ts";
import { type Engine, startEngine } from "../harness/engine.ts";
import { Random } from "../harness/random.ts";
import { until } from "../harness/until.ts";
import { readBodyRuns } from "./body-lines.ts";
import { startLoad } from "./ledger-load.ts";
import { bodyViolations, callsOf, type Kill, logViolations, wasLost } from "./violations.ts";

/** One kill in three hits the server, the others a worker. */
const KILLS = Number(process.env["E2E_KILLS"] ?? 30);
const SEED = Number(process.env["E2E_SEED"] ?? Date.now() % 1_000_000);
const WORKERS = ["a", "b"];

test("I1 I2 I3 I4 I5 EXE-20 kill -9 of workers and server at random moments loses no start, no recorded outcome and no event", {
  timeout: 120_000 + KILLS * 4_000,
}, async () => {
  process.stderr.write(`kill test: E2E_SEED=${SEED} E2E_KILLS=${KILLS}\n`);
  const random = new Random(SEED);
  await using engine = await startEngine({ workers: [] });
  await engine.register("ledger");
  const file = engine.home.file("bodies.txt");
  await using load = startLoad(engine.http, new Random(SEED + 1), file);
  const kills = await killAtRandom(engine, random);
  const quietSince = performance.now();
  await load.stop();
  await untilAllEnded(engine);
  const drain_ms = Math.round(performance.now() - quietSince);

  const violations: string[] = [];
  for (const { execution_id, expected } of load.acknowledged) {
    const { state, output } = await engine.http.execution(execution_id);
    if (state !== "COMPLETED" || output !== expected) {
      violations.push(`${execution_id}: ${state}, output ${output}, expected ${expected}`);
    }
  }

  const executions = await listExecutions(engine);
  const bodies = await readBodyRuns(file);
  const known = new Set(executions.map(({ execution_id }) => execution_id));
  for (const id of bodies.keys()) if (!known.has(id)) violations.push(`${id} ran, nobody knows it`);
  const found = { bodies: 0, extraRuns: 0, openAtKills: 0 };
  for (const { execution_id, state } of executions) {
    if (state !== "COMPLETED") violations.push(`${execution_id} is ${state}`);
    const log = await engine.http.log(execution_id);
    violations.push(...logViolations(log).map((wrong) => `${execution_id}: ${wrong}`));
    const calls = callsOf(log);
    for (const [call, runs] of bodies.get(execution_id) ?? []) {
      const outcome = calls.get(call)?.find((event) => isOutcome(event.type));
      const wrong = bodyViolations(runs, outcome, kills);
      violations.push(...wrong.map((what) => `${execution_id} ${call}: ${what}`));
      found.bodies += runs.length;
      found.extraRuns += runs.length - 1;
      if (outcome) found.openAtKills += kills.filter((k) => wasLost(k, runs, outcome)).length;
    }
    const ran = bodies.get(execution_id)?.size;
    if (ran !== 6) violations.push(`${execution_id}: ${ran} of 6 bodies ran`);
  }
  process.stderr.write(
    `${load.acknowledged.length} acknowledged of ${executions.length} executions, ${JSON.stringify({ ...found, drain_ms })}\n`,
  );

  expect(violations).toEqual([]);
  expect(found.extraRuns).toBeLessThanOrEqual(found.openAtKills);
  // A run that never hit anything would prove nothing.
  expect(load.acknowledged.length).toBeGreaterThan(KILLS * 3);
  expect(found.openAtKills).toBeGreaterThan(0);
});

async function killAtRandom(engine: Engine, random: Random): Promise<Kill[]> {
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

async function untilAllEnded(engine: Engine): Promise<void> {
  const unfinished = async () => {
    return (await listExecutions(engine)).filter(({ state }) => !isTerminal(state));
  };
  try {
    await until("every execution has ended", async () => (await unfinished()).length === 0, 60_000);
  } catch (error) {
    const left = (await unfinished()).map(
      ({ execution_id, state, worker, generation, updated_at }) =>
        [execution_id, state, worker, generation, updated_at].join(" "),
    );
    const report = `still open:\n${left.join("\n")}\n${engine.processReport()}`;
    throw new Error(report, { cause: error });
  }
}

async function listExecutions(engine: Engine): Promise<ExecutionSummary[]> {
  const found: ExecutionSummary[] = [];
  for (;;) {
    const { body } = await engine.http.get<{ items: ExecutionSummary[]; total: number }>(
      `/executions?order=created_asc&limit=200&offset=${found.length}`,
    );
    found.push(...body.items);
    if (found.length >= body.total) return found;
  }
}
