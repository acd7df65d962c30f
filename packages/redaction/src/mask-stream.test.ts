/** `FUZZ_RUNS` sets how many streams the properties see. */
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { createMasker } from "./masker.ts";
import { slowSpans } from "./testing/slow-reference.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 300);
vi.setConfig({ testTimeout: 30_000 + numRuns * 20 });

const M = "***REDACTED***";

/** What is shown with each frame, and at the end. */
function shown(values: readonly string[], frames: readonly unknown[]): unknown[][] {
  const stream = createMasker(values).stream<{ readonly value: unknown }>();
  const steps = [...frames.map((value) => stream.push({ value })), stream.end()];
  return steps.map((step) => step.map(({ value }) => value));
}

test("RED-4 a value that is split over two frames is masked in both of them", () => {
  expect(shown(["hunter22"], ["pw: hunt", "er22, ok"])).toEqual([[], [`pw: ${M}`, ", ok"], []]);
});

test("RED-4 a value is masked that comes a few characters at a time, but for the first three", () => {
  const words = ["the key is ", "hun", "t", "er", "2", "2", " so ", "there"];
  const steps = [["the key is "], ["hun"], [], [], [], [M, "", "", ""], [" so "], ["there"], []];
  expect(shown(["hunter22"], words)).toEqual(steps);
  const bytes = ["%68", "%75", "%6", "E%74e%7", "2%32", "2"];
  expect(shown(["hunter22"], bytes).flat().join("")).toBe(`%68%75%6${M}`);
});

test("RED-4 a frame whose end only looked like a value is shown as it was, with the next one", () => {
  expect(shown(["hunter22"], ["hunt", "ing"])).toEqual([[], ["hunt", "ing"], []]);
  expect(shown(["hunter22"], ["hun", "ting"])).toEqual([["hun"], ["ting"], []]);
});

test("RED-4 a frame is held back to the end of the call at the longest, and then shown", () => {
  expect(shown(["hunter22"], ["a", "hunter2"])).toEqual([["a"], [], ["hunter2"]]);
});

test("RED-4 frames after the one that is held back wait, if they may go on with it", () => {
  const long = `${"x".repeat(100)}y`;
  const frames = ["x".repeat(50), "x".repeat(50), "y", "x"];
  expect(shown([long], frames)).toEqual([[], [], [M, "", ""], ["x"], []]);
  expect(shown([long], [...frames.slice(0, 2), "z"])).toEqual([
    [],
    [],
    [...frames.slice(0, 2), "z"],
    [],
  ]);
});

test("RED-4 the same text of frames that are objects is followed, with others in between", () => {
  const token = (token: string) => ({ type: "token", agent_name: "anna", token, list: [{ n: 1 }] });
  const frames = [token("hunt"), token("er22"), token("hunt"), { type: "usage" }, token("er22 ok")];
  expect(shown(["hunter22"], frames)).toEqual([
    [],
    [token(M), token("")],
    [],
    [token("hunt"), { type: "usage" }],
    [token(`${M} ok`)],
    [],
  ]);
});

test("RED-4 a frame is not held back by a text that has been shown", () => {
  const frames = [{ x: "hunt" }, { y: "a hunt" }, { x: "er2" }];
  expect(shown(["hunter22"], frames)).toEqual([
    [],
    [{ x: "hunt" }],
    [{ y: "a hunt" }],
    [{ x: "er2" }],
  ]);
});

test("RED-4 what a frame holds by itself is masked, whatever it continues", () => {
  const values = ["hunter22", "our-hunter22", "big-a-hunter22-zz"];
  expect(shown(values, ["the our-", "hunter22!"])).toEqual([[], [`the ${M}`, "!"], []]);
  expect(shown(values, ["big-", "a-hunter22-zz!"])).toEqual([[], [M, "!"], []]);
  // Together with what is before it, this would say something else.
  const before = "\\".repeat(3);
  expect(shown(values, [before, "\\u0068unter22"])).toEqual([[before], [M], []]);
});

test("RED-4 RED-1 frames are masked in keys and numbers, too, and keep what else they have", () => {
  const stream = createMasker(["hunter22", "12345678"]).stream<{ id: number; value: unknown }>();
  const plain = { id: 1, value: { a: 1 } };
  expect(stream.push(plain)[0]).toBe(plain);
  expect(stream.push({ id: 2, value: { hunter22: [12_345_678, 1, "a hunter22"] } })).toEqual([
    { id: 2, value: { [M]: [M, 1, `a ${M}`] } },
  ]);
});

