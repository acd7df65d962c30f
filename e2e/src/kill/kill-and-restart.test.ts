import { setTimeout as sleep } from "node:timers/promises";
import { type ExecutionSummary, isOutcome, isTerminal } from "@engine/contract";
import { expect, test } from "vitest";
import type { CliProcess } from "../harness/cli-process.ts";
import { type Engine, startEngine } from "../harness/engine.ts";
import { Random } from "../harness/random.ts";
import { until } from "../harness/until.ts";
import { readBodyRuns } from "./body-lines.ts";
import { startLoad } from "./ledger-load.ts";
import { startPayer } from "./payer.ts";
import { bodyViolations, callsOf, type Kill, logViolations, wasLost } from "./violations.ts";
import { familyViolations, outcomeViolations, waitViolations } from "./wait-violations.ts";

/** One kill in three hits the server, the others a worker. */
const KILLS = Number(process.env["E2E_KILLS"] ?? 30);
const SEED = Number(process.env["E2E_SEED"] ?? Date.now() % 1_000_000);
const WORKERS = ["a", "b"];
/** Bodies that an execution of each workflow runs; those of its children are their own. */
const BODIES = new Map([
  ["chain", 6],
  ["fan", 6],
  ["errand", 2],
]);

test("I1 I2 I3 I4 I5 I7 EXE-20 EXE-50 EXE-53 EXE-55 kill -9 of workers and server at random moments loses no start, no recorded outcome, no event, no signal and no child", {
  timeout: 120_000 + KILLS * 4_000,
}, async () => {
  process.stderr.write(`kill test: E2E_SEED=${SEED} E2E_KILLS=${KILLS}\n`);
  const random = new Random(SEED);
  await using engine = await startEngine({ workers: [] });
  await engine.register("ledger");
  const file = engine.home.file("bodies.txt");
  await using payer = startPayer(engine.http);
  await using load = startLoad(engine.http, { random: new Random(SEED + 1), file, payer });
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
  violations.push(...familyViolations(executions));
  const found = { bodies: 0, extraRuns: 0, openAtKills: 0, children: 0, signals: 0 };
  for (const { execution_id, state, workflow, parent_id } of executions) {
    if (state !== "COMPLETED") violations.push(`${execution_id} is ${state}`);
    const log = await engine.http.log(execution_id);
    const sent = payer.sent.get(execution_id);
    const wrongs = [...logViolations(log), ...waitViolations(log, sent)];
    violations.push(...wrongs.map((wrong) => `${execution_id}: ${wrong}`));
    found.signals += sent?.acknowledged ?? 0;
    if (parent_id !== null) {
      found.children++;
      const { output } = await engine.http.execution(execution_id);
      const wrong = outcomeViolations(await engine.http.log(parent_id), output);
      violations.push(...wrong.map((what) => `${parent_id}: ${what}`));
    }
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
    const expected = BODIES.get(workflow);
    if (ran !== expected) violations.push(`${execution_id}: ${ran} of ${expected} bodies ran`);
  }
  process.stderr.write(
    `${load.acknowledged.length} acknowledged of ${executions.length} executions, ${JSON.stringify({ ...found, drain_ms })}\n`,
  );

  expect(violations).toEqual([]);
  expect(found.extraRuns).toBeLessThanOrEqual(found.openAtKills);
  // A run that never hit anything would prove nothing.
  expect(load.acknowledged.length).toBeGreaterThan(KILLS * 3);
  expect(found.openAtKills).toBeGreaterThan(0);
  expect(found.children).toBeGreaterThan(KILLS / 2);
  expect(found.signals).toBeGreaterThan(KILLS / 2);
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
    const left = await unfinished();
    const reports = await Promise.all(left.map((one) => story(engine, one)));
    const report = `still open:\n${reports.join("\n")}\n${engine.processReport()}`;
    throw new Error(report, { cause: error });
  }
}

/** Where an execution stands and how it came there, for the message of a failed test. */
async function story(engine: Engine, one: ExecutionSummary): Promise<string> {
  const { execution_id, workflow, state, worker, generation, waiting } = one;
  const head = [execution_id, workflow, state, worker, generation, JSON.stringify(waiting)];
  const log = await engine.http.log(execution_id);
  const events = log.map(({ seq, type, source_id, recorded_at, value, meta }) =>
    [seq, recorded_at, type, source_id, JSON.stringify(value), JSON.stringify(meta)].join(" "),
  );
  return [head.join(" "), ...events].join("\n  ");
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
