import type { ExecutionRow, Holding, WorkerFrame } from "@engine/contract";
import type { OwnedExecution, SessionGuard, Store } from "@engine/store";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { HandOvers, Lost } from "./hand-over.ts";
import type { Session } from "./session.ts";

export interface Reconciled {
  readonly keep: { execution_id: string; generation: number }[];
  readonly drop: { execution_id: string; generation: number; reason: string }[];
  /** What the log of a kept execution has above the listed `seq`. */
  readonly events: WorkerFrame[];
}

interface Parts {
  readonly store: Store;
  readonly dispatcher: Dispatcher;
  readonly handOvers: HandOvers;
  /** Of the stream that this is for: one that took its place does not concern it. */
  readonly guard: SessionGuard;
  /** What it is for an execution not to be listed. */
  readonly loss: (row: ExecutionRow) => Lost | undefined;
}

/**
 * Brings what a worker says it runs and what the store says it owns to one opinion (WRK-9): keep
 * what is in both, adopt what nobody took meanwhile, drop the rest, and put back what the worker
 * does not have.
 */
export async function reconcile(
  session: Session,
  running: readonly Holding[],
  { store, dispatcher, handOvers, guard, loss }: Parts,
): Promise<Reconciled> {
  session.holdings.expect(running);
  const owned = new Map(
    (await store.queue.listOwned(session.id)).map((row) => [row.execution_id, row]),
  );
  const listed = new Map<Holding, OwnedExecution>();
  const over = new Set<Holding>();
  for (const holding of running) {
    const row = owned.get(holding.execution_id);
    if (!row || !isSame(row, holding)) continue;
    owned.delete(holding.execution_id);
    // A commit has taken it away since it was read: it ended, or waits.
    if (!session.holdings.owns(holding)) over.add(holding);
    else {
      session.holdings.inherit(row, holding);
      listed.set(holding, row);
    }
  }
  // Claimed while the stream was opened, which its assignment comes down: nobody can list it yet.
  const isOnItsWay = (row: { execution_id: string; generation: number }) =>
    session.holdings.owns(row) || session.holdings.claiming.has(row.execution_id);
  const missing = [...owned.values()].filter((row) => !isOnItsWay(row));
  // Assigned while the stream was down, or lost by the worker.
  await Promise.all(missing.map((row) => handOvers.one(session.id, row, { loss, guard })));

  const result: Reconciled = { keep: [], drop: [], events: [] };
  await Promise.all(
    running.map(async (holding) => {
      const { execution_id, generation, seq } = holding;
      const row = listed.get(holding);
      const isOver = over.has(holding);
      if (!row) session.holdings.disown(holding);
      const adopted = row || isOver ? undefined : await dispatcher.adopt(session, holding, guard);
      const kept = (row ?? adopted)?.generation;
      if (kept === undefined) {
        const reason = "this session does not own it at that generation";
        result.drop.push({ execution_id, generation, reason });
        return;
      }
      if (adopted) session.holdings.adopted(holding);
      result.keep.push({ execution_id, generation: kept });
      if ((row ?? adopted)?.head === seq) return;
      const missed = await missedEvents(store, holding, kept);
      if (missed) result.events.push(missed);
    }),
  );
  return result;
}

/** Owned as listed, or adopted since by a welcome that did not arrive: then nobody else had it. */
function isSame({ generation, state }: OwnedExecution, listed: Holding): boolean {
  if (generation === listed.generation) return true;
  return state === "CLAIMED" && generation === listed.generation + 1;
}

/** What the log has above the `seq` that a worker knows of; undefined when it knows everything. */
export async function missedEvents(
  store: Store,
  { execution_id, seq }: Holding,
  generation: number,
): Promise<WorkerFrame | undefined> {
  const logged = await store.log.read(execution_id, { after: seq });
  if (logged.length === 0) return undefined;
  const events = logged.map(({ event }) => event);
  return { event: "events", data: { execution_id, generation, base_seq: seq, events } };
}