test("RED-4 AUTH-11 the token of an engine is masked to its end, whichever frames that is in", () => {
  const secret = "AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKK";
  const frames = ["Bearer engine", "_sk_abcd", `efghij12_${secret.slice(0, 20)}`, secret.slice(20)];
  expect(shown([], [...frames, "Next"])).toEqual([
    [],
    [],
    [`Bearer ${M}`, "", ""],
    [M],
    ["Next"],
    [],
  ]);
  expect(shown([], ["the engine", " is on", "engine_", "version"])).toEqual([
    [],
    ["the engine", " is on"],
    [],
    ["engine_", "version"],
    [],
  ]);
});

test("RED-4 no more than a thousand frames are held back: what may be a value is masked instead", () => {
  const pieces = Array.from({ length: 1101 }, (_, i) => String(i).padStart(4, "x"));
  const stream = createMasker([pieces.join("")]).stream<{ value: unknown }>();
  const seen = pieces.slice(0, 1001).map((value) => stream.push({ value }).length);
  expect(seen.filter((count) => count > 0)).toEqual([1001]);
  const rest = pieces.slice(1001, 1100).flatMap((value) => stream.push({ value }));
  expect([...rest, ...stream.end()].map(({ value }) => value)).toEqual(pieces.slice(1001, 1100));
});

/** A text, cut into frames at any place. */
function cut(text: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [...at, text.length].map((to, i) => text.slice(at[i - 1] ?? 0, to));
}

const capitals = fc.stringMatching(/^[A-Z]{8,40}$/);
const beginnings = fc.stringMatching(/^[a-z]{8,40}$/);
const noise = fc.stringMatching(/^[a-z .]{0,12}$/);

test("RED-4 wherever values are cut, no more than three characters of one are shown, and all else is", () => {
  const cases = fc
    .tuple(
      fc.array(capitals, { minLength: 1, maxLength: 3 }),
      fc.array(beginnings, { maxLength: 3 }),
    )
    .chain(([values, others]) => {
      const begun = fc.nat(7).map((length) => (others[0] ?? "").slice(0, length));
      const part = fc.oneof(fc.constantFrom(...values), begun, noise);
      const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(""));
      return fc.record({
        values: fc.constant([...values, ...others]),
        others: fc.constant(others),
        text,
        places: fc.array(fc.nat(500), { maxLength: 40 }),
      });
    });
  fc.assert(
    fc.property(cases, ({ values, others, text, places }) => {
      fc.pre(!others.some((other) => text.includes(other)));
      const frames = cut(text, places);
      const seen = shown(values, frames).flat();
      const spans = slowSpans(values, text);
      expect(seen.length).toBe(frames.length);
      const left = seen.join("").replaceAll(M, "");
      const hidden = spans.reduce((sum, [start, end]) => sum + end - start, 0);
      const leaked = left.length - (text.length - hidden);
      expect(leaked).toBeGreaterThanOrEqual(0);
      expect(leaked).toBeLessThanOrEqual(3 * spans.length);
      if (spans.length === 0) expect(seen).toEqual(frames);
      // What is outside of values is shown whole.
      expect(left.replace(/[A-Z]/g, "")).toBe(text.replace(/[A-Z]/g, ""));
    }),
    { numRuns },
  );
});

test("RED-4 a value that is encoded is masked as well, wherever it is cut", () => {
  const value = fc.string({ unit: "grapheme", minLength: 8, maxLength: 40 });
  const encode = fc.constantFrom<(text: string) => string>(
    (text) => Buffer.from(text).toString("base64").replace(/=+$/, ""),
    (text) => Buffer.from(text).toString("hex"),
    (text) => encodeURIComponent(text),
    (text) => JSON.stringify(text).slice(1, -1),
  );
  const cases = fc.tuple(value, encode, fc.array(fc.nat(500), { maxLength: 20 }));
  fc.assert(
    fc.property(cases, ([value, encode, places]) => {
      fc.pre(value.trim() === value);
      const seen = shown([value], cut(`<${encode(value)}>`, places));
      const left = seen.flat().join("");
      expect(left.split(M).length).toBe(2);
      // Three characters are twelve bytes at most, and half a character of base64.
      expect(left.length).toBeLessThanOrEqual(M.length + 40);
    }),
    { numRuns },
  );
});
