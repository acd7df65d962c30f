import type { Store } from "@engine/store";
import type { Dispatcher } from "./dispatch/dispatcher.ts";
import type { Followers } from "./executions/followers.ts";
import type { Waiters } from "./executions/waiters.ts";
import type { Log } from "./log.ts";
import type { Bus } from "./replicas/bus.ts";
import type { RowNews } from "./replicas/bus-message.ts";
import type { Timers } from "./timers/timers.ts";
import type { Sessions } from "./workers/sessions.ts";

interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly sessions: Sessions;
  readonly dispatcher: Dispatcher;
  readonly timers: Timers;
  readonly waiters: Waiters;
  readonly followers: Followers;
  readonly log: Log;
}

/**
 * Brings what other servers have committed to whoever on this one must know: the owner's stream, the
 * queue, the timers, callers that wait, readers that follow. Only what somebody needs is read.
 */
export function followRemoteChanges(parts: Parts): void {
  const { store, bus, sessions, dispatcher, timers, waiters, followers, log } = parts;
  bus.listen((message) => {
    if (message.kind === "rows") for (const task of tasksOf(message.rows)) task.catch(failed);
  });

  function tasksOf(rows: readonly RowNews[]): Promise<void>[] {
    const queued: string[] = [];
    const others: RowNews[] = [];
    const read: Promise<void>[] = [];
    for (const row of rows) {
      if (row.queued) queued.push(row.id);
      else others.push(row);
      if (row.wake_at !== undefined) timers.onRemote(row.id, row.wake_at);
      if (row.unowned) disown(row);
      else if (row.pushed_above !== undefined) read.push(push(row, row.pushed_above));
      if (waiters.isWaitedFor(row.id)) read.push(waiters.look(row.id));
      if (followers.isFollowed(row.id)) read.push(followers.look(row.id));
    }
    read.push(dispatcher.onRemote(queued, others));
    return read;
  }

  function disown({ id, generation, owner }: RowNews): void {
    if (owner === undefined) return;
    sessions.find(owner)?.holdings.disown({ execution_id: id, generation });
    dispatcher.wake();
  }

  async function push(row: RowNews, above: number): Promise<void> {
    const { id, generation, owner = "", head } = row;
    const session = sessions.find(owner);
    const of = { execution_id: id, generation };
    if (!session?.isHeld || !session.holdings.owns(of)) return;
    const logged = await store.log.read(id, { after: above, limit: head - above });
    const events = logged.map(({ event }) => event).filter(({ seq }) => seq <= head);
    sessions.push(session, { ...of, head }, events);
  }

  function failed(error: unknown): void {
    log.debug({ err: error }, "could not read what another server wrote; the safety tick does");
  }
}
