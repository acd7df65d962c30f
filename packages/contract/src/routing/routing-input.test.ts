import { expect, test } from "vitest";
import { checkRoutingInput, parseRoutingInput, type RoutingInputFault } from "./routing-input.ts";

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
const nested = (depth: number): unknown => (depth === 1 ? {} : { a: nested(depth - 1) });
const sized = (bytes: number) => JSON.stringify({ a: "x".repeat(bytes - 8) });

test("RIN-2 an object of text, numbers, booleans, null and objects of these is taken as it is", () => {
  const value = { gpu: "a100", n: -1.5e3, yes: true, none: null, deep: { of: { "a b": "ü" } } };
  expect(parseRoutingInput(JSON.stringify(value))).toEqual({ value });
  expect(checkRoutingInput(value)).toEqual({ value });
  expect(parseRoutingInput("{}")).toEqual({ value: {} });
});

test("RIN-2 the largest, the widest and the deepest are taken", () => {
  for (const text of [sized(4_096), JSON.stringify(keys(64)), JSON.stringify(nested(8))]) {
    expect(parseRoutingInput(text)).toEqual({ value: JSON.parse(text) });
    expect(checkRoutingInput(JSON.parse(text))).toEqual({ value: JSON.parse(text) });
  }
});

test.each<[RoutingInputFault, string]>([
  ["malformed", ""],
  ["malformed", "{"],
  ["malformed", "{'a':1}"],
  ["malformed", '{"a":1}{"a":1}'],
  ["malformed", '{"a":NaN}'],
  ["malformed", '{"a":1}, {"a":2}'],
  ["not_object", "null"],
  ["not_object", "[]"],
  ["not_object", '"a"'],
  ["not_object", "1"],
  ["too_large", sized(4_097)],
  ["too_large", JSON.stringify({ a: "ü".repeat(2_045) })],
  ["too_many_keys", JSON.stringify(keys(65))],
  ["too_many_keys", JSON.stringify({ a: keys(32), b: keys(31) })],
  ["too_deep", JSON.stringify(nested(9))],
  ["bad_key", '{"":1}'],
  ["bad_key", '{"a.b":1}'],
  ["bad_key", '{"a":{"b":{".":1}}}'],
  ["bad_value", '{"a":[1]}'],
  ["bad_value", '{"a":{"b":[]}}'],
  ["bad_value", '{"a":1e999}'],
])("RIN-2 %s: %.40s", (reason, text) => {
  expect(parseRoutingInput(text)).toEqual({ reason });
});

test.each<[RoutingInputFault, unknown]>([
  ["not_object", undefined],
  ["not_object", new Date(0)],
  ["not_object", new Map([["a", 1]])],
  ["not_object", () => 1],
  ["too_large", { a: "x".repeat(4_096) }],
  ["bad_value", { a: undefined }],
  ["bad_value", { a: Number.NaN }],
  ["bad_value", { a: Number.POSITIVE_INFINITY }],
  ["bad_value", { a: 1n }],
  ["bad_value", { a: new Date(0) }],
  ["bad_value", { toJSON: () => ({}) }],
  ["too_deep", cyclic()],
])("RIN-2 a value that did not come from JSON is refused as %s", (reason, value) => {
  expect(checkRoutingInput(value)).toEqual({ reason });
});

test("RIN-2 half a surrogate pair counts as the character that stands for it", () => {
  expect(parseRoutingInput(`{"a":"${"\ud800".repeat(1_363)}"}`)).toEqual({ reason: "too_large" });
  expect(parseRoutingInput(`{"a":"${"\ud800".repeat(1_362)}"}`)).toHaveProperty("value");
});

test("RIN-2 a key named __proto__ is a key like others", () => {
  const { value = expect.unreachable() } = parseRoutingInput('{"__proto__":{"gpu":"a100"}}');
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect(JSON.stringify(value)).toBe('{"__proto__":{"gpu":"a100"}}');
  expect(value["gpu"]).toBeUndefined();
});

test("RIN-2 of a key that is given twice the last value counts, as everywhere in JSON", () => {
  expect(parseRoutingInput('{"a":1,"a":2}')).toEqual({ value: { a: 2 } });
});

function cyclic(): unknown {
  const value: Record<string, unknown> = {};
  value["a"] = value;
  return value;
}
