import type { ExecutionRow, Holding, WorkerFrame } from "@engine/contract";
import type { OwnedExecution, SessionGuard } from "@engine/store";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { InnerPorts } from "../engine-ports.ts";
import type { HandOvers, Lost } from "./hand-over.ts";
import type { Held } from "./holdings.ts";
import type { Session } from "./session.ts";

export interface Reconciled {
  readonly keep: Held[];
  readonly drop: (Held & { readonly reason: string })[];
  /** Events that the log of a kept execution has above the listed `seq`. */
  readonly events: WorkerFrame[];
}

interface Parts {
  readonly ports: Pick<InnerPorts, "store" | "seals">;
  readonly dispatcher: Dispatcher;
  readonly handOvers: HandOvers;
  /** Of the stream that this is for. Once another stream has taken its place, nothing is written. */
  readonly guard: SessionGuard;
  /** Whether it is a loss that an execution is not listed, and which. */
  readonly loss: (row: ExecutionRow) => Lost | undefined;
}

/**
 * Compares the executions that a worker says it runs with those that its session owns (WRK-9). It keeps
 * what is in both lists, adopts what no other worker took meanwhile, drops the rest of the first list,
 * and puts the rest of the second back into the queue.
 */
export async function reconcile(
  session: Session,
  running: readonly Holding[],
  { ports, dispatcher, handOvers, guard, loss }: Parts,
): Promise<Reconciled> {
  const { store } = ports;
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
    // A commit has taken the execution away since the list was read: it ended, or waits.
    if (!session.holdings.owns(holding)) over.add(holding);
    else {
      session.holdings.inherit(row, holding);
      listed.set(holding, row);
    }
  }
  // Claimed while the stream was opened: its assignment is still to come, so no worker lists it.
  const isOnItsWay = (row: Held) =>
    session.holdings.owns(row) || session.holdings.claiming.has(row.execution_id);
  const missing = [...owned.values()].filter((row) => !isOnItsWay(row));
  // What is missing was assigned while the stream was down, or lost by the worker.
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
      const missed = await missedEvents(ports, holding, kept);
      if (missed) result.events.push(missed);
    }),
  );
  return result;
}

/** Whether it is owned as listed, or was adopted since, by a welcome that did not arrive. */
function isSame({ generation, state }: OwnedExecution, listed: Holding): boolean {
  if (generation === listed.generation) return true;
  return state === "CLAIMED" && generation === listed.generation + 1;
}

/** The events above the `seq` that a worker knows of; undefined when there are none. */
export async function missedEvents(
  { store, seals }: Pick<InnerPorts, "store" | "seals">,
  { execution_id, seq }: Holding,
  generation: number,
): Promise<WorkerFrame | undefined> {
  const logged = await store.log.read(execution_id, { after: seq });
  if (logged.length === 0) return undefined;
  const events = await seals.revealed(
    execution_id,
    logged.map(({ event }) => event),
  );
  return {
    event: "events",
    data: { execution_id, generation, base_seq: seq, events: [...events] },
  };
}
