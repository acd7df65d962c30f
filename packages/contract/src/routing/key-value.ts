import type { ValueRef } from "./expression.ts";
import { type PlacementInputs, readValue, textOf } from "./read-value.ts";

/** What keys of limits and of fairness are read from. */
export interface KeyInputs {
  readonly inputs: PlacementInputs;
  /** Makes a value of the routing input unreadable; the same text for the same value (RIN-3). */
  readonly hide: (text: string) => string;
  /** A short text for a long one, another for each. */
  readonly digest: (text: string) => string;
}

/** A longer value of a key is known by its digest: such values are keys of an index. */
const LONGEST_VALUE = 200;

/** Stands for a list or an object, which is no key (FLW-4). */
export const INVALID: unique symbol = Symbol("a list or an object");

/** The value of a key as it is compared; undefined: absent, or there is no key. */
export function keyValue(
  key: ValueRef | undefined,
  { inputs, hide, digest }: KeyInputs,
): string | { readonly digest: string } | undefined | typeof INVALID {
  if (!key) return undefined;
  const read = readValue(key, inputs);
  if (read.kind === "invalid") return INVALID;
  if (read.kind === "absent") return undefined;
  const text = textOf(read.value);
  const shown = key.kind === "routing_input" ? hide(text) : text;
  return shown.length > LONGEST_VALUE ? { digest: digest(shown) } : shown;
}
