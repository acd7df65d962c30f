/** Signals that came before anybody waited for them: how they are read and written. */
import type { KeptSignal, SignalStep } from "@engine/contract";
import type { Database, Query, Statement } from "../database.ts";
import { type SentColumn, sentRows, sentRowsSql } from "./sent-columns.ts";

/** The oldest signals of a name behind a `seq`. */
export interface SignalsAsked {
  readonly execution_id: string;
  readonly name: string;
  readonly after: number;
}

export type StoredSignal = readonly [seq: number, payload: string];

/** Read at once, since several calls of a checkpoint may take one each. */
const READ_TOGETHER = 16;

export function toKept({ name }: SignalsAsked): (stored: StoredSignal) => KeptSignal {
  return ([seq, payload]) => ({ seq, name, payload: JSON.parse(payload) });
}

interface Read {
  readonly found: readonly KeptSignal[];
  readonly isAll: boolean;
}

export interface Unread {
  /** Where to go on reading. */
  readonly behind: number;
}

/** Those that a transaction has read, beside what its jobs have done with them. */
export class KeptSignals {
  readonly #read = new Map<string, Read>();

  /** @param found What lies behind those that were read before. */
  add({ execution_id, name }: SignalsAsked, found: readonly KeptSignal[]): void {
    const key = keyOf(execution_id, name);
    const before = this.#read.get(key)?.found ?? [];
    this.#read.set(key, {
      found: [...before, ...found],
      isAll: found.length < READ_TOGETHER,
    });
  }

  /** @param written What jobs before have done to the execution; undefined when they did nothing. */
  find(
    { execution_id, name, after }: SignalsAsked,
    written: { readonly stored: unknown; readonly signals: readonly SignalStep[] } | undefined,
  ): KeptSignal | Unread | undefined {
    const steps = written?.signals ?? [];
    const taken = new Set(steps.flatMap((step) => (step.kind === "take" ? step.signal.seq : [])));
    const isFresh = written !== undefined && written.stored === undefined;
    if (!isFresh) {
      const read = this.#read.get(keyOf(execution_id, name));
      const stored = read?.found.find(({ seq }) => seq > after && !taken.has(seq));
      if (stored) return stored;
      if (!read?.isAll) return { behind: read?.found.at(-1)?.seq ?? 0 };
    }
    for (const step of steps) {
      if (step.kind !== "keep" || step.signal.name !== name) continue;
      if (step.signal.seq > after && !taken.has(step.signal.seq)) return step.signal;
    }
    return undefined;
  }
}

function keyOf(execution_id: string, name: string): string {
  return `${execution_id} ${name}`;
}

interface Kept extends KeptSignal {
  readonly execution_id: string;
}

const KEYS: readonly SentColumn<Pick<Kept, "execution_id" | "name" | "seq">>[] = [
  { name: "execution_id", type: "text", value: ({ execution_id }) => execution_id },
  { name: "name", type: "text", value: ({ name }) => name },
  { name: "seq", type: "integer", value: ({ seq }) => seq },
];

const COLUMNS: readonly SentColumn<Kept>[] = [
  ...KEYS,
  { name: "payload", type: "text", value: ({ payload }) => JSON.stringify(payload) },
];

export class SignalStatements {
  readonly #find: Statement;
  readonly #keep: Statement;
  readonly #take: Statement;
  readonly #drop: Statement;

  constructor(database: Database) {
    this.#find = database.prepare(
      `SELECT seq, payload FROM kept_signals
       WHERE execution_id = $1 AND name = $2 AND seq > $3 ORDER BY seq LIMIT ${READ_TOGETHER}`,
      "array",
    );
    this.#keep = database.prepare(`
      INSERT INTO kept_signals (execution_id, name, seq, payload)
      SELECT * FROM ${sentRowsSql(COLUMNS)} AS r`);
    this.#take = database.prepare(`
      DELETE FROM kept_signals AS k USING ${sentRowsSql(KEYS)} AS r
      WHERE k.execution_id = r.execution_id AND k.name = r.name AND k.seq = r.seq`);
    this.#drop = database.prepare("DELETE FROM kept_signals WHERE execution_id = ANY($1)");
  }

  find({ execution_id, name, after }: SignalsAsked): Query {
    return [this.#find, execution_id, name, after];
  }

  /** What all steps of a transaction come to. */
  write(
    written: readonly {
      readonly row: { readonly execution_id: string };
      readonly signals: readonly SignalStep[];
    }[],
  ): readonly Query[] {
    const kept: Kept[] = [];
    const taken: Pick<Kept, "execution_id" | "name" | "seq">[] = [];
    const dropped: string[] = [];
    for (const { row, signals } of written) {
      if (signals.length === 0) continue;
      const { execution_id } = row;
      const fresh = new Map<number, Kept>();
      for (const step of signals) {
        if (step.kind === "keep") {
          fresh.set(step.signal.seq, { execution_id, ...step.signal });
        } else if (step.kind === "take") {
          if (!fresh.delete(step.signal.seq)) taken.push({ execution_id, ...step.signal });
        } else {
          fresh.clear();
          dropped.push(execution_id);
        }
      }
      kept.push(...fresh.values());
    }
    const queries: Query[] = [];
    if (taken.length > 0) queries.push([this.#take, ...sentRows(KEYS, taken)]);
    if (dropped.length > 0) queries.push([this.#drop, dropped]);
    if (kept.length > 0) queries.push([this.#keep, ...sentRows(COLUMNS, kept)]);
    return queries;
  }
}
