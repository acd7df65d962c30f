import type { Holding, WorkerFrame } from "@engine/contract";
import type { Store } from "@engine/store";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { HandOvers } from "./hand-over.ts";
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
}

/**
 * Brings what a worker says it runs and what the store says it owns to one opinion (WRK-9): keep
 * what is in both, adopt what nobody took meanwhile, drop the rest, and put back what the worker
 * does not have.
 */
export async function reconcile(
  session: Session,
  running: readonly Holding[],
  { store, dispatcher, handOvers }: Parts,
): Promise<Reconciled> {
  const owned = new Map((await store.listOwned(session.id)).map((row) => [row.execution_id, row]));
  const listed = new Set(
    running.filter((holding) => owned.get(holding.execution_id)?.generation === holding.generation),
  );
  for (const { execution_id } of listed) owned.delete(execution_id);
  // Assigned while the stream was down, or lost by the worker: never started there.
  await Promise.all([...owned.values()].map((row) => handOvers.one(session, row)));

  const result: Reconciled = { keep: [], drop: [], events: [] };
  await Promise.all(
    running.map(async (holding) => {
      const { execution_id, generation } = holding;
      const kept = listed.has(holding)
        ? generation
        : (await dispatcher.adopt(session, holding))?.generation;
      if (kept === undefined) {
        const reason = "this session does not own it at that generation";
        result.drop.push({ execution_id, generation, reason });
        return;
      }
      result.keep.push({ execution_id, generation: kept });
      const missed = await missedEvents(store, holding, kept);
      if (missed) result.events.push(missed);
    }),
  );
  return result;
}

/** What the log has above the `seq` that a worker knows of; undefined when it knows everything. */
export async function missedEvents(
  store: Store,
  { execution_id, seq }: Holding,
  generation: number,
): Promise<WorkerFrame | undefined> {
  const logged = await store.readLog(execution_id, { after: seq });
  if (logged.length === 0) return undefined;
  const events = logged.map(({ event }) => event);
  return { event: "events", data: { execution_id, generation, base_seq: seq, events } };
}
