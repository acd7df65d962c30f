import { expect, test } from "vitest";
import { MemoryRows } from "../testing/memory-rows.ts";
import { isParked, patched, withLazyInput } from "./execution-row.ts";

test("EXE-22 applying a change to a row does not read an input that its store has not read yet", () => {
  const row = new MemoryRows().create();
  let reads = 0;
  const lazy = withLazyInput({ ...row }, () => {
    reads++;
    return "large";
  });
  const after = patched(lazy, { state: "CLAIMED", head: 2 });
  expect(reads).toBe(0);
  expect(after).toMatchObject({ state: "CLAIMED", head: 2, input: "large" });
  expect(reads).toBe(1);
  expect(patched(after, { head: 3 }).input).toBe("large");
  expect(lazy.state).toBe("CREATED");
  expect(patched(row, { head: 5 })).toEqual({ ...row, head: 5 });
});

test("EXE-17 parked is PAUSED or RUNNING without an owner", () => {
  expect(isParked({ state: "PAUSED", session: null })).toBe(true);
  expect(isParked({ state: "RUNNING", session: null })).toBe(true);
  expect(isParked({ state: "RUNNING", session: "s1" })).toBe(false);
  expect(isParked({ state: "CREATED", session: null })).toBe(false);
  expect(isParked({ state: "CANCELLING", session: null })).toBe(false);
});
