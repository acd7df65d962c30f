/** How a policy ranks the workers that passed every check (RTE-4). */
import type { ResourceField } from "./expression.ts";
import { isEqual, type WorkerAttributes } from "./match.ts";
import type { Preference, WorkerComparison, WorkerSelector } from "./needs.ts";
import { isNumberText } from "./read-value.ts";

/** A worker as a policy looks at it. */
export interface RankedWorker extends WorkerAttributes {
  /** Built-in and custom ones; those that are too old are absent. */
  readonly metrics: Readonly<Record<string, number>>;
  /** What it has in all, and what of it is left (RES-2); null: it has not told. */
  readonly amounts: Readonly<Record<ResourceField, number>> | null;
  /** Executions it owns. */
  readonly load: number;
  /** 0 = unlimited. */
  readonly slots: number;
  /** For `sticky`: the preferred worker, for a child its parent's. */
  readonly isPreferred: boolean;
}

export interface Score {
  /** Σ weight × value, rounded to 9 decimals. */
  readonly score: number;
  /** The value of each term, 0 to 1, in their order; null of one that counts for no worker. */
  readonly terms: readonly (number | null)[];
}

/** The scores of workers, in their order. */
export function scoresOf(
  policy: readonly Preference[],
  workers: readonly RankedWorker[],
): readonly Score[] {
  const columns = policy.map((term) => valuesOf(term, workers));
  return workers.map((_, at) => {
    const terms = columns.map((column) => column?.[at] ?? (column ? 0 : null));
    const sum = terms.reduce<number>(
      (total, value, i) => total + (policy[i]?.weight ?? 0) * (value ?? 0),
      0,
    );
    return { score: rounded(sum), terms };
  });
}

/** To 9 decimals; a large sum has no more than those, and one beyond all numbers is the largest. */
function rounded(sum: number): number {
  const scaled = sum * 1e9;
  if (scaled <= Number.MAX_SAFE_INTEGER) return Math.round(scaled) / 1e9;
  return Math.min(sum, Number.MAX_VALUE);
}

/** The value of a term for each worker; undefined where no worker has one to be ranked by. */
function valuesOf(
  term: Preference,
  workers: readonly RankedWorker[],
): readonly number[] | undefined {
  const counts = ({ when }: Preference, worker: RankedWorker) => !when || compares(when, worker);
  if (term.kind === "sticky") {
    return workers.map((worker) => (worker.isPreferred && counts(term, worker) ? 1 : 0));
  }
  if (term.kind === "prefer") {
    return workers.map((worker) => (compares(term, worker) && counts(term, worker) ? 1 : 0));
  }
  const numbers = workers.map((worker) =>
    counts(term, worker) ? numberOf(attributeOf(term.selector, worker)) : undefined,
  );
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of numbers) {
    if (value === undefined) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (least > most) return undefined;
  return numbers.map((value) => {
    if (value === undefined) return 0;
    if (least === most) return 0.5;
    const span = most - least;
    // Of two numbers whose distance is beyond all numbers, half the distance is not.
    const share = Number.isFinite(span)
      ? (value - least) / span
      : (value / 2 - least / 2) / (most / 2 - least / 2);
    return term.kind === "most" ? share : 1 - share;
  });
}

function compares({ left, op, right }: WorkerComparison, worker: RankedWorker): boolean {
  const has = attributeOf(left, worker);
  if (has === undefined) return false;
  if (op === "eq") return isEqual(has, right);
  if (op === "ne") return !isEqual(has, right);
  const [a, b] = [numberOf(has), numberOf(right)];
  if (a === undefined || b === undefined) return false;
  switch (op) {
    case "lt":
      return a < b;
    case "lte":
      return a <= b;
    case "gt":
      return a > b;
    case "gte":
      return a >= b;
  }
}

function attributeOf(selector: WorkerSelector, worker: RankedWorker): string | number | undefined {
  switch (selector.kind) {
    case "label":
      return own(worker.labels, selector.key);
    case "meta":
      return own(worker.metadata, selector.key);
    case "metric":
      return own(worker.metrics, selector.key);
    case "resource":
      return worker.amounts?.[selector.field];
    case "load":
      return worker.load;
    case "utilization":
      return worker.slots === 0 ? undefined : worker.load / worker.slots;
  }
}

function own<Value>(of: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(of, key) ? of[key] : undefined;
}

/** Text that is a plain decimal number counts as one (RTE-2). */
function numberOf(value: string | number | undefined): number | undefined {
  if (typeof value === "string" && !isNumberText(value)) return undefined;
  return value !== undefined && Number.isFinite(Number(value)) ? Number(value) : undefined;
}
