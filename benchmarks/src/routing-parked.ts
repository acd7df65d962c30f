import { chainsPerSecond } from "./chains-per-second.ts";
import { type Cleanup, stopAll } from "./cleanup.ts";
import { untilBodies } from "./dispatch.ts";
import type { TwoProcesses } from "./engine.ts";
import type { Bench, Report } from "./measure.ts";
import { ParkedJobs } from "./parked-jobs.ts";
import { startRoutingEngine } from "./routing-engine.ts";
import { type ParkedSide, parkedReport } from "./routing-parked-report.ts";
import { type Memory, REPORTS_MEMORY, ServerMemory } from "./server-memory.ts";
import { median } from "./stats.ts";
import { count } from "./table.ts";

const PARKED = { full: 100_000, quick: 1_000 };
/** Parked on the other side when a write of metadata is compared. */
const FEW = 100;
/** Parked before memory is read for the first time: the server has grown to its working size. */
const FIRST_PART = 1 / 10;
const ROUNDS = { full: 5, quick: 2 };
const DISPATCH_BLOCK = { full: 60, quick: 20 };
/** Writes of metadata of one side in one round. */
const WRITES = { full: 6, quick: 10 };
const TASKS = 20;
const CONCURRENCY = [16, 64];
const LOAD_MS = { full: 3_000, quick: 500 };
const WARM_UP_MS = { full: 6_000, quick: 500 };

/**
 * Executions that wait for a worker with an attribute of their own: what they cost those that anybody
 * may have, how soon the right one starts once a worker has the attribute, and what the server holds of
 * each. Two engines, one with them and one without, asked by turns.
 */
export async function besideParked(bench: Bench): Promise<Report> {
  const profile = bench.quick ? "quick" : "full";
  const parked = PARKED[profile];
  const cleanup: Cleanup = [];
  const start = async (name: string): Promise<ParkedSide & { readonly engine: TwoProcesses }> => {
    const engine = await startRoutingEngine(bench, cleanup, { nodeArgs: REPORTS_MEMORY });
    // Else what is parked would warm up the one and not the other.
    await untilBodies(engine.client, DISPATCH_BLOCK[profile]);
    for (const concurrency of CONCURRENCY) {
      await perSecond(engine, concurrency, WARM_UP_MS[profile]);
    }
    const jobs = new ParkedJobs(engine.client);
    const writes = { fromRequest: [], fromAnswer: [], p50FromRequest: [], p50FromAnswer: [] };
    const loads = CONCURRENCY.map((at) => ({ concurrency: at, perSecond: [] }));
    return { name, engine, jobs, p50: [], taken: [], loads, writes };
  };
  try {
    const none = await start("none parked");
    const crowd = await start(`${count(parked)} parked`);
    const memory = await park(bench, crowd, parked);
    const turns = (round: number) => (round % 2 ? [crowd, none] : [none, crowd]);
    for (let round = 0; round < ROUNDS[profile]; round++) {
      bench.tell(`beside ${count(parked)} parked, round ${round + 1}, by turns`);
      for (const side of turns(round)) await dispatchOf(side, DISPATCH_BLOCK[profile]);
      for (const [i, concurrency] of CONCURRENCY.entries()) {
        for (const { engine, loads } of turns(round)) {
          loads[i]?.perSecond.push(await perSecond(engine, concurrency, LOAD_MS[profile]));
        }
      }
    }
    await crowd.jobs.gateParked();

    await none.jobs.park(FEW, () => {});
    for (const { jobs } of [none, crowd]) await jobs.start();
    for (let round = 0; round < ROUNDS[profile]; round++) {
      bench.tell(`writes of metadata, round ${round + 1}, by turns`);
      for (const { jobs, writes } of turns(round)) {
        const started = [];
        for (let i = 0; i < WRITES[profile]; i++) started.push(await jobs.start());
        writes.p50FromRequest.push(median(started.map(({ fromRequest }) => fromRequest)));
        writes.p50FromAnswer.push(median(started.map(({ fromAnswer }) => fromAnswer)));
        writes.fromRequest.push(...started.map(({ fromRequest }) => fromRequest));
        writes.fromAnswer.push(...started.map(({ fromAnswer }) => fromAnswer));
      }
    }
    for (const { jobs } of [none, crowd]) await jobs.gateParked();
    return parkedReport({ none, crowd, parked, few: FEW, tasks: TASKS, memory });
  } finally {
    await stopAll(cleanup);
  }
}

/** Parks so many, and says what the server holds more for each. */
async function park(
  bench: Bench,
  { engine, jobs }: { readonly engine: TwoProcesses; readonly jobs: ParkedJobs },
  parked: number,
): Promise<Memory> {
  const memory = new ServerMemory(engine.server);
  const tell = (now: number) => bench.tell(`parked ${count(now)} of ${count(parked)} …`);
  const first = parked * FIRST_PART;
  await jobs.park(first, tell);
  const before = await memory.read();
  await jobs.park(parked - first, tell);
  const after = await memory.read();
  return {
    held: (after.held - before.held) / (parked - first),
    resident: (after.resident - before.resident) / (parked - first),
  };
}

async function dispatchOf(
  { engine, p50, taken }: ParkedSide & { readonly engine: TwoProcesses },
  block: number,
): Promise<void> {
  // The first after a rest is not like the others.
  await engine.client.run("stamp", null);
  const times = await untilBodies(engine.client, block);
  p50.push(median(times));
  taken.push(...times);
}

/** Tasks a second. */
async function perSecond(
  { client }: TwoProcesses,
  concurrency: number,
  milliseconds: number,
): Promise<number> {
  const load = { tasks: TASKS, concurrency, milliseconds };
  return (await chainsPerSecond(client, load)).perSecond * TASKS;
}
