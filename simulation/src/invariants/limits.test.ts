import { expect, test } from "vitest";
import type { Commit, LimitDefined } from "../evidence.ts";
import { limits } from "./limits.ts";
import { broken } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";

/** Claims of executions of one workflow, each at its moment, which nobody gives back. */
function judged(
  workflow: string,
  moments: readonly number[],
  {
    defined = [],
    wheres = [],
    ...over
  }: Partial<Commit["row"]> & {
    readonly defined?: readonly LimitDefined[];
    readonly wheres?: readonly object[];
  } = {},
) {
  return limits(
    broken((evidence) => {
      const [claim] = evidence.commits;
      const [first] = evidence.executions;
      evidence.commits.length = 0;
      evidence.limits.push(...(defined as typeof evidence.limits));
      for (const [i, where] of wheres.entries()) {
        const input = { ...(first.row.input as object), where };
        const row = { ...first.row, execution_id: `e${i}`, workflow, input };
        evidence.executions[i] = { ...first, row } as never;
      }
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
  expect(judged("seated_program", [1, 2, 3], { state: "CANCELLING" })).toEqual([]);
});

test("I16 more first claims in a time than may be are found", () => {
  expect(judged("counted_program", [0, 1_000, 2_000])).toMatchObject([
    { execution_id: "e1" },
    { execution_id: "e2" },
    { execution_id: "e2", message: expect.stringContaining("no more than 2 may in 5000 ms") },
  ]);
});

test("I16 FLW-4 each value of a key has places of its own, and what has none shares them", () => {
  const zones = (...values: readonly (string | number | undefined)[]) => ({
    wheres: values.map((zone, i) => ({ zone, hidden: { disk: `d${i}` } })),
  });
  expect(judged("keyed_program", [1, 2], zones("a", "b"))).toEqual([]);
  expect(judged("keyed_program", [1, 2], zones("a", undefined))).toEqual([]);
  const message = expect.stringContaining("a place of 1, of which 1 are taken");
  expect(judged("keyed_program", [1, 2], zones(1, "1"))).toMatchObject([{ message }]);
  expect(judged("keyed_program", [1, 2], zones(undefined, undefined))).toMatchObject([{ message }]);
});

test("I16 FLW-2 a rate with a key counts those of each value, however they are told", () => {
  const disks = (...values: readonly string[]) => ({
    wheres: values.map((disk, i) => ({ zone: i, hidden: { disk } })),
  });
  expect(judged("keyed_program", [1, 2], disks("ssd", "hdd"))).toEqual([]);
  expect(judged("keyed_program", [1, 2], disks("ssd", "ssd"))).toMatchObject([
    { execution_id: "e1", message: expect.stringContaining("no more than 1 may in 5000 ms") },
  ]);
});

/** What operators allow from a moment on. */
function allowed(
  moment: number,
  definition: LimitDefined["definition"],
  settled = moment,
): LimitDefined {
  const [at, span] = [BEGAN + moment, { began: BEGAN + moment, settled: BEGAN + settled }];
  return { at, span, name: "crew", definition };
}

const two = { concurrency: 2, rate: null };
const one = { concurrency: 1, rate: null };

test("I16 FLW-3 a claim goes by what operators had said by then: what is lowered stops nobody", () => {
  expect(judged("shared_program", [1, 2], { defined: [allowed(0, two)] })).toEqual([]);
  expect(judged("shared_program", [1, 2], { defined: [allowed(0, two), allowed(3, one)] })).toEqual(
    [],
  );
  const lowered = { defined: [allowed(0, two), allowed(3, one)] };
  expect(judged("shared_program", [1, 2, 4], lowered)).toMatchObject([
    { execution_id: "e2", message: expect.stringContaining("a place of 1, of which 2 are taken") },
  ]);
  // Said in the same moment: it may have been claimed before.
  const meanwhile = { defined: [allowed(0, two), allowed(1, one, 5)] };
  expect(judged("shared_program", [1, 2], meanwhile)).toEqual([]);
});

test("I16 FLW-3 a claim under a name that is not defined, or defined as none, is found", () => {
  const message = expect.stringContaining("a place of 0");
  expect(judged("shared_program", [1])).toMatchObject([{ message }]);
  const deleted = { defined: [allowed(0, two), allowed(1, null)] };
  expect(judged("shared_program", [2], deleted)).toMatchObject([{ message }]);
  const none = { defined: [allowed(0, { concurrency: 0, rate: null })] };
  expect(judged("shared_program", [2], none)).toMatchObject([{ message }]);
  const many = { defined: [allowed(0, { concurrency: null, rate: null })] };
  expect(judged("shared_program", [1, 2, 3], many)).toEqual([]);
});

test("I16 FLW-3 a rate of operators counts what began since they said so", () => {
  const slow = { concurrency: null, rate: { count: 1, period_ms: 5_000 } };
  expect(judged("shared_program", [1, 2_000], { defined: [allowed(0, slow)] })).toMatchObject([
    { execution_id: "e1", message: expect.stringContaining("no more than 1 may in 5000 ms") },
  ]);
  const later = { defined: [allowed(0, { concurrency: null, rate: null }), allowed(1_000, slow)] };
  expect(judged("shared_program", [1, 2_000], later)).toEqual([]);
});
