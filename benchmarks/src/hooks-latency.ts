import { type Cleanup, stopAll } from "./cleanup.ts";
import { untilBodies } from "./dispatch.ts";
import { makeHook, outputsAfter, startHooksEngine } from "./hooks-engine.ts";
import type { HttpClient } from "./http-client.ts";
import type { Bench, Report } from "./measure.ts";
import { ratios } from "./routing-engine.ts";
import { median, percentile } from "./stats.ts";
import { ms } from "./table.ts";
import { passed } from "./until.ts";

const ROUNDS = { full: 5, quick: 2 };
/** Of a turn, one after another. */
const BLOCK = { full: 100, quick: 10 };
/** Between two of those: nothing of the last is under way. */
const REST_MS = 20;
const PER_SECOND = 50;
const LOAD_MS = { full: 6_000, quick: 1_000 };
const WARM_UP = { full: 400, quick: 20 };
const LIMIT_MS = 60_000;
const HEALTHY = { name: "healthy", selectors: ["execution:bench:fires:completed"] };

/** From the end of a body whose completion fires a hook to the first line of what the hook starts. */
export async function fromEventToBody(bench: Bench): Promise<Report> {
  const profile = bench.quick ? "quick" : "full";
  const cleanup: Cleanup = [];
  try {
    const { client } = await startHooksEngine(bench, cleanup);
    await makeHook(client, HEALTHY);
    await fired(client, WARM_UP[profile], () => oneByOne(client, WARM_UP[profile]));
    const all = { dispatch: [] as number[], idle: [] as number[], load: [] as number[] };
    const p50 = { dispatch: [] as number[], idle: [] as number[] };
    for (let round = 0; round < ROUNDS[profile]; round++) {
      bench.tell(`from an event to its target, round ${round + 1}`);
      const dispatch = await untilBodies(client, BLOCK[profile]);
      const idle = await fired(client, BLOCK[profile], () => oneByOne(client, BLOCK[profile]));
      const events = (PER_SECOND * LOAD_MS[profile]) / 1000;
      const load = await fired(client, events, () => evenly(client, events));
      all.dispatch.push(...dispatch);
      all.idle.push(...idle);
      all.load.push(...load);
      p50.dispatch.push(median(dispatch));
      p50.idle.push(median(idle));
    }
    const ratio = median(ratios(p50.idle, p50.dispatch));
    return {
      tables: [
        {
          title:
            "From the end of the body whose completion fires a hook to the body that it starts",
          columns: ["", "p50", "p95", "p99", "samples"],
          rows: [
            row("dispatch: from a request to the body's first line", all.dispatch),
            row("by a hook, one at a time", all.idle),
            row(`by a hook, ${PER_SECOND} events/s`, all.load),
            ["by a hook ÷ dispatch, p50", ratio.toFixed(2), "", "", ""],
          ],
        },
      ],
      figures: {
        "event to target ÷ dispatch, p50": ratio,
        "event to target p50 ms": median(all.idle),
        "event to target p99 ms": percentile(all.idle, 99),
        [`event to target p50 ms at ${PER_SECOND} events/s`]: median(all.load),
        [`event to target p99 ms at ${PER_SECOND} events/s`]: percentile(all.load, 99),
      },
      samples: { "dispatch ms": all.dispatch, "idle ms": all.idle, "load ms": all.load },
    };
  } finally {
    await stopAll(cleanup);
  }
}

/** A hook whose every start works, alone and beside one none of whose starts does. */
export async function besideOneThatFails(bench: Bench): Promise<Report> {
  const profile = bench.quick ? "quick" : "full";
  const cleanup: Cleanup = [];
  try {
    const { client } = await startHooksEngine(bench, cleanup);
    await makeHook(client, HEALTHY);
    const failing = { ...HEALTHY, name: "failing", workflow: "bench/full", max_attempts: 100 };
    await makeHook(client, { ...failing });
    await client.put("/hooks/failing", { enabled: false });
    await client.start("full", null);
    await fired(client, WARM_UP[profile], () => oneByOne(client, WARM_UP[profile]));
    const events = (PER_SECOND * LOAD_MS[profile]) / 1000;
    const alone: number[] = [];
    const beside: number[] = [];
    const p99 = { alone: [] as number[], beside: [] as number[] };
    for (let round = 0; round < ROUNDS[profile]; round++) {
      bench.tell(`beside a hook that fails, round ${round + 1}, by turns`);
      for (const isBeside of round % 2 ? [true, false] : [false, true]) {
        await client.put("/hooks/failing", { enabled: isBeside });
        // What the other has left is given up at once.
        await passed(1_000);
        const taken = await fired(client, events, () => evenly(client, events));
        (isBeside ? beside : alone).push(...taken);
        p99[isBeside ? "beside" : "alone"].push(percentile(taken, 99));
      }
    }
    const ratio = median(ratios(p99.beside, p99.alone));
    return {
      tables: [
        {
          title: `A hook that works, ${PER_SECOND} events/s, from event to body, by turns on one engine`,
          columns: ["", "p50", "p95", "p99", "samples"],
          rows: [
            row("alone", alone),
            row("beside a hook on the same events whose every start fails", beside),
            ["beside ÷ alone, p99", "", "", ratio.toFixed(2), ""],
          ],
        },
      ],
      figures: { "beside a failing hook ÷ alone, p99": ratio },
      samples: { "alone ms": alone, "beside a failing hook ms": beside },
    };
  } finally {
    await stopAll(cleanup);
  }
}

/** What the targets of so many events have measured. */
async function fired(
  client: HttpClient,
  events: number,
  begin: () => Promise<void>,
): Promise<readonly number[]> {
  const before = await client.countExecutions("landed", "COMPLETED");
  await begin();
  await client.untilCompleted("landed", before + events, LIMIT_MS);
  return outputsAfter(client, "landed", before);
}

async function oneByOne(client: HttpClient, events: number): Promise<void> {
  for (let n = 0; n < events; n++) {
    await client.run("fires", null);
    await passed(REST_MS);
  }
}

async function evenly(client: HttpClient, events: number): Promise<void> {
  const start = performance.now();
  const runs: Promise<unknown>[] = [];
  for (let n = 0; n < events; n++) {
    await passed(start + (n * 1000) / PER_SECOND - performance.now());
    const run = client.run("fires", null);
    // Thrown below; until then nobody listens.
    run.catch(() => {});
    runs.push(run);
  }
  await Promise.all(runs);
}

function row(name: string, taken: readonly number[]): string[] {
  const figures = [median(taken), percentile(taken, 95), percentile(taken, 99)];
  return [name, ...figures.map(ms), String(taken.length)];
}
