/** `FUZZ_RUNS` sets how many texts each property sees. */
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { createMasker } from "./masker.ts";
import { MASK } from "./spans.ts";
import { patternsOf, slowMask, slowMaskValue, slowSpans } from "./testing/slow-reference.ts";
import { ValueFinder } from "./value-finder.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 200);
vi.setConfig({ testTimeout: 30_000 + numRuns * 20 });

/** Few letters, so that values begin alike, overlap, and nearly are where they are not. */
const narrow = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 80 });
/** Letters that other forms write otherwise. */
const odd = fc.string({
  unit: fc.constantFrom(...'ab1 \t\n"\\/%+-._=é🔑\u0001\ud800'),
  minLength: 6,
  maxLength: 60,
});
const word = fc.stringMatching(/^[a-zA-Z0-9_.-]{8,90}$/);
const values = fc.array(fc.oneof(narrow, odd, word), { minLength: 1, maxLength: 6 });

/** Values with a text that is made of parts of what is looked for, and of anything else. */
function withText(values: fc.Arbitrary<string[]>, noise: fc.Arbitrary<string>) {
  return values.chain((values) => {
    const patterns = values.flatMap(patternsOf);
    const part = fc
      .tuple(fc.constantFrom("", ...patterns), fc.nat(3), fc.nat(3), fc.boolean())
      .map(([pattern, from, less, isWhole]) =>
        isWhole ? pattern : pattern.slice(from, pattern.length - less),
      );
    const text = fc.array(fc.oneof(part, noise), { maxLength: 8 }).map((parts) => parts.join(""));
    return fc.record({ values: fc.constant(values), patterns: fc.constant(patterns), text });
  });
}

test("RED-1 exactly the values are masked in a text, in all their forms, as a slow search finds them", () => {
  const noise = fc.oneof(narrow, fc.stringMatching(/^[a-zA-Z0-9 _.-]{0,40}$/));
  const plain = fc.array(fc.oneof(narrow, word), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(withText(plain, noise), ({ values, patterns, text }) => {
      const escaped = /[%+\\]/.test(text);
      const masked = createMasker(values).text(text);
      // What is read back may be more than the slow search finds.
      if (!escaped) expect(masked).toBe(slowMask(patterns, text));
    }),
    { numRuns },
  );
});

test("RED-1 whatever letters values and texts have, nothing that a slow search finds is left", () => {
  const noise = fc.oneof(odd, fc.string({ unit: "binary", maxLength: 30 }));
  fc.assert(
    fc.property(withText(values, noise), ({ values, patterns, text }) => {
      const spans = new ValueFinder(values).find(text);
      const left = slowSpans(patterns, text).filter(
        ([start, end]) =>
          !spans.some((from, i) => i % 2 === 0 && from <= start && (spans[i + 1] as number) >= end),
      );
      expect(left.map(([start, end]) => text.slice(start, end))).toEqual([]);
      expect(spans).toEqual([...spans].sort((a, b) => a - b));
    }),
    { numRuns },
  );
});

test("RED-1 a value between any bytes does not come out of their base64, hex or percent-encoding", () => {
  const bytes = fc.string({ unit: "grapheme", maxLength: 20 });
  const encode = fc.constantFrom<(text: string) => string>(
    (text) => Buffer.from(text).toString("base64"),
    (text) => Buffer.from(text).toString("base64url"),
    (text) => Buffer.from(text).toString("hex"),
    encodeURIComponent,
    (text) => new URLSearchParams({ text }).toString(),
    (text) => JSON.stringify(text),
    (text) => encodeURIComponent(JSON.stringify({ text })),
    (text) => JSON.stringify({ text: encodeURIComponent(text) }),
  );
  const value = fc.string({ unit: "grapheme", minLength: 8, maxLength: 50 });
  const cases = fc.tuple(value, bytes, bytes, encode);
  fc.assert(
    fc.property(cases, ([value, before, after, encode]) => {
      fc.pre(value.trim() !== "");
      expect(createMasker([value]).text(encode(before + value + after))).toContain(MASK);
    }),
    { numRuns },
  );
});

/** JSON as others write it: other escapes, white space, and spellings of numbers. */
function strangely(value: unknown, pick: (n: number) => number): string {
  const space = () => ["", "", " ", "\n\t"][pick(4)] as string;
  const text = (text: string) =>
    `"${Array.from({ length: text.length }, (_, i) => {
      const unit = text.charAt(i);
      const code = `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`;
      return pick(6) === 0
        ? code
        : unit === "/" && pick(2)
          ? "\\/"
          : JSON.stringify(unit).slice(1, -1);
    }).join("")}"`;
  const write = (value: unknown): string => {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") {
      const forms = [JSON.stringify(value), value.toExponential(), `${JSON.stringify(value)}e0`];
      return forms[/e/.test(String(value)) ? 0 : pick(3)] as string;
    }
    if (Array.isArray(value))
      return `[${value.map((one) => space() + write(one) + space()).join()}]`;
    if (typeof value !== "object" || value === null) return String(value);
    const fields = Object.entries(value).map(
      ([key, one]) => `${space()}${text(key)}${space()}:${space()}${write(one)}`,
    );
    return `{${fields.join()}${space()}}`;
  };
  return space() + write(value) + space();
}

test("RED-1 JSON comes out as JSON, masked as its values are, however it is written", () => {
  const digits = fc.stringMatching(/^[1-9]\d{7,11}$/);
  const wellFormed = fc.oneof(narrow, word, digits, odd).filter((value) => value.isWellFormed());
  const cases = fc.array(wellFormed, { minLength: 1, maxLength: 5 }).chain((values) => {
    const patterns = values.flatMap(patternsOf);
    const text = fc.oneof(
      fc.constantFrom("", ...patterns, MASK),
      fc.stringMatching(/^[a-z0-9 "/\n]{0,20}$/),
      narrow,
    );
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
      fc.constantFrom(0, ...values.map(Number).filter(Number.isFinite)).map((number) => number + 0),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, text, number, fc.constant(null), tie("list"), tie("record")),
      list: fc.array(tie("tree"), { maxLength: 4 }),
      record: fc.dictionary(text, tie("tree"), { maxKeys: 5 }),
    }));
    return fc.record({
      values: fc.constant(values),
      patterns: fc.constant(patterns),
      value: tree,
      picks: fc.infiniteStream(fc.nat(1000)),
      isStrange: fc.boolean(),
    });
  });
  fc.assert(
    fc.property(cases, ({ values, patterns, value, picks, isStrange }) => {
      const pick = (n: number) => (picks.next().value as number) % n;
      const json = isStrange ? strangely(value, pick) : JSON.stringify(value);
      const masker = createMasker(values);
      const masked = masker.json(json);
      const parsed = JSON.parse(json);
      expect(JSON.stringify(JSON.parse(masked))).toBe(JSON.stringify(masker.value(parsed)));
      if (masker.count(parsed) === 0) expect(masked).toBe(json);
      // What is read back may be more than the slow search finds.
      if (/[%+\\]/.test(JSON.stringify(value))) return;
      expect(JSON.stringify(masker.value(parsed))).toBe(
        JSON.stringify(slowMaskValue(patterns, parsed)),
      );
    }),
    { numRuns },
  );
});
