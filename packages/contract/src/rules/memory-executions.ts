import { notFound } from "../errors/errors.ts";
import type { ExecutionRow } from "../executions/execution-row.ts";
import { KeptSignalLists } from "../executions/kept-signal-lists.ts";
import type { NewExecution } from "../executions/new-execution.ts";
import type { Event } from "../log/event.ts";
import type { Change } from "./change.ts";
import {
  consequencesOf,
  creation,
  type EffectSource,
  idTaken,
  NO_EFFECTS,
  type Touched,
  touch,
  untouched,
} from "./consequences.ts";
import type { Claimant } from "./lifecycle-rules.ts";

/** An execution after a change, with the events that the change wrote. */
export interface Written {
  readonly row: ExecutionRow;
  readonly events: readonly Event[];
}

/**
 * Executions in memory with their logs and kept signals: a store without a database, for the engine
 * that users test with and for what stores and servers are compared with. A change is written with
 * all its effects, or refused with all of them.
 */
export class MemoryExecutions {
  readonly rows: Map<string, ExecutionRow> = new Map();
  readonly logs: Map<string, Event[]> = new Map();
  signals: KeptSignalLists = new KeptSignalLists();
  readonly #source: EffectSource = {
    find: (execution_id) => this.rows.get(execution_id),
    children: (parent_id) => [...this.rows.values()].filter((row) => row.parent_id === parent_id),
  };

  row(execution_id: string): ExecutionRow {
    const row = this.rows.get(execution_id);
    if (!row) throw notFound("execution", execution_id);
    return row;
  }

  log(execution_id: string): readonly Event[] {
    return this.logs.get(execution_id) ?? [];
  }

  /** @returns Every execution written, the new one at the head. */
  create(fresh: NewExecution, claimant?: Claimant): readonly Written[] {
    const { created, effects } = creation(fresh, claimant);
    return this.#write(consequencesOf(created, effects, this.#source));
  }

  /** @returns Every execution written, the changed one at the head. */
  change(execution_id: string, change: Change): readonly Written[] {
    const changed = touch(untouched(this.row(execution_id)), change);
    return this.#write(consequencesOf(changed, change.effects ?? NO_EFFECTS, this.#source));
  }

  #write(all: readonly Touched[]): readonly Written[] {
    for (const { stored, row } of all) {
      if (!stored && this.rows.has(row.execution_id)) throw idTaken(row.execution_id);
    }
    return all.map(({ stored, row, events, signals }) => {
      const { execution_id } = row;
      const head = stored?.head ?? 0;
      const numbered = events.map((event, i) => ({ ...event, seq: head + 1 + i }));
      const log = this.logs.get(execution_id) ?? [];
      for (const event of numbered) log.push(event);
      this.logs.set(execution_id, log);
      this.signals.follow(execution_id, signals);
      this.rows.set(execution_id, row);
      return { row, events: numbered };
    });
  }
}
