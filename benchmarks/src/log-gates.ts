import type { EventType, RecordedEvent } from "@engine/contract";
import { atATime } from "./at-a-time.ts";
import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";

/** The log of a run with `tasks` tasks on an engine that lost nothing: exact, dense, in order. */
function gateLog(id: string, log: readonly RecordedEvent[], tasks: number): void {
  gateDense(id, log);
  gateCount(id, log, "TASK_STARTED", tasks);
  gateCount(id, log, "TASK_COMPLETED", tasks);
  for (const type of ["WORKFLOW_CREATED", "WORKFLOW_CLAIMED", "WORKFLOW_STARTED"] as const) {
    gateCount(id, log, type, 1);
  }
  gate(log.at(-1)?.type === "WORKFLOW_COMPLETED", () => `${id} ends with ${log.at(-1)?.type}`);
  gate(log.length === 2 * tasks + 4, () => `${id} has ${log.length} events for ${tasks} tasks`);
}

export function gateDense(id: string, log: readonly RecordedEvent[]): void {
  log.forEach((event, i) => {
    gate(event.seq === i + 1, () => `${id}: event ${i + 1} has seq ${event.seq}`);
  });
}

export function gateCount(
  id: string,
  log: readonly RecordedEvent[],
  type: EventType,
  expected: number,
): void {
  const found = log.filter((event) => event.type === type).length;
  gate(found === expected, () => `${id} has ${found} ${type}, expected ${expected}`);
}

/** Reads and checks logs, a few at a time. */
export async function gateLogs(
  client: HttpClient,
  ids: readonly string[],
  tasks: number,
): Promise<RecordedEvent[][]> {
  return atATime(8, ids, async (id) => {
    const log = await client.log(id);
    gateLog(id, log, tasks);
    return log;
  });
}

/** At most `limit` of the items, spread evenly. */
export function spread<T>(items: readonly T[], limit: number): readonly T[] {
  const every = Math.max(1, Math.ceil(items.length / limit));
  return items.filter((_, i) => i % every === 0);
}

/** When an event of this type was committed, by the server's clock: the first or the last one. */
export function recordedAt(
  log: readonly RecordedEvent[],
  type: EventType,
  which: "first" | "last" = "first",
): number {
  const found =
    which === "first"
      ? log.find((event) => event.type === type)
      : log.findLast((event) => event.type === type);
  gate(found !== undefined, () => `a log without ${type}`);
  return Date.parse(found.recorded_at);
}
