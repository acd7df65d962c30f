import type { ExecutionRow } from "@engine/contract";
import {
  type ClaimRecords,
  type LimitDefinition,
  type LimitReader,
  NO_RATE,
  type RateView,
} from "./claim-limits.ts";
import {
  rateKey,
  type StoredDefinition,
  type StoredHolders,
  type StoredRate,
  toDefinition,
} from "./limit-queries.ts";

const FIRST = 10;

/** As it is at this place of the transaction; undefined where that has not looked at it. */
export type FindRow = (
  execution_id: string,
) => Pick<ExecutionRow, "session" | "generation" | "finished_at"> | undefined;

/** What a transaction has read of buckets, with what it has done since to those who have places there. */
export class BucketStates implements LimitReader {
  readonly #find: FindRow;
  readonly #definitions = new Map<string, LimitDefinition>();
  readonly #holders = new Map<string, Holders>();
  readonly #rates = new Map<string, StoredRate>();
  #added: ClaimRecords[] = [];

  constructor(find: FindRow = () => undefined) {
    this.#find = find;
  }

  addDefinitions(rows: readonly StoredDefinition[]): void {
    for (const row of rows) this.#definitions.set(row.name, toDefinition(row));
  }

  addHolders(rows: readonly StoredHolders[]): void {
    for (const { bucket, held, first, among } of rows) {
      const own = new Map(listed<readonly [string, number | null]>(among));
      this.#holders.set(bucket, { others: held - own.size, first: listed(first), own });
    }
  }

  addRates(rows: readonly StoredRate[]): void {
    for (const row of rows) this.#rates.set(rateKey(row.bucket, row), row);
  }

  /** Claims that follow count this one. */
  add(records: ClaimRecords): void {
    this.#added.push(records);
  }

  /** What the claims so far have left to write. */
  get added(): ClaimRecords {
    return {
      holders: this.#added.flatMap(({ holders }) => holders),
      starts: this.#added.flatMap(({ starts }) => starts),
    };
  }

  /** Forgets the claims, to judge them again. */
  startOver(): void {
    this.#added = [];
  }

  definition(name: string): LimitDefinition | undefined {
    return this.#definitions.get(name);
  }

  held(bucket: string): number {
    return (this.#holders.get(bucket)?.others ?? 0) + this.#own(bucket).size;
  }

  keeps(bucket: string, execution_id: string): boolean {
    return this.#own(bucket).get(execution_id) === null;
  }

  holders(bucket: string): readonly string[] {
    const { first = [], own } = this.#holders.get(bucket) ?? {};
    const others = first.filter((id) => !own?.has(id));
    return [...others, ...this.#own(bucket).keys()].sort().slice(0, FIRST);
  }

  started(bucket: string, rate: { readonly count: number; readonly period_ms: number }): RateView {
    const stored = this.#rates.get(rateKey(bucket, rate));
    const added = this.#added.flatMap(({ starts }) =>
      starts.filter((one) => one.bucket === bucket),
    );
    if (!stored && added.length === 0) return NO_RATE;
    const started = (stored?.started ?? 0) + added.length;
    const first = stored?.freeing ?? stored?.oldest ?? added[0]?.started_at;
    return { started, freeing: started < rate.count ? undefined : first };
  }

  /** Executions that the transaction works on and that have a place now, with what it holds for. */
  #own(bucket: string): ReadonlyMap<string, number | null> {
    const own = new Map(this.#holders.get(bucket)?.own);
    for (const { holders } of this.#added) {
      for (const one of holders) {
        if (one.bucket === bucket) own.set(one.execution_id, one.generation);
      }
    }
    for (const [execution_id, generation] of own) {
      if (!this.#hasPlace(execution_id, generation)) own.delete(execution_id);
    }
    return own;
  }

  #hasPlace(execution_id: string, generation: number | null): boolean {
    const row = this.#find(execution_id);
    if (!row) return true;
    if (generation === null) return row.finished_at === null;
    return row.session !== null && row.generation === generation;
  }
}

interface Holders {
  /** Places of executions that the transaction does not work on. */
  readonly others: number;
  readonly first: readonly string[];
  readonly own: ReadonlyMap<string, number | null>;
}

function listed<Item>(json: string | null): readonly Item[] {
  return json === null ? [] : JSON.parse(json);
}
