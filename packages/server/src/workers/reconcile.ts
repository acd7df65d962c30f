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
  readonly clock: () => number;
}

/**
 * Brings what a worker says it runs and what the store says it owns to one opinion (WRK-9): keep
 * what is in both, adopt what nobody took meanwhile, drop the rest, and put back what the worker
 * does not have.
 */
export async function reconcile(
  session: Session,
  running: readonly Holding[],
  { store, dispatcher, handOvers, clock }: Parts,
): Promise<Reconciled> {
  const { guard } = session;
  const owned = new Map((await store.listOwned(session.id)).map((row) => [row.execution_id, row]));
  const listed = new Map<Holding, number>();
  for (const holding of running) {
    const row = owned.get(holding.execution_id);
    if (row?.generation !== holding.generation) continue;
    owned.delete(holding.execution_id);
    session.inherit(row, holding, clock());
    session.listed(holding);
    listed.set(holding, row.head);
  }
  // Claimed while the stream was opened, which its assignment comes down: nobody can list it yet.
  const isOnItsWay = (row: { execution_id: string; generation: number }) =>
    session.owns(row) || session.claiming.has(row.execution_id);
  const missing = [...owned.values()].filter((row) => !isOnItsWay(row));
  // Assigned while the stream was down, or lost by the worker.
  await Promise.all(
    missing.map((row) => {
      const loss = row.state === "RUNNING" ? "runner_lost" : undefined;
      return handOvers.one(session.id, row, { loss, guard });
    }),
  );

  const result: Reconciled = { keep: [], drop: [], events: [] };
  await Promise.all(
    running.map(async (holding) => {
      const { execution_id, generation, seq } = holding;
      const head = listed.get(holding);
      const adopted = head === undefined ? await dispatcher.adopt(session, holding) : undefined;
      const kept = head === undefined ? adopted?.generation : generation;
      if (kept === undefined) {
        const reason = "this session does not own it at that generation";
        result.drop.push({ execution_id, generation, reason });
        return;
      }
      if (adopted) session.adopted(holding);
      result.keep.push({ execution_id, generation: kept });
      if ((head ?? adopted?.head ?? 0) <= seq) return;
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
