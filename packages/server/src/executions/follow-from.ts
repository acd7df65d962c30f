/** Where the stream of an execution that exists already begins (EXE-93). */
import { type ExecutionRow, isTerminal } from "@engine/contract";
import type { Store } from "@engine/store";
import { type Follower, makesState } from "./follower.ts";
import type { LogPages } from "./log-pages.ts";
import type { FollowOptions } from "./requests.ts";
import { rowAfter, rowBefore } from "./row-after.ts";

type Log = { readonly log: Pick<Store["log"], "read"> };

/** The event that made a state is near the end of the log; how much is looked at in one go. */
const PAGE = 100;

/** Begins with the state the execution is in. */
export async function followNow(store: Log, follower: Follower, row: ExecutionRow): Promise<void> {
  follower.beginNow(row, await lastStateSeq(store, row));
}

interface After extends Pick<FollowOptions, "events"> {
  /** The last event that the reader has. */
  readonly after: number;
}

/**
 * Begins with what came after an event that the reader has. Where each event is a frame, a reader
 * that has the frame of an event may not have that of the state it made, which has the same number:
 * such a state is told again rather than lost.
 */
export async function followAfter(
  log: LogPages,
  follower: Follower,
  row: ExecutionRow,
  { after, events }: After,
): Promise<void> {
  let known = rowBefore(row);
  let isState = false;
  const end = Math.min(after, row.head);
  for await (const page of log.between(0, end)) {
    for (const entry of page) {
      known = rowAfter(known, entry);
      isState = makesState(entry.event.type);
    }
  }
  const from = end < row.head ? known : row;
  if (events === "all" && isState) follower.beginNow(from, end);
  else follower.begin(from, end);
  follower.see(row, []);
  // Nothing comes after the end, which this reader has.
  if (isTerminal(from.state)) follower.end();
}

async function lastStateSeq(store: Log, { execution_id, head }: ExecutionRow): Promise<number> {
  for (let before = head + 1; before > 1; before -= PAGE) {
    const page = await store.log.read(execution_id, { before, limit: PAGE });
    const made = page.findLast(({ event }) => makesState(event.type));
    if (made) return made.event.seq;
  }
  return head;
}
