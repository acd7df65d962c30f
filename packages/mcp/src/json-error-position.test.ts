import { expect, test } from "vitest";
import { jsonErrorPosition } from "./json-error-position.ts";

test.each([
  ["{a", 1],
  ['{"a":tru}', 5],
  ['{"a":true', 9],
  ["[1,", 3],
  ["[1,]", 3],
  ['"abc', 4],
  ['{"a":1}x', 7],
  ['["a\\x"]', 3],
  ["[01]", 2],
  ['{"a" 1}', 5],
  ["[1 2]", 3],
  ['["a\nb"]', 3],
  ['{"a":1,}', 7],
  ["{]", 1],
  ["[{}, {}}", 7],
  ["", 0],
  ["  ", 2],
  ['[[],{},"\\u00e9",-1.5e3, null, {"k":[true,false]}] ,', 50],
])("MCP-7 %j goes wrong at %i", (text, position) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(jsonErrorPosition(text)).toBe(position);
});
