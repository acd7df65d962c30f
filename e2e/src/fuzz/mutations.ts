/** What makes a request of a right one that it should not be, one part at a time. */
import type { Json } from "@engine/contract";
import type { Random } from "../harness/random.ts";
import { oneOf } from "./known.ts";

/** Texts that something may trip over: as a name, an id, a number, an instant, a path. */
const WORDS: readonly string[] = [
  ...["", " ", "0", "-1", "1e9", "0x10", "1.5", "NaN", "null", "true", "undefined", "[]", "{}"],
  ...[
    "..",
    ".",
    "/",
    "a/b",
    "a b",
    "é",
    "日本",
    "💥",
    "\u0000",
    "\u202e",
    "\r\nx: y",
    "%00",
    "%zz",
  ],
  ...["__proto__", "constructor", "toString", "$rich", "$stored", "'; --", "\"'`", "*", "a:b:c"],
  ...["9".repeat(30), "x".repeat(300), "2026-11-20", "2026-02-30T00:00:00Z", "CREATED", "paused"],
  ...["01900000-0000-7000-8000-000000000001", "echo", "fw-0", "s-0", "default", "all", "stream"],
];

const NUMBERS = [0, -1, 1.5, 1e308, 2 ** 53, -(2 ** 31), 1e-7];

export function word(random: Random): string {
  return oneOf(random, WORDS);
}

/** Any JSON, small or odd. */
export function anything(random: Random): Json {
  switch (random.between(0, 8)) {
    case 0:
      return null;
    case 1:
      return random.next() < 0.5;
    case 2:
      return oneOf(random, NUMBERS);
    case 3:
      return [anything(random), word(random)];
    case 4:
      return { [word(random)]: word(random), a: anything(random) };
    case 5:
      return oneOf<Json>(random, [
        { $rich: "x" },
        { $rich: [[1, 2]] },
        { $stored: {} },
        [[[]]],
        {},
      ]);
    case 6:
      return nested(random.between(1, 140));
    case 7:
      return word(random).repeat(random.between(1, 200));
    default:
      return word(random);
  }
}

function nested(levels: number): Json {
  let value: Json = 1;
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value };
  return value;
}

/** The value with one of its parts replaced, removed or added. */
export function mutated(value: Json, random: Random): Json {
  if (typeof value !== "object" || value === null || random.next() < 0.15) return anything(random);
  if (Array.isArray(value)) {
    const at = random.between(0, value.length);
    const item = value[at];
    if (item === undefined) return [...value, anything(random)];
    return random.next() < 0.2 ? value.toSpliced(at, 1) : value.with(at, mutated(item, random));
  }
  const keys = Object.keys(value);
  const key = keys[random.between(0, keys.length)];
  if (key === undefined) return { ...value, [word(random)]: anything(random) };
  if (random.next() < 0.2) {
    return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  }
  return { ...value, [key]: mutated(value[key] as Json, random) };
}

/** The text of a body, broken. */
export function broken(text: string, random: Random): Buffer {
  const bytes = Buffer.from(text);
  const at = random.between(0, bytes.length);
  switch (random.between(0, 8)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff, 0xfe]), bytes.subarray(at)]);
    case 2:
      return Buffer.from(text, "utf16le");
    case 3:
      return Buffer.from(`\ufeff${text}`);
    case 4:
      return Buffer.from("[".repeat(random.between(100, 50_000)));
    case 5:
      return Buffer.from(`${text}${text}`);
    case 6:
      return Buffer.from(`{"a":1,"a":2,"__proto__":{"x":1},"b":${text || "null"}}`);
    case 7:
      return Buffer.from(
        `{"a":${oneOf(random, ["NaN", "01", "'x'", "1e999", '"\\u12"', "/**/1"])}}`,
      );
    default:
      return Buffer.from(
        Array.from({ length: random.between(1, 64) }, () => random.between(0, 255)),
      );
  }
}
