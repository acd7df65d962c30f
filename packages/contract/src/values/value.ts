/**
 * The value codec. Values of the log are JSON; what JSON lacks (Date, bigint, Map, Set, bytes,
 * undefined, URL, Error, NaN, ±Infinity, -0) is kept by wrapping the whole value as
 * `{"$rich": <flattened by devalue>}`. A value that is JSON already is stored as it is, which is
 * the usual case and costs one walk and one `JSON.stringify`.
 *
 * Code that produced a value goes on with {@link Stored.value}, the decoded copy, never with the
 * original: so a first run sees exactly what a replay will see (EXE-47, I9).
 */
import { stringify, unflatten } from "devalue";

/** Every value that `JSON.parse` can give. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A value in its stored form; {@link decode} gives the value back. */
export type Encoded = Json;

/** A value with its stored form, as {@link store} gives it. */
export interface Stored {
  /** The stored form as JSON text. */
  readonly text: string;
  /** The decoded stored form: a copy that shares nothing with the original. */
  readonly value: unknown;
}

/** How deep a value may be nested. */
export const MAX_VALUE_DEPTH = 100;
/** The only key of a value that is kept in its wrapped form. */
export const RICH = "$rich";
/** The key of an envelope for a value that lies outside the log: see `stored-reference.ts`. */
export const STORED = "$stored";

/** Thrown by {@link store}; `path` is the place inside the value, such as `output.items[3].client`. */
export class UnencodableValue extends Error {
  override readonly name = "UnencodableValue";
  readonly path: string;

  constructor(path: string, reason: string) {
    super(`${path} cannot be stored: ${reason}`);
    this.path = path;
  }
}

interface Walk {
  rich: boolean;
  readonly ancestors: object[];
}

/**
 * Encodes a value for the log.
 *
 * @param root What the value is, for the path of an error: `input`, `output`.
 * @throws UnencodableValue for functions, symbols, promises, class instances without `toJSON`,
 *   cycles and nesting over 100 levels.
 */
export function store(value: unknown, root: string): Stored {
  if (value === undefined) return { text: UNDEFINED_TEXT, value };
  const walk: Walk = { rich: false, ancestors: [] };
  const copy = copyOf(value, () => root, walk);
  // A user's own value in the shape of one of the engine's wrappings must not be taken for it.
  const isAsItIs = !walk.rich && !hasOnly(copy, RICH) && !hasOnly(copy, STORED);
  if (isAsItIs) return { text: JSON.stringify(copy), value: copy };
  const text = `{"${RICH}":${stringify(copy, REDUCERS)}}`;
  return { text, value: decode(JSON.parse(text)) };
}

/** The stored form as data. Prefer {@link store} where the text or the copy is needed too. */
export function encode(value: unknown, root: string): Encoded {
  return JSON.parse(store(value, root).text);
}

/**
 * The value of a stored form: a copy that shares nothing with `encoded`, so that code may change
 * what it is given and the log stays as it is (I9).
 */
export function decode(encoded: Encoded): unknown {
  return hasOnly(encoded, RICH) ? unwrapped(encoded) : copyOfJson(encoded);
}

/** The value of a stored form for a reader that changes nothing: its objects may be `encoded`'s own. */
export function peek(encoded: Encoded): unknown {
  return hasOnly(encoded, RICH) ? unwrapped(encoded) : encoded;
}

function unwrapped(encoded: { [RICH]: Json }): unknown {
  const flat = encoded[RICH] as number | unknown[];
  if (Array.isArray(flat) && flat.some(isSparse)) throw new TypeError("a list without its items");
  return unflatten(flat, REVIVERS);
}

function copyOfJson(json: Json): Json {
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map(copyOfJson);
  const copy: { [key: string]: Json } = {};
  for (const key of Object.keys(json)) {
    const value = copyOfJson(json[key] as Json);
    if (key !== "__proto__") copy[key] = value;
    // What came over HTTP may have it as a key; an assignment would set the prototype.
    else Object.defineProperty(copy, key, { ...OWN, value });
  }
  return copy;
}

