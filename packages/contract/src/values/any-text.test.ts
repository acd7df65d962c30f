/** `FUZZ_RUNS` sets how many inputs each property sees. */
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { parseResourceAmount } from "../definitions/resource-amount.ts";
import { parsePackageRequest } from "../definitions/resource-requests.ts";
import { Labels } from "../workers/worker.ts";
import { parseDuration } from "./duration.ts";
import { isName } from "./name.ts";
import { formatEventTime, formatInstant, parseEventTime, parseInstant } from "./time.ts";

// There are no types of Node here: the package runs elsewhere too.
const { process } = globalThis as { process?: { env: Record<string, string> } };
const numRuns = Number(process?.env["FUZZ_RUNS"] ?? 500);
vi.setConfig({ testTimeout: 30_000 + numRuns * 20 });

/** Text made of the pieces that these grammars are made of, and of whatever else there is. */
const PIECES =
  "0 1 9 . - + e E ms s m h d B KB KiB GiB TiB @ ^ ~ || >= x * / _ a Z : T NaN ∞".split(" ");
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc
    .array(fc.constantFrom(...PIECES, " ", "\n", "\0"), { maxLength: 12 })
    .map((all) => all.join("")),
);
const anything = fc.oneof(text, fc.anything());

/** Some of them longer than any date lies ahead. */
const long = fc
  .tuple(fc.nat(2 ** 31 - 1), fc.constantFrom("ms", "s", "m", "h", "d"))
  .map(([amount, unit]) => `${amount}${unit}`);

test("EXE-3 whatever is given for a duration is none, or a time that a date can lie behind", () => {
  fc.assert(
    fc.property(fc.oneof(anything, long), (given) => {
      const ms = parseDuration(given);
      if (ms === undefined) return;
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(formatInstant(ms)).toMatch(/Z$/);
    }),
    { numRuns },
  );
});

test("EXE-3 a duration that is written out reads back as it was", () => {
  const units = fc.constantFrom("ms", "s", "m", "h", "d");
  const factors = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  fc.assert(
    fc.property(fc.nat(365_000), units, (amount, unit) => {
      expect(parseDuration(`${amount}${unit}`)).toBe(amount * factors[unit]);
    }),
    { numRuns },
  );
});

test("RES-1 whatever is given for an amount is none, or a whole number of bytes", () => {
  fc.assert(
    fc.property(anything, (given) => {
      const bytes = parseResourceAmount(given);
      if (bytes === undefined) return;
      expect(Number.isSafeInteger(bytes) && bytes >= 0).toBe(true);
      expect(parseResourceAmount(bytes)).toBe(bytes);
      expect(parseResourceAmount(`${bytes}B`)).toBe(bytes);
    }),
    { numRuns },
  );
});

test("RES-1 a package request is taken apart into what it is put together from, or is none", () => {
  fc.assert(
    fc.property(text, (given) => {
      const request = parsePackageRequest(given);
      if (!request) return;
      const { name, range } = request;
      expect(range === undefined ? name : `${name}@${range}`).toBe(given);
      expect(parsePackageRequest(given)).toEqual(request);
    }),
    { numRuns },
  );
});

test("EXE-8 whatever is given, a name is one by its grammar alone", () => {
  fc.assert(
    fc.property(text, (given) => {
      expect(isName(given)).toBe(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(given));
    }),
    { numRuns },
  );
});

test("WRK-2 whatever is given for labels is refused, or kept as it is under plain keys", () => {
  const key = fc.oneof(text, fc.constantFrom("zone", "gpu.kind", "a-b_c.d", "engine.zone", "x."));
  fc.assert(
    fc.property(fc.oneof(fc.dictionary(key, text), fc.anything()), (given) => {
      const { success, data } = Labels.safeParse(given);
      if (!success) return;
      // A key that every object has never gets in.
      const plain = Object.entries(given as object).filter(([name]) => name !== "__proto__");
      expect(Object.entries(data)).toEqual(plain);
      for (const [name, value] of Object.entries(data)) {
        expect(name).toMatch(/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/);
        expect(name.length).toBeLessThanOrEqual(128);
        expect(value.length).toBeGreaterThan(0);
        expect([...value].every((char) => char >= " " && char !== "\u007f")).toBe(true);
      }
    }),
    { numRuns },
  );
});

test("EXE-23 an instant is written and read back to the millisecond, and any other text is none", () => {
  const from = Date.UTC(1, 0, 1);
  const until = Date.UTC(9999, 11, 31);
  fc.assert(
    fc.property(fc.integer({ min: from, max: until }), text, (ms, other) => {
      expect(parseInstant(formatInstant(ms))).toBe(ms);
      expect(parseEventTime(formatEventTime(ms))).toBe(ms);
      expect(() => parseEventTime(other)).not.toThrow();
    }),
    { numRuns },
  );
});
