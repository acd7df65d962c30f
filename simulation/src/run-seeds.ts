import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { excuseReport } from "./excuse-report.ts";
import { failureReport } from "./failure-report.ts";
import type { ExcuseName } from "./invariants/excuses.ts";
import { loadPrograms } from "./load-programs.ts";
import { planOf } from "./plan.ts";
import { simulate } from "./simulate.ts";
import { openSource, type StoreKind } from "./store/open-source.ts";
import { verdictOn } from "./verdict.ts";

/** Failures that are shrunk and told in full; the others are named. */
const MOST_TOLD = 3;
const LINE_EVERY_MS = 5_000;

interface SeedsOptions {
  readonly from: number;
  readonly count: number;
  readonly jobs: number;
  readonly store: StoreKind;
  readonly plant: string | undefined;
  /** Prints a line for each seed, for the process that gave it its part. */
  readonly isPart: boolean;
}

/** Of one seed: the judges that found something, and what was let pass how often. */
interface Outcome {
  readonly seed: number;
  readonly broken: readonly string[];
  readonly excused: readonly (readonly [ExcuseName, number])[];
}

/** Runs one seed after another and tells how it goes. Exit code 1 when something was broken. */
export async function runSeeds(options: SeedsOptions): Promise<number> {
  const { from, count, jobs, isPart } = options;
  const began = performance.now();
  const outcomes: Outcome[] = [];
  const failed: Outcome[] = [];
  let lastLine = began;
  const take = (outcome: Outcome) => {
    outcomes.push(outcome);
    if (isPart) process.stdout.write(`${JSON.stringify(outcome)}\n`);
    if (outcome.broken.length > 0) {
      failed.push(outcome);
      if (!isPart)
        process.stdout.write(`seed ${outcome.seed} broke ${outcome.broken.join(", ")}\n`);
    }
    if (!isPart && performance.now() - lastLine > LINE_EVERY_MS) {
      lastLine = performance.now();
      process.stdout.write(`${summary()}\n`);
    }
  };
  const summary = () => {
    const rate = (outcomes.length / (performance.now() - began)) * 1000;
    return `${outcomes.length} of ${count} seeds, ${rate.toFixed(1)} a second, ${failed.length} failed`;
  };

  if (jobs > 1) await Promise.all(partsOf(options).map((part) => runPart(part, take)));
  else await runHere(options, take);
  if (isPart) return failed.length > 0 ? 1 : 0;

  process.stdout.write(`${summary()}\n`);
  await tell(failed, options);
  process.stdout.write(`\n${excuseReport(outcomes.map(({ excused }) => excused))}`);
  process.stdout.write(`\nSeeds ${from} to ${from + count - 1}: ${summary()}\n`);
  return failed.length > 0 ? 1 : 0;
}

/** The first failures as small as they can be made, and the numbers of the others. */
async function tell(failed: readonly Outcome[], { store, plant }: SeedsOptions): Promise<void> {
  if (failed.length === 0) return;
  const programs = await loadPrograms(2);
  const source = await openSource(store);
  for (const { seed } of failed.slice(0, MOST_TOLD)) {
    process.stdout.write(`\nSeed ${seed}, with as little as still breaks it:\n\n`);
    const { text } = await failureReport(planOf(seed), { programs, source, plant, isWhole: false });
    process.stdout.write(text);
  }
  await source.close();
  const others = failed.slice(MOST_TOLD).map(({ seed }) => seed);
  if (others.length > 0) process.stdout.write(`\nAlso failed: ${others.join(" ")}\n`);
}

async function runHere(
  { from, count, store, plant }: SeedsOptions,
  take: (outcome: Outcome) => void,
): Promise<void> {
  const programs = await loadPrograms(2);
  const source = await openSource(store);
  for (let seed = from; seed < from + count; seed++) {
    const run = await simulate(planOf(seed), { programs, source, plant });
    const { findings, excused } = await verdictOn(run);
    take({ seed, broken: [...new Set(findings.map(({ judge }) => judge))], excused: [...excused] });
  }
  await source.close();
}

function partsOf(options: SeedsOptions): SeedsOptions[] {
  const { from, count, jobs } = options;
  return Array.from({ length: jobs }, (_, i) => {
    const [first, next] = [i, i + 1].map((part) => Math.floor((count * part) / jobs));
    return { ...options, from: from + (first ?? 0), count: (next ?? 0) - (first ?? 0) };
  });
}

/** In a process of its own, which prints one line for each seed. */
async function runPart(
  { from, count, store, plant }: SeedsOptions,
  take: (outcome: Outcome) => void,
): Promise<void> {
  const main = fileURLToPath(new URL("./main.ts", import.meta.url));
  const args = ["--part", "--from", `${from}`, "--seeds", `${count}`, "--store", store];
  const planted = plant === undefined ? [] : ["--plant", plant];
  const child = spawn(process.execPath, [...process.execArgv, main, ...args, ...planted], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let last = from - 1;
  for await (const line of createInterface({ input: child.stdout })) {
    const outcome = JSON.parse(line) as Outcome;
    last = outcome.seed;
    take(outcome);
  }
  if (last < from + count - 1)
    throw new Error(`a process that ran seeds ended at seed ${last + 1}`);
}
