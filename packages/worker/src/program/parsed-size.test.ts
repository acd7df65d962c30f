import { expect, test } from "vitest";
import { parsedSize } from "./parsed-size.ts";

const many = (one: string, times = 1000) => `[${Array(times).fill(one).join()}]`;

test.each([
  ["numbers", "1", 8],
  ["lists", "[]", 40],
  ["objects", "{}", 64],
  ["objects in lists", "[{}]", 96],
])("each of many %s is counted with what V8 keeps for it", (_, one, bytes) => {
  expect(parsedSize(many(one)) / 1000).toBeCloseTo(bytes, 0);
});

test("what stands in a string is a text, whatever it looks like", () => {
  const text = "{[,".repeat(1000);
  expect(parsedSize(JSON.stringify(text))).toBeLessThan(3 * text.length);
  const quoted = JSON.stringify(`"\\"${text}\\\\"`);
  expect(parsedSize(quoted)).toBeLessThan(3 * text.length);
  // Behind the string it counts again.
  expect(parsedSize(`[${quoted},{}]`) - parsedSize(`[${quoted}]`)).toBe(64);
  expect(parsedSize(`["\\\\",{}]`) - parsedSize(`["\\\\"]`)).toBe(64);
});

test("half a text is no reason to hang", () => {
  expect(parsedSize('["half')).toBeGreaterThan(0);
});
