import { expect, test } from "vitest";
import type { Commit } from "../evidence.ts";
import { limits } from "./limits.ts";
import { broken } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";

/** Claims of executions of one workflow, each at its moment, which nobody gives back. */
function judged(workflow: string, moments: readonly number[], over: object = {}) {
  return limits(
    broken((evidence) => {
      const [claim] = evidence.commits;
      evidence.commits.length = 0;
      for (const [i, moment] of moments.entries()) {
        const at = BEGAN + moment;
        const span = { began: at, settled: at };
        const row = { ...claim.row, workflow, ...over };
        evidence.commits.push({ ...claim, at, span, execution_id: `e${i}`, row } as never);
      }
    }),
  );
}

test("I16 as many as may have places may have them", () => {
  expect(judged("program", [1, 2, 3])).toEqual([]);
  expect(judged("seated_program", [1, 2])).toEqual([]);
});

test("I16 a claim with which there is one too many is found, but not one that unwinds", () => {
  expect(judged("seated_program", [1, 2, 3])).toMatchObject([
    { execution_id: "e2", message: expect.stringContaining("a place of 2, of which 2 are taken") },
  ]);
  const unwinding: Partial<Commit["row"]> = { state: "CANCELLING" };
  expect(judged("seated_program", [1, 2, 3], unwinding)).toEqual([]);
});

test("I16 more first claims in a time than may be are found", () => {
  expect(judged("counted_program", [0, 1_000, 2_000])).toMatchObject([
    { execution_id: "e1" },
    { execution_id: "e2" },
    { execution_id: "e2", message: expect.stringContaining("no more than 2 may in 5000 ms") },
  ]);
});
