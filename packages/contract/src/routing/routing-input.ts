/**
 * Values that are given with a start for matching only (RIN-1). Nobody is told them, so that a reason
 * why some are refused names none of them, and no key either.
 */
import type * as z from "zod";
import { AnyJson } from "../values/any-json.ts";

export type RoutingValue = string | number | boolean | null | RoutingInput;

export interface RoutingInput {
  readonly [key: string]: RoutingValue;
}

/** Header of every route that starts an execution; its value is JSON in UTF-8. */
export const ROUTING_INPUT_HEADER = "x-engine-routing-input";

const MAX_BYTES = 4_096;
const MAX_KEYS = 64;
const MAX_DEPTH = 8;

const FAULTS = {
  malformed: "is no JSON in UTF-8",
  not_object: "must be a JSON object",
  too_large: `must not be longer than ${MAX_BYTES} bytes`,
  too_many_keys: `must not have more than ${MAX_KEYS} keys, counted at all levels`,
  too_deep: `must not be deeper than ${MAX_DEPTH} levels`,
  bad_key: "must not have a key that is empty or has a '.'",
  bad_value: "must hold nothing but text, finite numbers, booleans, null and objects of these",
  repeated: "must be given once",
} as const;

/** `details.reason` of what is refused (RIN-2). */
export type RoutingInputFault = keyof typeof FAULTS;

export type CheckedRoutingInput =
  | { readonly value: RoutingInput; readonly reason?: never }
  | { readonly reason: RoutingInputFault; readonly value?: never };

/** What is wrong, as it follows the name of the header or field. */
export function routingInputFault(reason: RoutingInputFault): string {
  return FAULTS[reason];
}

/** Of keys that are given twice at one place the last one counts, as everywhere in JSON. */
export function parseRoutingInput(text: string): CheckedRoutingInput {
  if (utf8Length(text) > MAX_BYTES) return { reason: "too_large" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { reason: "malformed" };
  }
  // Its size is that of the text, which may be shorter than the one that is made of the value.
  return checkedOf(value);
}

/** Checks a value, which need not come from JSON. Keys named `__proto__` are keys like others. */
export function checkRoutingInput(value: unknown): CheckedRoutingInput {
  const checked = checkedOf(value);
  const isTooLarge = checked.value && utf8Length(JSON.stringify(checked.value)) > MAX_BYTES;
  return isTooLarge ? { reason: "too_large" } : checked;
}

function checkedOf(value: unknown): CheckedRoutingInput {
  if (!isPlain(value)) return { reason: "not_object" };
  const reason = faultIn(value, { keys: 0 }, 1);
  return reason ? { reason } : { value: value as RoutingInput };
}

/** A routing input without keys is none. */
export function hasRoutingInput(value: RoutingInput | null | undefined): value is RoutingInput {
  return value !== null && value !== undefined && Object.keys(value).length > 0;
}

/** As a header has it: in ASCII, which nothing on the way changes. */
export function routingHeaderText(value: RoutingInput): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escaped);
}

/** In a body. The issue has its reason, which becomes `details.reason`. */
export const RoutingInputField: z.ZodType<RoutingInput, RoutingInput> = AnyJson.superRefine(
  (value, context) => {
    const { reason } = checkRoutingInput(value);
    if (reason) context.addIssue({ code: "custom", message: FAULTS[reason], params: { reason } });
  },
).meta({ type: "object", additionalProperties: {} }) as unknown as z.ZodType<
  RoutingInput,
  RoutingInput
>;

function faultIn(
  object: Readonly<Record<string, unknown>>,
  seen: { keys: number },
  depth: number,
): RoutingInputFault | undefined {
  if (depth > MAX_DEPTH) return "too_deep";
  for (const key of Object.keys(object)) {
    seen.keys += 1;
    if (seen.keys > MAX_KEYS) return "too_many_keys";
    if (key === "" || key.includes(".")) return "bad_key";
    const value = object[key];
    const fault = isPlain(value) ? faultIn(value, seen, depth + 1) : scalarFault(value);
    if (fault) return fault;
  }
  return undefined;
}

function scalarFault(value: unknown): RoutingInputFault | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  return typeof value === "number" && Number.isFinite(value) ? undefined : "bad_value";
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A half of a surrogate pair that stands alone becomes the replacement character, of 3 bytes. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  }
  return bytes;
}