/** Whether two stored forms are one: the order of keys does not count. */
export function isSameJson(a: Json, b: Json): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => isSameJson(item, b[i] as Json));
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key] as Json, b[key] as Json));
}

const OWN = { configurable: true, enumerable: true, writable: true };

/** Never written here: a few bytes that stand for a list of any length. */
function isSparse(item: unknown): boolean {
  return Array.isArray(item) && item[0] === -7;
}

const REDUCERS = {
  Error: (value: unknown) =>
    value instanceof Error && [value.name, value.message, "cause" in value ? [value.cause] : []],
};
const REVIVERS = {
  Error: ([name, message, cause]: [string, string, unknown[]]) => {
    const error = new Error(message, cause.length ? { cause: cause[0] } : undefined);
    // The place where a value is decoded says nothing about where the error came from.
    Object.defineProperty(error, "stack", { value: `${name}: ${message}`, configurable: true });
    if (name !== "Error") Object.defineProperty(error, "name", { value: name, configurable: true });
    return error;
  },
};
const UNDEFINED_TEXT = `{"${RICH}":${stringify(undefined)}}`;

/** Whether a value is an object with this key and no other. */
export function hasOnly<Key extends string>(
  value: unknown,
  key: Key,
): value is { [Only in Key]: Json } {
  if (typeof value !== "object" || value === null || !(key in value)) return false;
  return Object.keys(value).length === 1;
}

type Path = () => string;

function copyOf(value: unknown, path: Path, walk: Walk): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value) || Object.is(value, -0)) walk.rich = true;
      return value;
    case "undefined":
    case "bigint":
      walk.rich = true;
      return value;
    case "object":
      return value === null ? null : copyOfObject(value, path, walk);
    case "function":
    case "symbol":
      throw new UnencodableValue(path(), `a ${typeof value} has no stored form`);
  }
}

function copyOfObject(value: object, path: Path, walk: Walk): unknown {
  if (walk.ancestors.includes(value)) {
    throw new UnencodableValue(path(), "it contains itself");
  }
  if (walk.ancestors.length >= MAX_VALUE_DEPTH) {
    throw new UnencodableValue(path(), `it is nested deeper than ${MAX_VALUE_DEPTH} levels`);
  }
  walk.ancestors.push(value);
  const copy = copyOfKind(value, path, walk);
  walk.ancestors.pop();
  return copy;
}

function copyOfKind(value: object, path: Path, walk: Walk): unknown {
  if (Array.isArray(value)) {
    return Array.from(value, (item, i) => copyOf(item, () => `${path()}[${i}]`, walk));
  }
  const prototype = Object.getPrototypeOf(value);
  if ((prototype === Object.prototype || prototype === null) && !hasToJson(value)) {
    return copyOfRecord(value as Record<string, unknown>, path, walk);
  }
  const rich = copyOfRich(value, path, walk);
  if (rich !== undefined) {
    walk.rich = true;
    return rich;
  }
  if (hasToJson(value)) return copyOf(value.toJSON(""), path, walk);
  throw new UnencodableValue(path(), `${describe(value, prototype)} has no stored form`);
}

function copyOfRecord(value: Record<string, unknown>, path: Path, walk: Walk): unknown {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const item = copyOf(value[key], () => `${path()}${accessor(key)}`, walk);
    if (key !== "__proto__") copy[key] = item;
    else throw new UnencodableValue(path(), 'a key named "__proto__" cannot be kept');
  }
  return copy;
}

/** Kinds that JSON lacks and the codec keeps; undefined for any other object. */
function copyOfRich(value: object, path: Path, walk: Walk): unknown {
  // biome-ignore lint/style/noRestrictedGlobals: recognises a Date it was given
  if (value instanceof Date) return value;
  if (value instanceof URL) return value;
  // A Buffer is a Uint8Array with a toJSON of its own; it comes back as plain bytes.
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (value instanceof Map) {
    return new Map(
      Array.from(value, ([key, item], i) => [
        copyOf(key, () => `${path()}.keys()[${i}]`, walk),
        copyOf(item, () => `${path()}${valuePlace(key, i)}`, walk),
      ]),
    );
  }
  if (value instanceof Set) {
    return new Set(Array.from(value, (item, i) => copyOf(item, () => `${path()}[${i}]`, walk)));
  }
  if (value instanceof Error) return copyOfError(value, path, walk);
  return undefined;
}

