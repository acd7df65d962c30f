import type { ExecutionSummary, RecordedEvent } from "@engine/contract";
import { atATime } from "./at-a-time.ts";
import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import { gateCount, gateDense, recordedAt } from "./log-gates.ts";
import { passed, until } from "./until.ts";

const PAGE = 200;
/** Far above what it takes: only a herd that stays asleep or awake reaches it. */
const LIMIT_MS = 120_000;

/** When a member's outcome was recorded, in milliseconds after the instant it slept until. */
export interface Wake {
  readonly late: number;
  /** The same of its end. */
  readonly ended: number;
}

/** Starts a `sleeper` for every instant and resolves once all of them sleep. */
export async function putToSleep(client: HttpClient, untils: readonly number[]): Promise<string[]> {
  const ids = await atATime(64, untils, async (until) => {
    return (await client.post("/workflows/bench/sleeper/run/async", until)).execution_id;
  });
  await untilNone(
    () => awake(client, ids.length),
    (left) => `${left} of ${ids.length} do not sleep`,
  );
  return ids;
}

/** How many of the herd are not parked: they hold a slot or wait for one. */
async function awake(client: HttpClient, size: number): Promise<number> {
  const running = await client.countExecutions("sleeper", "RUNNING");
  return running === size ? size - (await asleep(client)) : size;
}

/**
 * How many executions wait for their instant on no worker: they hold no slot. Looks at the newest
 * `limit` of them.
 */
export async function asleep(
  client: HttpClient,
  limit: number = Number.POSITIVE_INFINITY,
): Promise<number> {
  let found = 0;
  for (let offset = 0; ; offset += PAGE) {
    const { items } = await client.get<{ items: ExecutionSummary[] }>(
      `/workflows/bench/sleeper/executions?state=RUNNING&limit=${PAGE}&offset=${offset}`,
    );
    found += items.filter(({ worker, waiting }) => worker === null && waiting.length === 1).length;
    if (items.length < PAGE || offset + PAGE >= limit) return found;
  }
}

/** Waits for the end of a herd and reads from the logs when each member woke. */
export async function wakes(
  client: HttpClient,
  ids: readonly string[],
  untils: readonly number[],
): Promise<Wake[]> {
  // Questions would compete with what is measured.
  await passed(Math.max(...untils) - Date.now() + 1_000);
  await untilNone(
    async () => {
      const all = await client.countExecutions("sleeper");
      return all - (await client.countExecutions("sleeper", "COMPLETED"));
    },
    (left) => `${left} of ${ids.length} have not ended`,
  );
  return atATime(8, ids, async (id, i) => wakeOf(id, await client.log(id), untils[i] ?? 0));
}

function wakeOf(id: string, log: readonly RecordedEvent[], until: number): Wake {
  gateDense(id, log);
  for (const type of ["TASK_STARTED", "TASK_COMPLETED", "WORKFLOW_COMPLETED"] as const) {
    gateCount(id, log, type, 1);
  }
  const late = recordedAt(log, "TASK_COMPLETED") - until;
  gate(late >= 0, () => `${id} woke ${-late} ms early`);
  return { late, ended: recordedAt(log, "WORKFLOW_COMPLETED") - until };
}

/** Until nothing is left. */
async function untilNone(left: () => Promise<number>, message: (left: number) => string) {
  let now = Number.NaN;
  const isNone = async () => {
    now = await left();
    return now === 0;
  };
  await until(isNone, { limitMs: LIMIT_MS, everyMs: 250, late: () => message(now) });
}
