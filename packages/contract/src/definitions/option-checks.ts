/**
 * What the values of options must be. A check says it in words that follow "must be", or undefined
 * when the value is that; {@link OPAQUE} stands where a value could not be read.
 */

import { DeclaredSchedule } from "../schedules/schedule-declaration.ts";
import { parseDuration } from "../values/duration.ts";
import { isName, NAME_RULE } from "../values/name.ts";
import { storageOf } from "../values/stored-reference.ts";
import { parseResourceAmount, RESOURCE_AMOUNT } from "./resource-amount.ts";
import { parsePackageRequest } from "./resource-requests.ts";

export type Check = (value: unknown) => string | undefined;

/** Stands for a value that was not evaluated, such as a function in a parsed file: it passes every check. */
export const OPAQUE: unique symbol = Symbol.for("engine.opaque");

export const name: Check = (value) =>
  typeof value === "string" && isName(value) ? undefined : `a name: ${NAME_RULE}`;
export const text: Check = (value) => (typeof value === "string" ? undefined : "a string");
export const fn: Check = (value) => (typeof value === "function" ? undefined : "a function");
export const flag: Check = (value) => (typeof value === "boolean" ? undefined : "true or false");
export const duration: Check = (value) =>
  parseDuration(value) === undefined
    ? 'a duration: milliseconds from 0, or a number with ms, s, m, h or d such as "1.5s"'
    : undefined;
export const span: Check = (value) =>
  (parseDuration(value) ?? 0) > 0
    ? undefined
    : 'a duration above 0: milliseconds, or a number with ms, s, m, h or d such as "1.5s"';
export const mebibytes: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 16 ? undefined : "a whole number of MiB from 16";
export const attempts: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 1000
    ? undefined
    : "an integer from 1 to 1000";
export const backoff: Check = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 1 ? undefined : "a number from 1";
export const options: Check = (value) =>
  isPlainObject(value) ? undefined : "an object of options";
export const oneOf =
  (words: readonly string[]): Check =>
  (value) =>
    words.includes(value as string)
      ? undefined
      : `one of ${words.map((word) => `"${word}"`).join(", ")}`;
export const cache: Check = (value) =>
  typeof value === "boolean" || isPlainObject(value)
    ? undefined
    : "true, false or an object of options";
/** Names under which secrets and configs are kept. */
const STORED_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$/;
export const storedNames: Check = listOf(
  "a list of names, each 1 to 128 letters, digits, '_', '.', '@' or '-', beginning with a letter, a digit or '_'",
  (each) => STORED_NAME.test(each),
);
export const outputStorage: Check = (value) => {
  if (value === "engine" || value === "inline") return undefined;
  const { type, store, retrieve } = (value ?? {}) as Record<string, unknown>;
  const isStorage =
    typeof type === "string" &&
    type !== "" &&
    typeof store === "function" &&
    typeof retrieve === "function";
  if (!isStorage) {
    return '"engine", "inline" or a storage with a text type and the functions store and retrieve';
  }
  // By its type a stored value is told to be the engine's own.
  return type === "engine" || storageOf({ storage_type: type }) !== "custom"
    ? `a storage of another type: ${type} is the engine's own`
    : undefined;
};
export const standardSchema: Check = (value) =>
  (typeof value === "object" || typeof value === "function") &&
  value !== null &&
  "~standard" in value
    ? undefined
    : "a Standard Schema, such as one of zod";
export const schedule: Check = (value) =>
  DeclaredSchedule.safeParse(value).success
    ? undefined
    : "what cron(), interval() or once() returns";
export const cores: Check = (value) =>
  typeof value === "number" && Number.isFinite(value) && value > 0
    ? undefined
    : "a number of cores above 0";
export const devices: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 1
    ? undefined
    : "a whole number of devices from 1";
export const bytes: Check = (value) =>
  parseResourceAmount(value) === undefined ? RESOURCE_AMOUNT : undefined;
export const packages: Check = listOf(
  'a list of packages, each a name or name@<semver range> such as "sharp@^0.33"',
  (each) => parsePackageRequest(each) !== undefined,
);
export const jsonObject: Check = (value) => {
  if (!isPlainObject(value)) return "an object of JSON values";
  const wrong = notJson(value, "", new Set());
  return wrong === undefined ? undefined : `an object of JSON values, without ${wrong}`;
};

/** @param expected The list in words, with what each of its texts must be. */
function listOf(expected: string, fits: (each: string) => boolean): Check {
  return (value) => {
    if (!Array.isArray(value)) return expected;
    const isWrong = (each: unknown) => each !== OPAQUE && !(typeof each === "string" && fits(each));
    const wrong = value.findIndex(isWrong);
    return wrong < 0 ? undefined : `${expected}, without ${show(value[wrong])} at [${wrong}]`;
  };
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The first part that JSON cannot hold, such as `a function at hooks[0]`. */
function notJson(value: unknown, path: string, above: Set<unknown>): string | undefined {
  if (value === null || value === OPAQUE) return undefined;
  if (typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number" && Number.isFinite(value)) return undefined;
  const at = path === "" ? "" : ` at ${path}`;
  if (!Array.isArray(value) && !isPlainObject(value)) return `${show(value)}${at}`;
  if (above.has(value)) return `a circle${at}`;
  above.add(value);
  for (const [key, part] of Object.entries(value)) {
    const place = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    const wrong = notJson(part, place, above);
    if (wrong !== undefined) return wrong;
  }
  above.delete(value);
  return undefined;
}

/** A value in a message: short, and without what is inside it. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}
