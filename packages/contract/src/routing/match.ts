import type { Need } from "./needs.ts";
import { textOf } from "./read-value.ts";

/** What terms of an affinity look at of a worker. */
export interface WorkerAttributes {
  /** Its own and, of each service that was granted to it, `engine.service.<name>`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string | number>>;
}

/** Whether a term holds of a worker; `ne` holds where the worker has no such key (AFF-4). */
export function holds(need: Need, { labels, metadata }: WorkerAttributes): boolean {
  if (need.of === "unknown") return false;
  const attributes = need.of === "label" ? labels : metadata;
  const has = Object.hasOwn(attributes, need.key) ? attributes[need.key] : undefined;
  return (has !== undefined && isEqual(has, need.value)) === (need.op === "eq");
}

/** Two numbers are compared as numbers, all else as text. */
export function isEqual(a: string | number, b: string | number): boolean {
  return typeof a === typeof b ? a === b : textOf(a) === textOf(b);
}
