import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import * as z from "zod";
import { linearTest, nativeTest } from "./pattern-test.ts";

vi.setConfig({ testTimeout: 60_000 });

const atoms = fc.constantFrom("a", "b", ".", "\\d", "\\w", "[ab]", "[^a]", "\\u0061", "\\x62", "é");
const grown = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    atoms,
    fc
      .tuple(tie("any"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "*?"))
      .map(([inner, times]) => `(?:${inner})${times}`),
    fc.tuple(tie("any"), tie("any")).map(([a, b]) => a + b),
    fc.tuple(tie("any"), tie("any")).map(([a, b]) => `(${a}|${b})`),
    tie("any").map((inner) => `^${inner}$`),
  ),
})).any;
const texts = fc.string({
  unit: fc.constantFrom("a", "b", "1", "_", "é", "-", "\n"),
  maxLength: 8,
});

test("EXE-83 patterns mean the same in time that grows with the text", () => {
  fc.assert(
    fc.property(grown, texts, (pattern, text) => {
      expect(linearTest(pattern)(text)).toBe(nativeTest(pattern)(text));
    }),
    { numRuns: 500 },
  );
});

test.each(
  Object.entries(z.regexes).flatMap(([name, pattern]) =>
    pattern instanceof RegExp ? [[name, pattern.source] as const] : [],
  ),
)("EXE-83 the pattern of zod's %s means the same", (_name, pattern) => {
  const [linear, native] = [linearTest(pattern), nativeTest(pattern)];
  for (const text of [
    "",
    "a@b.co",
    "a..b@c.de",
    "2026-11-23",
    "2026-11-23T10:00:00Z",
    "5f0e6c1a-8f58-4c52-b9a0-0a1c8f6a2d11",
    "192.168.0.1",
    "::1",
    "+4915112345678",
    "YWJj",
    "x".repeat(200),
  ]) {
    expect(linear(text)).toBe(native(text));
  }
});

test("EXE-83 what a backtracking engine never answers is answered", () => {
  for (const pattern of ["^(a+)+$", "^(a|a)*$", "^(a*)*b$", "(.*)*x$"]) {
    expect(linearTest(pattern)(`${"a".repeat(5_000)}!`)).toBe(false);
  }
  expect(linearTest("^(a+)+$")("a".repeat(5_000))).toBe(true);
});
