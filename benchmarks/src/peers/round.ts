import { gate } from "../gate.ts";
import { sharedClock } from "../shared-clock.ts";
import { median, percentile } from "../stats.ts";
import { passed } from "../until.ts";
import type { Contestant, Load, Queue, RunningContestant } from "./contestant.ts";

/** How much of everything. Warm-up first: figures are those of a system that has been up a while. */
export interface Amounts {
  readonly warmUpTasks: number;
  readonly short: number;
  readonly long: number;
  readonly starts: number;
  readonly warmUpMs: number;
  readonly loadMs: number;
}

export const FULL: Amounts = {
  warmUpTasks: 3_000,
  short: 300,
  long: 40,
  starts: 200,
  warmUpMs: 1_000,
  loadMs: 5_000,
};
export const QUICK: Amounts = {
  warmUpTasks: 120,
  short: 20,
  long: 3,
  starts: 20,
  warmUpMs: 200,
  loadMs: 600,
};

/** Apart so far that none waits for the one before it, on any contestant. */
const ENQUEUE_EVERY_MS = 20;
const CONCURRENCY = 200;
const SETTLE_LIMIT_MS = 30_000;

export interface Round {
  readonly figures: Readonly<Record<string, number>>;
  readonly samples: Readonly<Record<string, readonly number[]>>;
  readonly about: RunningContestant["about"];
}

/** One contestant, fresh, through everything it takes part in. */
export async function runRound(contestant: Contestant, amounts: Amounts): Promise<Round> {
  const running = await contestant.start();
  try {
    const before = await running.completed();
    const loaded = running.load ? await runLoads(running.load, amounts) : NOTHING;
    const started = running.queue ? await runStarts(running.queue, amounts) : NOTHING;
    await gateCompleted(contestant.label, running, before + loaded.done + started.done);
    return {
      figures: { ...loaded.figures, ...started.figures },
      samples: { ...loaded.samples, ...started.samples },
      about: running.about,
    };
  } finally {
    await running.stop();
  }
}

interface Taken extends Pick<Round, "figures" | "samples"> {
  /** How many workflows or jobs it took. */
  readonly done: number;
}

const NOTHING: Taken = { done: 0, figures: {}, samples: {} };

async function runLoads(
  load: NonNullable<RunningContestant["load"]>,
  amounts: Amounts,
): Promise<Taken> {
  let done = 0;
  const samples: Record<string, readonly number[]> = {};
  const figures: Record<string, number> = {};
  const run = async (tasks: number, concurrency: number, until: Load["until"]) => {
    const loaded = await load({ tasks, concurrency, until });
    done += loaded.times.length;
    return loaded;
  };
  for (const [tasks, runs] of [
    [3, amounts.short],
    [100, amounts.long],
  ] as const) {
    await run(tasks, 1, { runs: Math.ceil(amounts.warmUpTasks / (tasks + 1)) });
    const { times } = await run(tasks, 1, { runs });
    samples[`${tasks}_tasks_ms`] = times;
    figures[`${tasks}_tasks_p50_ms`] = median(times);
    figures[`${tasks}_tasks_p99_ms`] = percentile(times, 99);
  }
  await run(3, CONCURRENCY, { milliseconds: amounts.warmUpMs });
  const { times, elapsed } = await run(3, CONCURRENCY, { milliseconds: amounts.loadMs });
  figures["workflows_per_second_at_200"] = times.length / (elapsed / 1000);
  return { done, figures, samples };
}

async function runStarts(queue: Queue, amounts: Amounts): Promise<Taken> {
  const warmUp = await startLatencies(queue, Math.ceil(amounts.starts / 4));
  const times = await startLatencies(queue, amounts.starts);
  return {
    done: warmUp.length + times.length,
    figures: { start_p50_ms: median(times), start_p99_ms: percentile(times, 99) },
    samples: { start_ms: times },
  };
}

/** From just before the request that enqueues to the first line of the body. */
async function startLatencies(queue: Queue, count: number): Promise<number[]> {
  const asked = new Map<string, number>();
  const begin = performance.now();
  for (let i = 0; i < count; i++) {
    await passed(begin + i * ENQUEUE_EVERY_MS - performance.now());
    const at = sharedClock();
    asked.set(await queue.enqueue(), at);
  }
  gate(asked.size === count, () => `${count} enqueued, ${asked.size} ids answered`);
  const ids = [...asked.keys()];
  const deadline = performance.now() + SETTLE_LIMIT_MS;
  for (;;) {
    const started = await queue.startedAt(ids);
    const times = ids.flatMap((id) =>
      started.has(id) ? [(started.get(id) ?? 0) - (asked.get(id) ?? 0)] : [],
    );
    if (times.length === count) {
      gate(
        times.every((time) => time > 0),
        () => `something started before it was enqueued`,
      );
      return times;
    }
    gate(performance.now() < deadline, () => `${times.length} of ${count} started in 30 s`);
    await passed(100);
  }
}

/** By its own books, so that nothing counts that was only answered. */
async function gateCompleted(label: string, running: RunningContestant, expected: number) {
  const deadline = performance.now() + SETTLE_LIMIT_MS;
  for (;;) {
    const completed = await running.completed();
    if (completed === expected) return;
    gate(
      performance.now() < deadline && completed < expected,
      () => `${label}: ${completed} of ${expected} completed`,
    );
    await passed(100);
  }
}
