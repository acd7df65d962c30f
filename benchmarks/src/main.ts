import { writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { against } from "./against.ts";
import { auth } from "./auth.ts";
import { type BenchFlags, benchFlags, benchHelp } from "./bench-flags.ts";
import { branches } from "./branches.ts";
import { children } from "./children.ts";
import { dispatch } from "./dispatch.ts";
import { durabilityOf } from "./durability.ts";
import { echoCeiling } from "./echo-ceiling.ts";
import { startTwoProcesses, type TwoProcesses } from "./engine.ts";
import { failover } from "./failover.ts";
import { hooks } from "./hooks.ts";
import { hostile } from "./hostile.ts";
import { idle } from "./idle.ts";
import { inProcessReplay } from "./in-process-replay.ts";
import { kept } from "./kept.ts";
import { latency } from "./latency.ts";
import { localRun } from "./local-run.ts";
import { loopDelay } from "./loop-delay.ts";
import { describeMachine } from "./machine.ts";
import type { Measure, Report } from "./measure.ts";
import { oneProcess } from "./one-process.ts";
import { peers } from "./peers/peers.ts";
import { progress } from "./progress.ts";
import { register } from "./register.ts";
import { replay } from "./replay.ts";
import { resultsFile } from "./results-file.ts";
import { resume } from "./resume.ts";
import { routing } from "./routing.ts";
import { services } from "./services.ts";
import { sleepHerd } from "./sleep-herd.ts";
import { storeCeiling } from "./store-ceiling.ts";
import { sustained } from "./sustained.ts";
import { renderTable } from "./table.ts";
import { throughput } from "./throughput.ts";
import { sleepingHerd, unmatchedHerd } from "./waiting-herd.ts";

const MEASURES: readonly Measure[] = [
  echoCeiling,
  storeCeiling,
  localRun,
  inProcessReplay,
  latency,
  dispatch,
  throughput,
  sustained,
  loopDelay,
  register,
  replay,
  resume,
  branches,
  children,
  failover,
  progress,
  idle,
  auth,
  services,
  sleepHerd,
  sleepingHerd,
  unmatchedHerd,
  oneProcess,
  kept,
  routing,
  hooks,
  peers,
  hostile,
  against,
];
/** Far above what a run takes: only a hang reaches it. */
const TIME_LIMIT_MS = 60 * 60_000;

const { quick, json, measures, setup, stores, against: other } = flagsOrExit();

const watchdog = setTimeout(() => {
  console.error(`not done after ${TIME_LIMIT_MS / 60_000} minutes; giving up`);
  process.exit(1);
}, TIME_LIMIT_MS);

const conditions = {
  started_at: new Date().toISOString(),
  machine: describeMachine(),
  store: setup.store,
  durability: durabilityOf(setup.store),
  runner: setup.runner,
  profile: quick ? "quick" : "full",
};
const reports: Record<string, Report> = {};
const failures: Record<string, string> = {};
let engine: Promise<TwoProcesses> | undefined;

if (!json) console.log(headline());
for (const measure of measures) {
  try {
    const report = await measure.run({
      quick,
      setup,
      stores,
      against: other,
      engine: () => {
        engine ??= startTwoProcesses(setup);
        return engine;
      },
      tell: (line) => console.error(line),
    });
    reports[measure.name] = report;
    if (!json) for (const table of report.tables) console.log(`\n${renderTable(table)}`);
  } catch (error) {
    failures[measure.name] = error instanceof Error ? error.message : String(error);
    console.error(`\n${measure.name} FAILED: ${failures[measure.name]}`);
  }
}
await engine?.then(
  (started) => started.stop(),
  () => {}, // Every measurement that needed it has said so.
);
clearTimeout(watchdog);

const result = JSON.stringify({ ...conditions, failures, reports }, null, 1);
const file = await resultsFile(conditions.started_at);
await writeFile(file, result);
if (json) console.log(result);
else console.log(`\nAll samples: ${relative(process.cwd(), file)}`);
if (Object.keys(failures).length > 0) process.exitCode = 1;

function flagsOrExit(): BenchFlags {
  try {
    const flags = benchFlags(process.argv.slice(2), MEASURES);
    if (!flags.help) return flags;
    console.log(benchHelp(MEASURES));
    process.exit(0);
  } catch (error) {
    console.error((error as Error).message);
    console.error("npm run bench -- --help prints what there is");
    process.exit(2);
  }
}

function headline(): string {
  const { machine, store, durability, runner, profile } = conditions;
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.os}, Node ${machine.node}`,
    `${store}, ${durability}, runner ${runner}, ${profile} run; p50 is the median`,
  ].join("\n");
}
