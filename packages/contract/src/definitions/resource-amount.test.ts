import { expect, test } from "vitest";
import { parseResourceAmount } from "./resource-amount.ts";

test.each([
  [0, 0],
  [-0, 0],
  [1536, 1536],
  ["512B", 512],
  ["1.5KB", 1_500],
  ["2MB", 2_000_000],
  ["3GB", 3_000_000_000],
  ["1TB", 1_000_000_000_000],
  ["1KiB", 1_024],
  ["1.5MiB", 1_572_864],
  ["16GiB", 17_179_869_184],
  ["16 GiB", 17_179_869_184],
  ["1TiB", 1_099_511_627_776],
])("RES-1 an amount may be %j: %i bytes", (text, bytes) => {
  expect(parseResourceAmount(text)).toBe(bytes);
});

test.each([
  "",
  "GiB",
  "16",
  "16gib",
  "16GB ",
  "-1GB",
  "1e3MB",
  "1PB",
  -1,
  1.5,
  Number.NaN,
  Number.MAX_VALUE,
  null,
  {},
])("RES-1 %j is no amount", (text) => {
  expect(parseResourceAmount(text)).toBeUndefined();
});
