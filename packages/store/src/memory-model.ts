/** What a store must do with executions, in the plainest way: the property test compares with it. */
import {
  type Claimant,
  createdExecution,
  decideClaim,
  EngineError,
  type Event,
  type ExecutionRow,
  isQueued,
  type NewExecution,
  notFound,
} from "@engine/contract";
import type { Change, Decide, LogPage, QueuedExecution } from "./store.ts";

interface Outcome {
  readonly row: ExecutionRow;
  readonly events: readonly Event[];
}

export class MemoryModel {
  readonly #rows = new Map<string, ExecutionRow>();
  readonly #logs = new Map<string, Event[]>();

  create(fresh: NewExecution, claimant?: Claimant): Outcome {
    const { execution_id } = fresh;
    if (this.#rows.has(execution_id)) throw new EngineError("conflict", "exists");
    const { row, event } = createdExecution(fresh);
    this.#logs.set(execution_id, []);
    const created = this.#write({ ...row, head: 0 }, { events: [event], patch: {} });
    const claim = claimant && decideClaim(created.row, claimant);
    if (!claim) return created;
    const claimed = this.#write(created.row, claim);
    return { row: claimed.row, events: [...created.events, ...claimed.events] };
  }

  change(execution_id: string, decide: Decide, above?: number): Outcome {
    const row = this.#rows.get(execution_id);
    if (!row) throw notFound("execution", execution_id);
    const recorded = above === undefined ? [] : this.log(execution_id, { after: above });
    const change = decide(row, recorded);
    return change ? this.#write(row, change) : { row, events: [] };
  }

  #write(before: ExecutionRow, { events, patch }: Change): Outcome {
    const numbered = events.map((event, i) => ({ ...event, seq: before.head + 1 + i }));
    const row = { ...before, ...patch, head: before.head + events.length };
    this.#rows.set(row.execution_id, row);
    this.#logs.get(row.execution_id)?.push(...numbered);
    return { row, events: numbered };
  }

  rows(): readonly ExecutionRow[] {
    return [...this.#rows.values()].sort((a, b) => (a.execution_id < b.execution_id ? -1 : 1));
  }

  queued(): readonly QueuedExecution[] {
    return this.rows()
      .filter(isQueued)
      .sort((a, b) => b.priority - a.priority || a.queued_at - b.queued_at)
      .map(({ execution_id, priority, queued_at, last_worker }) => ({
        execution_id,
        priority,
        queued_at,
        last_worker,
      }));
  }

  log(execution_id: string, { after, before, limit }: LogPage = {}): readonly Event[] {
    const found = (this.#logs.get(execution_id) ?? []).filter(
      ({ seq }) => seq > (after ?? 0) && seq < (before ?? Number.POSITIVE_INFINITY),
    );
    if (limit === undefined) return found;
    return after === undefined ? found.slice(-limit) : found.slice(0, limit);
  }
}
