/** `FUZZ_RUNS` sets how many values each property sees. */
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { decode, encode, type Json, store, toPlain, UnencodableValue } from "./value.ts";

// There are no types of Node here: the package runs elsewhere too.
const { process } = globalThis as { process?: { env: Record<string, string> } };
const numRuns = Number(process?.env["FUZZ_RUNS"] ?? 500);
vi.setConfig({ testTimeout: 30_000 + numRuns * 20 });

/** Values of every kind, those of no stored form too: symbols, typed arrays, objects without a prototype. */
const strange = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withSparseArray: true,
  withTypedArray: true,
  withObjectString: true,
  maxDepth: 4,
  key: fc.oneof(fc.string(), fc.constantFrom("$rich", "$stored", "__proto__", "toJSON", "then")),
});
/** With much of what JSON would lose. */
const storable = fc.anything({
  values: [
    fc.string(),
    fc.double(),
    fc.constantFrom(Number.NaN, -0, Number.POSITIVE_INFINITY, null),
    fc.constant(undefined),
  ],
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
});
const anything = fc.oneof(strange, storable);

test("EXE-47 I9 whatever value is given is refused with its place, or given back equal, live and from the log", () => {
  let kept = 0;
  fc.assert(
    fc.property(anything, (given) => {
      let stored: ReturnType<typeof store>;
      try {
        stored = store(given, "output");
      } catch (error) {
        expect(error).toBeInstanceOf(UnencodableValue);
        expect((error as UnencodableValue).path).toMatch(/^output/);
        return;
      }
      kept++;
      const again = decode(JSON.parse(stored.text));
      expect(again).toEqual(stored.value);
      // What has been read is stored as it was: nothing changes on a second trip.
      expect(store(again, "output").text).toBe(stored.text);
      expect(() => JSON.stringify(toPlain(JSON.parse(stored.text)))).not.toThrow();
    }),
    { numRuns },
  );
  expect(kept).toBeGreaterThan(numRuns / 2);
});

test("EXE-47 plain JSON is stored as it is, and shown as it is", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (given) => {
      // The one key that is refused (above): no object could be trusted to have it.
      const text = JSON.stringify(given).replaceAll("__proto__", "proto");
      const json = JSON.parse(text) as Json;
      expect(decode(JSON.parse(store(json, "input").text))).toEqual(json);
      expect(toPlain(JSON.parse(store(json, "input").text))).toEqual(json);
    }),
    { numRuns },
  );
});

/** Stored forms as a broken worker might write them: numbers that lead anywhere, tags, holes. */
const flat = fc.array(
  fc.oneof(
    fc.integer({ min: -8, max: 6 }),
    fc.constantFrom("Date", "Map", "Set", "Error", "BigInt", "URL", "Uint8Array", "Nope", "null"),
    fc.array(
      fc.oneof(fc.integer({ min: -8, max: 9 }), fc.constantFrom("Map", "Set", "Error", "Date")),
    ),
    fc.dictionary(fc.constantFrom("a", "__proto__"), fc.integer({ min: -8, max: 6 })),
    fc.jsonValue({ maxDepth: 1 }),
  ),
  { maxLength: 6 },
);

test("EXE-48 whatever a worker has written can be shown, in no time", () => {
  const written = fc.oneof(flat, fc.jsonValue()).map(($rich) => ({ $rich }) as Json);
  fc.assert(
    fc.property(written, (encoded) => {
      expect(() => JSON.stringify(toPlain(encoded))).not.toThrow();
    }),
    { numRuns },
  );
});

test("EXE-48 a few bytes that stand for a list of any length are shown as the few bytes", () => {
  const bomb: Json = { $rich: [[-7, 2 ** 32 - 1, 0, 1], 5] };
  expect(toPlain(bomb)).toBe(bomb);
  expect(() => decode(bomb)).toThrow("a list without its items");
});

test("EXE-48 a few bytes that stand for more values than anybody could count are shown as the few bytes", () => {
  const levels = Array.from({ length: 40 }, (_, i) => [i + 1, i + 1]);
  const bomb: Json = { $rich: [...levels, 7] };
  expect(toPlain(bomb)).toBe(bomb);
});

test("EXE-48 a long list, and one value in several places, are shown as they are", () => {
  const long = Array.from({ length: 5_000 }, () => [1n, "same"]);
  expect(toPlain(encode(long, "output"))).toEqual(long.map(() => ["1", "same"]));
  expect(toPlain({ $rich: [[1, 1, 1], [2], 7] })).toEqual([[7], [7], [7]]);
});
