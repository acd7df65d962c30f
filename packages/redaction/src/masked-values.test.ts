import { expect, test } from "vitest";
import { maskedValuesOf } from "./masked-values.ts";

test("RED-1 texts of 8 characters and numbers of 8 digits are masked, wherever in a secret they are", () => {
  const secret = {
    "a long name of a field": "hunter22",
    list: ["1234567", "12345678", { deep: "postgres://user@host" }],
    port: 5432,
    pin: 12_345_678,
    below: -98_765_432.5,
    rate: 0.25,
    on: true,
    none: null,
  };
  expect(maskedValuesOf(secret)).toEqual([
    "hunter22",
    "12345678",
    "postgres://user@host",
    "98765432.5",
  ]);
});

test.each([
  ["short", []],
  ["hunter22", ["hunter22"]],
  ["  hunter22\n", ["  hunter22\n"]],
  [" \n\t \n\t \n", []],
  [1_234_567, []],
  [12_345_678, ["12345678"]],
  [1.234_567_8, ["1.2345678"]],
  [1e21, []],
  [1.234_567_8e25, ["1.2345678e+25"]],
  [1.234_567e-10, []],
  [true, []],
  [[], []],
  [["hunter22", "hunter22"], ["hunter22"]],
])("SEC-5 RED-1 of the secret %j these values are masked: %j", (secret, values) => {
  expect(maskedValuesOf(secret)).toEqual(values);
});

test("RED-1 the values of a secret are found however deep they are nested", () => {
  const depth = 20_000;
  const secret = JSON.parse(`${"[".repeat(depth)}"hunter22"${"]".repeat(depth)}`);
  expect(maskedValuesOf(secret)).toEqual(["hunter22"]);
});
