import { Client } from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { startTestPostgres } from "../../testing/test-postgres.ts";
import { binaryArray, type Element, type ElementType } from "./binary-array.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

/** The values of a list, each as the database writes it. */
async function asText(type: ElementType, values: readonly Element[]): Promise<unknown[]> {
  const client = new Client({ connectionString: await postgres.createDatabase() });
  await client.connect();
  onTestFinished(() => client.end());
  const sql = `SELECT value::text FROM unnest($1::${type}[]) AS value`;
  const { rows } = await client.query(sql, [binaryArray(type, values)]);
  return rows.map(({ value }) => value);
}

test.each([
  ["text", ["", "a", null, 'quoted "\\" {,}', "NULL", "é€😀", "line\nline\u0001"]],
  ["smallint", [0, 1, -1, null, 2 ** 15 - 1, -(2 ** 15)]],
  ["integer", [0, 1, -1, null, 2 ** 31 - 1, -(2 ** 31)]],
  ["bigint", [0, 1, -1, null, 2 ** 32, -(2 ** 32) - 1, 1_795_255_389_006]],
  ["bigint", [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 31, -(2 ** 31)]],
  ["xid", [3, null, 2 ** 31, 2 ** 32 - 1]],
  ["text", []],
] satisfies [ElementType, Element[]][])("a list of %s arrives as it is", async (type, values) => {
  const expected = values.map((value) => (value === null ? null : String(value)));
  expect(await asText(type, values)).toEqual(expected);
});

test("a number that its type cannot hold is refused", () => {
  expect(() => binaryArray("smallint", [2 ** 15])).toThrow(RangeError);
  expect(() => binaryArray("integer", [2 ** 31])).toThrow(RangeError);
  expect(() => binaryArray("bigint", [2 ** 63])).toThrow(RangeError);
});

test("half of a surrogate pair is refused, and does not become another character", () => {
  expect(() => binaryArray("text", ["\ud800"])).toThrow(/surrogate/);
});
