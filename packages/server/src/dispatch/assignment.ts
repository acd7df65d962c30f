import {
  type Assignment,
  type ClaimReason,
  type Event,
  type ExecutionRow,
  formatInstant,
} from "@engine/contract";
import type { Changed, Store } from "@engine/store";

/** The end of a log that rides an assignment; what lies before is read by pages (WRK-7). */
const HISTORY_BYTES = 256 * 1024;
const HISTORY_EVENTS = 1000;

/** The history up to the claim, and no further: later events follow in frames of their own. */
export function historyOf(
  store: Store,
  { row, events }: Changed,
): Assignment["history"] | Promise<Assignment["history"]> {
  // A fresh execution: its whole log is what this commit wrote.
  if (events.length === row.head) return { after: 0, events: [...events] };
  return readHistory(store, row);
}

async function readHistory(store: Store, row: ExecutionRow): Promise<Assignment["history"]> {
  const page = { before: row.head + 1, limit: HISTORY_EVENTS };
  const logged = await store.readLog(row.execution_id, page);
  const events: Event[] = [];
  let bytes = 0;
  for (const { event } of logged.toReversed()) {
    bytes += JSON.stringify(event).length;
    if (bytes > HISTORY_BYTES && events.length > 0) break;
    events.unshift(event);
  }
  return { after: row.head - events.length, events };
}

/** Why it was claimed, as the WORKFLOW_CLAIMED just written says. */
export function reasonOf({ row, events }: Changed): ClaimReason {
  const claimed = events.at(-1);
  if (claimed?.type !== "WORKFLOW_CLAIMED") {
    throw new Error(`execution ${row.execution_id} is assigned without a claim`);
  }
  return (claimed.value as { reason: ClaimReason }).reason;
}

export function assignmentOf(
  row: ExecutionRow,
  rest: Pick<Assignment, "reason" | "module" | "history" | "listen">,
): Assignment {
  if (row.version === null) throw new Error(`local execution ${row.execution_id} was assigned`);
  return {
    execution_id: row.execution_id,
    generation: row.generation,
    namespace: row.namespace,
    workflow: row.workflow,
    version: row.version,
    name: row.name,
    created_at: formatInstant(row.created_at),
    input: row.input,
    head: row.head,
    seed: row.seed,
    parent_id: row.parent_id,
    transient: row.transient,
    ...rest,
  };
}
