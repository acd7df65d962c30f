/** Where the stream of an execution that exists already begins (EXE-93). */
import { type ExecutionRow, isTerminal } from "@engine/contract";
import type { LoggedEvent, Store } from "@engine/store";
import { type Follower, makesState } from "./follower.ts";
import type { FollowOptions } from "./requests.ts";
import { rowAfter, rowBefore } from "./row-after.ts";

type Log = Pick<Store, "readLog">;

/** The event that made a state is near the end of the log; how much is looked at in one go. */
const PAGE = 100;

/** Begins with the state the execution is in. */
export async function followNow(
  store: Log,
  follower: Follower,
  row: ExecutionRow,
  detailed: boolean | undefined,
): Promise<void> {
  if (!detailed) {
    follower.beginNow(row, await lastStateSeq(store, row));
    return;
  }
  const log = upTo(row.head, await store.readLog(row.execution_id));
  const made = log.findLast(({ event }) => makesState(event.type));
  follower.beginNow(row, made?.event.seq ?? row.head, log);
}

interface After extends Pick<FollowOptions, "detailed" | "events"> {
  /** The last event that the reader has. */
  readonly after: number;
}

/**
 * Begins with what came after an event that the reader has. Where each event is a frame, a reader
 * that has the frame of an event may not have that of the state it made, which has the same number:
 * such a state is told again rather than lost.
 */
export async function followAfter(
  store: Log,
  follower: Follower,
  row: ExecutionRow,
  { after, detailed, events }: After,
): Promise<void> {
  const log = upTo(row.head, await store.readLog(row.execution_id));
  const known = upTo(after, log);
  const from = known.length < row.head ? known.reduce(rowAfter, rowBefore(row)) : row;
  const begun = detailed ? known : undefined;
  const last = known.at(-1)?.event;
  if (events === "all" && last && makesState(last.type)) {
    follower.beginNow(from, last.seq, begun);
  } else follower.begin(from, known.length, begun);
  follower.seeFirst(row, log.slice(known.length));
  // Nothing comes after the end, which this reader has.
  if (isTerminal(from.state)) follower.end();
}

async function lastStateSeq(store: Log, { execution_id, head }: ExecutionRow): Promise<number> {
  for (let before = head + 1; before > 1; before -= PAGE) {
    const page = await store.readLog(execution_id, { before, limit: PAGE });
    const made = page.findLast(({ event }) => makesState(event.type));
    if (made) return made.event.seq;
  }
  return head;
}

function upTo(seq: number, log: readonly LoggedEvent[]): readonly LoggedEvent[] {
  return log.filter(({ event }) => event.seq <= seq);
}
