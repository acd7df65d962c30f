import type { Constant, ValueRef } from "./expression.ts";

/** The inputs of an execution, as values. */
export interface PlacementInputs {
  readonly input: unknown;
  /** Null: none was given. */
  readonly routing_input: Readonly<Record<string, unknown>> | null;
}

/** What lies at a path (AFF-4). */
export type ReadValue =
  | { readonly kind: "value"; readonly value: Constant }
  | { readonly kind: "absent" }
  | { readonly kind: "invalid" };

const ABSENT: ReadValue = { kind: "absent" };
const INVALID: ReadValue = { kind: "invalid" };

export function readValue(ref: ValueRef, inputs: PlacementInputs): ReadValue {
  let at: unknown = inputs[ref.kind];
  for (const key of ref.path.split(".")) {
    if (typeof at !== "object" || at === null || Array.isArray(at) || !Object.hasOwn(at, key)) {
      return ABSENT;
    }
    at = (at as Record<string, unknown>)[key];
  }
  if (at === null || at === undefined) return ABSENT;
  if (typeof at === "string" || typeof at === "boolean") return { kind: "value", value: at };
  if (typeof at === "number" && Number.isFinite(at)) return { kind: "value", value: at };
  return INVALID;
}

/** As it is compared: numbers in their shortest decimal form, booleans as `true` and `false`. */
export function textOf(value: Constant): string {
  return typeof value === "number" ? String(value === 0 ? 0 : value) : String(value);
}

/** Whether a text counts as a number where numbers are ordered (RTE-2). */
export function isNumberText(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text);
}
