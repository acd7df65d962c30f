import { atATime } from "./at-a-time.ts";
import { type Cleanup, stopAll } from "./cleanup.ts";
import { makeHook, startHooksEngine } from "./hooks-engine.ts";
import type { HttpClient } from "./http-client.ts";
import type { Bench, Report } from "./measure.ts";
import { ratios } from "./routing-engine.ts";
import { median } from "./stats.ts";
import { count } from "./table.ts";

/** So many deliveries does one event make: a backlog comes about while hardly anything else runs. */
const HOOKS = 50;
const EVENTS = { full: 100, quick: 8 };
const AT_A_TIME = 200;
const ROUNDS = { full: 5, quick: 2 };
const DRAIN_LIMIT_MS = 120_000;
/** As large as what hooks send. */
const ENVELOPE = {
  hook: "by-hand",
  selector: "execution:bench:fires:completed",
  delivery_id: "01900000-0000-7000-8000-000000000000",
  event_key: "01900000-0000-7000-8000-000000000000:3",
  attempt: 1,
  hop: 0,
  event: {
    domain: "execution",
    type: "completed",
    execution_id: "01900000-0000-7000-8000-000000000000",
    workflow_namespace: "bench",
    workflow_name: "fires",
    value: 0,
    occurred_at: "2026-01-01 00:00:00.000",
    task_name: null,
    task_call_id: null,
    state: "completed",
  },
};

/** Targets that hooks start a second, and starts a second of the same workflow by requests. */
export async function startsByHooks(bench: Bench): Promise<Report> {
  const profile = bench.quick ? "quick" : "full";
  const total = HOOKS * EVENTS[profile];
  const cleanup: Cleanup = [];
  try {
    const { client } = await startHooksEngine(bench, cleanup);
    for (let n = 0; n < HOOKS; n++) {
      await makeHook(client, {
        name: `on-end-${n}`,
        selectors: ["execution:bench:fires:completed"],
      });
    }
    const byHooks: number[] = [];
    const byRequests: number[] = [];
    for (let round = -1; round < ROUNDS[profile]; round++) {
      bench.tell(round < 0 ? "warming up, by turns" : `starts by hooks, round ${round + 1}`);
      const hooks = () => untilAllDone(client, total, () => fire(client, EVENTS[profile]));
      const requests = () => untilAllDone(client, total, () => ask(client, total));
      // Neither is always the first.
      const first = round % 2 ? await requests() : undefined;
      const drained = await hooks();
      const asked = first ?? (await requests());
      if (round < 0) continue;
      byHooks.push(drained);
      byRequests.push(asked);
    }
    const ratio = median(ratios(byHooks, byRequests));
    return {
      tables: [
        {
          title: `${count(total)} starts of one workflow, until all have ended, by turns on one engine`,
          columns: ["", "starts/s", "least", "most"],
          rows: [
            row(`by ${HOOKS} hooks, as ${EVENTS[profile]} events fire each of them`, byHooks),
            row(`by requests that do not wait, ${AT_A_TIME} at a time`, byRequests),
            ["by hooks ÷ by requests", ratio.toFixed(3), "", ""],
          ],
        },
      ],
      figures: {
        "starts/s, by hooks ÷ by requests": ratio,
        "by hooks: starts/s": median(byHooks),
        "by requests: starts/s": median(byRequests),
      },
      samples: { "by hooks: starts/s": byHooks, "by requests: starts/s": byRequests },
    };
  } finally {
    await stopAll(cleanup);
  }
}

/** @returns How many started and ended in a second, from the first request to the last end. */
async function untilAllDone(
  client: HttpClient,
  total: number,
  begin: () => Promise<unknown>,
): Promise<number> {
  const before = await client.countExecutions("landed", "COMPLETED");
  const start = performance.now();
  await begin();
  await client.untilCompleted("landed", before + total, DRAIN_LIMIT_MS);
  return total / ((performance.now() - start) / 1000);
}

function fire(client: HttpClient, events: number): Promise<unknown> {
  return atATime(AT_A_TIME, Array(events).keys(), () => client.run("fires", null));
}

function ask(client: HttpClient, total: number): Promise<unknown> {
  return atATime(AT_A_TIME, Array(total).keys(), () => client.start("landed", ENVELOPE));
}

function row(name: string, perSecond: readonly number[]): string[] {
  const figures = [median(perSecond), Math.min(...perSecond), Math.max(...perSecond)];
  return [name, ...figures.map(count)];
}