function copyOfError(error: Error, path: Path, walk: Walk): Error {
  const copy = new Error(error.message);
  // Most subclasses never set `name`; what they are called says more than "Error".
  const name = error.name === "Error" ? error.constructor.name : error.name;
  Object.defineProperty(copy, "name", { value: name });
  if ("cause" in error) {
    Object.defineProperty(copy, "cause", {
      value: copyOf(error.cause, () => `${path()}.cause`, walk),
    });
  }
  return copy;
}

function hasToJson(value: object): value is { toJSON(key: string): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

function describe(value: object, prototype: { constructor?: { name?: string } } | null): string {
  if (typeof (value as { then?: unknown }).then === "function") return "a promise (await it first)";
  return `an instance of ${prototype?.constructor?.name || "a class"}`;
}

/** Where a Map has a value; a key that is an object need not have a text. */
function valuePlace(key: unknown, index: number): string {
  return typeof key === "object" && key !== null ? `.values()[${index}]` : `.get(${String(key)})`;
}

function accessor(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/**
 * A stored value as plain JSON for HTTP (EXE-48): tags become text, lists and null. What is no stored
 * form, which only a broken worker writes, is shown as it is, so that what has it can be read.
 */
export function toPlain(encoded: Encoded): Json {
  if (!hasOnly(encoded, RICH)) return encoded;
  try {
    return plain(peek(encoded), { left: mostNodes(encoded[RICH]) });
  } catch {
    return encoded;
  }
}

/** So many values may be in several places and be written once; {@link store} copies every container. */
const SHARED_NODES = 1_000;

/** A few levels of lists that hold one list twice stand for more values than anybody could count. */
function mostNodes(flat: Json): number {
  let nodes = SHARED_NODES;
  for (const item of Array.isArray(flat) ? flat : []) {
    if (typeof item === "object" && item !== null) nodes += Object.keys(item).length;
  }
  return nodes;
}

interface Budget {
  left: number;
}

function plain(value: unknown, budget: Budget): Json {
  if (budget.left-- === 0) throw new RangeError("it holds far more values than are written in it");
  if (value === null || value === undefined) return null;
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : null;
  if (typeof value !== "object") return value as Json;
  if (Array.isArray(value)) return value.map((item) => plain(item, budget));
  // biome-ignore lint/style/noRestrictedGlobals: recognises a Date it was given
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof URL) return value.href;
  if (value instanceof Uint8Array) return base64(value);
  if (value instanceof Set) return Array.from(value, (item) => plain(item, budget));
  if (value instanceof Error) return { type: value.name, message: value.message };
  if (value instanceof Map) {
    const pairs = Array.from(value, ([key, item]) => [key, item] as const);
    return pairs.every(([key]) => typeof key === "string")
      ? record(pairs as (readonly [string, unknown])[], budget)
      : pairs.map(([key, item]) => [plain(key, budget), plain(item, budget)]);
  }
  const pairs = Object.entries(value).filter(([, item]) => item !== undefined);
  return record(pairs, budget);
}

function record(pairs: readonly (readonly [string, unknown])[], budget: Budget): Json {
  return Object.fromEntries(pairs.map(([key, item]) => [key, plain(item, budget)]));
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const [a, b, c] = [bytes[i] ?? 0, bytes[i + 1] ?? 0, bytes[i + 2] ?? 0];
    text += ALPHABET.charAt(a >> 2) + ALPHABET.charAt(((a & 3) << 4) | (b >> 4));
    text += i + 1 < bytes.length ? ALPHABET.charAt(((b & 15) << 2) | (c >> 6)) : "=";
    text += i + 2 < bytes.length ? ALPHABET.charAt(c & 63) : "=";
  }
  return text;
}
