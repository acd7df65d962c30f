import { EngineError, type Json } from "@engine/contract";
import { expect, test } from "vitest";
import { executionOf, inputOf, type ToolArguments } from "./tool-arguments.ts";

/** The issue that a call is refused for. */
function issueOf(read: () => unknown): unknown {
  try {
    read();
  } catch (error) {
    if (error instanceof EngineError) return error.details?.["issues"];
    throw error;
  }
  return undefined;
}

const fields = { type: "object", properties: { a: { type: "string" }, b: { type: "number" } } };

test("MCP-6 fields are posted as they came, and what was left out stays out", () => {
  const given = { a: "x", more: { deep: [1, null] } };
  expect(inputOf(given, fields)).toStrictEqual(given);
  expect(inputOf({}, fields)).toStrictEqual({});
});

test("MCP-6 one parameter is posted as its value, and null where it may be left out", () => {
  expect(inputOf({ input: "5" }, { type: "string" })).toBe("5");
  expect(inputOf({ input: [1] }, { type: "array" })).toEqual([1]);
  expect(inputOf({}, { type: ["string", "null"] })).toBeNull();
});

test("MCP-5 MCP-6 a parameter that is missing or unknown is refused by its name", () => {
  expect(issueOf(() => inputOf({}, { type: "string" }))).toEqual([
    { path: "input", message: "expected a value, which is missing" },
  ]);
  expect(issueOf(() => inputOf({ value: 1 }, null))).toEqual([
    { path: "value", message: "is unknown; the tool takes input" },
  ]);
});

test("MCP-5 MCP-6 whether a value fits the workflow's schema is not judged here", () => {
  expect(inputOf({ input: 7 }, { type: "string" })).toBe(7);
  expect(inputOf({ a: 7 }, fields)).toEqual({ a: 7 });
});

test.each<[Json | undefined, Json]>([
  [undefined, null],
  ["", null],
  ["  ", null],
  ["null", null],
  [null, null],
  ['{"a":[1]}', { a: [1] }],
  [" [1] ", [1]],
  ["5", 5],
  ["true", true],
  ['"5"', "5"],
  ["hello", "hello"],
  [" 5 apples", " 5 apples"],
  [{ a: 1 }, { a: 1 }],
])("MCP-7 a generic input %j is posted as %j", (input, posted) => {
  const given: ToolArguments = input === undefined ? {} : { input };
  expect(inputOf(given, null)).toEqual(posted);
  expect(executionOf({ ...given, execution_id: "e1" }, true).input).toEqual(posted);
});

test.each([
  ['{"a":1', 6],
  ["[1,]", 3],
  ['"open', 5],
  [" {a}", 2],
])("MCP-7 %j looks like JSON and is none: the refusal says where", (input, position) => {
  const issues = [{ path: "input", message: `is not JSON: it goes wrong at position ${position}` }];
  expect(issueOf(() => inputOf({ input }, null))).toEqual(issues);
});

test("NET-1 MCP-5 what is nested deeper than the engine takes is refused before anything recursive sees it", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  const path = "input";
  const issues = [{ path, message: "is nested deeper than 128 levels" }];
  expect(inputOf({ input: nested(128) }, null)).toEqual(JSON.parse(nested(128)));
  for (const input of [nested(129), nested(100_000), JSON.parse(nested(129))]) {
    expect(issueOf(() => inputOf({ input }, null))).toEqual(issues);
    expect(issueOf(() => executionOf({ execution_id: "e1", input }, true))).toEqual(issues);
  }
  expect(issueOf(() => inputOf({ input: JSON.parse(nested(129)) }, { type: "array" }))).toEqual(
    issues,
  );
  const fields = { type: "object", properties: { a: {} } } as const;
  expect(issueOf(() => inputOf({ a: JSON.parse(nested(128)) }, fields))).toEqual([
    { ...issues[0], path: "arguments" },
  ]);
});

test("MCP-1 MCP-5 a tool about an execution needs its id", () => {
  expect(executionOf({ execution_id: "e1" }, false)).toEqual({ execution_id: "e1", input: null });
  expect(issueOf(() => executionOf({}, true))).toMatchObject([{ path: "execution_id" }]);
  expect(issueOf(() => executionOf({ execution_id: 7 }, false))).toMatchObject([
    { path: "execution_id" },
  ]);
  expect(issueOf(() => executionOf({ execution_id: "e1", input: "1" }, false))).toMatchObject([
    { path: "input" },
  ]);
});
