/** Where the stream of an execution that exists already begins (EXE-93). */
import { type ExecutionRow, isTerminal } from "@engine/contract";
import type { Store } from "@engine/store";
import { type Follower, makesState } from "./follower.ts";
import type { LogPages } from "./log-pages.ts";
import type { FollowOptions } from "./requests.ts";
import { rowAfter, rowBefore } from "./row-after.ts";

/** Events that are searched at a time, from the end of the log on. */
const PAGE = 100;

/**
 * Begins behind an event, `after`, that the reader has. Where each event is a frame, a reader that has
 * the frame of an event may lack that of the state which the event made, with the same number: that
 * state is told again rather than lost.
 */
export async function followAfter(
  log: LogPages,
  follower: Follower,
  row: ExecutionRow,
  { after, events }: { readonly after: number } & Pick<FollowOptions, "events">,
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
  // The reader has the end of the execution: nothing comes after it.
  if (isTerminal(from.state)) follower.end();
}

/** `seq` of the event that made the state an execution is in. */
export async function lastStateSeq(
  store: { readonly log: Pick<Store["log"], "read"> },
  { execution_id, head }: ExecutionRow,
): Promise<number> {
  for (let before = head + 1; before > 1; before -= PAGE) {
    const page = await store.log.read(execution_id, { before, limit: PAGE });
    const made = page.findLast(({ event }) => makesState(event.type));
    if (made) return made.event.seq;
  }
  return head;
}
