import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { inTurn, isTargetMissing } from "./in-turn.ts";

/** Registers files that each need others first; what was tried, and what came of each. */
async function registered(needs: Readonly<Record<string, readonly string[]>>) {
  const done = new Set<string>();
  const tried: string[] = [];
  const outcomes = await inTurn(
    Object.keys(needs),
    async (path) => {
      tried.push(path);
      const isReady = (needs[path] ?? []).every((other) => done.has(other));
      if (isReady) done.add(path);
      return { path, isReady };
    },
    ({ isReady }) => !isReady,
  );
  return { tried: tried.join(""), settled: outcomes.map(({ path }) => path).join("") };
}

test("HOOK-50 a file whose hook runs what a later file has is registered behind that", async () => {
  expect(await registered({ a: ["b"], b: [] })).toEqual({ tried: "aba", settled: "ba" });
  expect(await registered({ a: ["b"], b: ["c"], c: [] })).toMatchObject({ settled: "cba" });
});

test("HOOK-50 what no file has is not waited for", async () => {
  expect(await registered({ a: ["x"] })).toEqual({ tried: "a", settled: "a" });
  expect(await registered({ a: ["x"], b: [] })).toEqual({ tried: "aba", settled: "ba" });
});

test("only a missing target is worth another try", () => {
  expect(isTargetMissing(new EngineError("target_not_found", "no"))).toBe(true);
  expect(isTargetMissing(new EngineError("not_found", "no"))).toBe(false);
  expect(isTargetMissing(undefined)).toBe(false);
});
