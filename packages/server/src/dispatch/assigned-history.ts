import type { Assignment, Event, ExecutionRow } from "@engine/contract";
import type { Changed } from "@engine/store";
import type { InnerPorts } from "../engine-ports.ts";
import { reasonOf } from "./claim-reason.ts";

/** The end of a log that goes with an assignment; the worker reads the rest page by page (WRK-7). */
const MOST_BYTES = 256 * 1024;
const MOST_EVENTS = 1_000;
/** A copy that waits in the worker's memory (RUN-4) only lacks the events that ended its wait. */
const EVENTS_FOR_WARM = 50;

type Ports = Pick<InnerPorts, "store" | "seals">;
type History = Assignment["history"];

/** The history up to the claim; later events follow in frames of their own. */
export function historyOf(ports: Ports, changed: Changed): History | Promise<History> {
  const { row, events } = changed;
  // The commit wrote the whole log: the execution is fresh.
  if (events.length === row.head) return revealed(ports, row, { after: 0, events: [...events] });
  return readNewest(ports, row, mayBeWarm(changed) ? EVENTS_FOR_WARM : MOST_EVENTS);
}

/** Whether the worker may have a copy: then reading the whole log would take longest of all. */
function mayBeWarm(changed: Changed): boolean {
  const { session, last_session } = changed.row;
  return session === last_session && reasonOf(changed) !== "recover";
}

async function readNewest(ports: Ports, row: ExecutionRow, limit: number): Promise<History> {
  const logged = await ports.store.log.read(row.execution_id, { before: row.head + 1, limit });
  const events = newestWithin(
    MOST_BYTES,
    logged.map(({ event }) => event),
  );
  return revealed(ports, row, { after: row.head - events.length, events });
}

/** With what sensitive tasks took and gave: it is for the worker that runs them. */
function revealed(
  { seals }: Ports,
  { execution_id }: ExecutionRow,
  { after, events }: History,
): History | Promise<History> {
  const known = seals.revealed(execution_id, events);
  if (known instanceof Promise) return known.then((real) => ({ after, events: [...real] }));
  return { after, events };
}

/** The last events, as many as print in that many bytes, but at least one. */
function newestWithin(bytes: number, events: readonly Event[]): Event[] {
  let first = events.length;
  for (let taken = 0; first > 0; first--) {
    taken += Buffer.byteLength(JSON.stringify(events[first - 1]));
    if (taken > bytes && first < events.length) break;
  }
  return events.slice(first);
}
