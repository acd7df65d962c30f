/**
 * What the queue watches for: one attribute that a worker must have, as text. What waits is filed under
 * one of them (DSP-12), and every worker has the literals of its name, labels and metadata.
 */
import { type AttributeNeed, textOf, type WorkerAttributes } from "@engine/contract";
import type { Needs } from "../gate/fits.ts";

/** Filed by nothing: any worker may be the one. */
export const NONE = "";
/** No worker can ever be the one. */
export const NEVER = "?";

export function nameLiteral(worker: string): string {
  return `w:${worker}`;
}

/** Two attributes have the same literal where they are equal (AFF-4). */
function literalOf({ of, key, value }: Omit<AttributeNeed, "op">): string {
  return `${of}:${key}=${textOf(value)}`;
}

/** Literals of a worker's labels and metadata; keys hold no `=`. */
export function literalsOf({ labels, metadata }: WorkerAttributes): readonly string[] {
  const literals: string[] = [];
  for (const key in labels)
    literals.push(literalOf({ of: "label", key, value: labels[key] ?? "" }));
  for (const key in metadata) {
    literals.push(literalOf({ of: "meta", key, value: metadata[key] ?? "" }));
  }
  return literals;
}

/** What needs say of attributes, ready to be filed and compared; kept of whatever waits, so it is small. */
export interface Watched {
  readonly worker: string | undefined;
  /** Literals that its worker must have. */
  readonly has: readonly string[];
  /** Literals that it must not have. */
  readonly lacks: readonly string[];
  readonly isImpossible: boolean;
  /** Whether its worker must have room for what it reserves. */
  readonly reserves: boolean;
}

const NOTHING: readonly string[] = [];
const ANYBODY: Watched = {
  worker: undefined,
  has: NOTHING,
  lacks: NOTHING,
  isImpossible: false,
  reserves: false,
};

export function watchedOf({ requirements, hidden }: Needs): Watched {
  if (!requirements && !hidden) return ANYBODY;
  const needs = [...(requirements?.affinity ?? []), ...(hidden?.affinity ?? [])];
  const known = needs.filter((need) => need.of !== "unknown");
  const literals = (op: AttributeNeed["op"]): readonly string[] => {
    const some = known.filter((need) => need.op === op);
    return some.length === 0 ? NOTHING : some.map(literalOf);
  };
  return {
    worker: requirements?.worker,
    has: literals("eq"),
    lacks: literals("ne"),
    isImpossible: known.length < needs.length,
    reserves: requirements?.requests !== undefined,
  };
}

/** The attribute that a literal is of. */
export function keyOf(literal: string): string {
  return literal.slice(0, literal.indexOf("="));
}
