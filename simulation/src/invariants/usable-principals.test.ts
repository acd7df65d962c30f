import { engineFailure } from "@engine/contract";
import { expect, test } from "vitest";
import type { Evidence, PrincipalChange } from "../evidence.ts";
import { broken, type Draft, sampleEvidence } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";
import { usablePrincipals } from "./usable-principals.ts";

const ADA = "ada";
/** The body of the first execution is entered 1,005 ms after the beginning, under generation 1. */
const ENTERED = BEGAN + 1_005;
const OF_BODY = { process: "w1-1", execution_id: "e1", generation: 1 };
const SENT = { server: "s1", worker: "w1", execution_id: "e1", generation: 1 };

const disabled = (at: number): PrincipalChange => ({
  ...{ at, principal: ADA, enabled: false, banned: false, has_role: true },
});
const enabled = (at: number): PrincipalChange => ({ ...disabled(at), enabled: true });

/** A run in which all executions have the rights of one principal. */
function ofAda(edit: (evidence: Draft<Evidence>) => void): Evidence {
  return broken((evidence) => {
    for (const { row } of evidence.commits) row.run_as = ADA;
    edit(evidence);
  });
}

test("I20 executions whose principals stay usable are right", () => {
  expect(usablePrincipals(sampleEvidence())).toEqual([]);
  expect(usablePrincipals(ofAda(({ principals }) => principals.push(enabled(BEGAN))))).toEqual([]);
});

test("I20 an execution that is given out 2 s after its principal was disabled is found", () => {
  const at = BEGAN + 900;
  const givenOut = (changes: readonly PrincipalChange[]) =>
    ofAda(({ assignments, principals, bodies }) => {
      bodies.length = 0;
      assignments.push({ at, ...SENT });
      principals.push(...changes);
    });
  const late = givenOut([disabled(at - 2_001)]);
  expect(usablePrincipals(late).map(({ message }) => message)).toEqual([
    expect.stringContaining("s1 gave it to w1"),
  ]);
  const noRole = givenOut([{ ...enabled(at - 2_001), has_role: false }]);
  expect(usablePrincipals(noRole)).toHaveLength(1);
  expect(usablePrincipals(givenOut([disabled(at - 1_999)]))).toEqual([]);
  expect(usablePrincipals(givenOut([disabled(at - 9_000), enabled(at - 1)]))).toEqual([]);
  const twice = givenOut([disabled(at - 9_000), disabled(at - 1), enabled(at + 1)]);
  expect(usablePrincipals(twice)).toHaveLength(1);
});

test("I20 a task that begins long after its principal was disabled is found, unless its worker was cut off", () => {
  const begun = (before: number, edit: (evidence: Draft<Evidence>) => void = () => {}) =>
    ofAda((evidence) => {
      for (const commit of evidence.commits) if (commit.at < ENTERED) commit.at -= 10_000;
      evidence.principals.push(disabled(ENTERED - before));
      evidence.bodies.length = 1;
      edit(evidence);
    });
  expect(usablePrincipals(begun(2_300))).toMatchObject([
    { execution_id: "e1", message: expect.stringContaining("w1 entered undoable~1") },
  ]);
  expect(usablePrincipals(begun(2_200))).toEqual([]);
  const slowly = begun(2_300, (evidence) => {
    evidence.longest_message = 100;
  });
  expect(usablePrincipals(slowly)).toEqual([]);
  const fault = { kind: "cut", at: ENTERED - 5_000, until: null, server: "s1" } as const;
  const cutOff = (worker: string) =>
    begun(2_300, ({ faults }) => faults.push({ ...fault, worker }));
  expect(usablePrincipals(cutOff("w1"))).toEqual([]);
  expect(usablePrincipals(cutOff("w2"))).toHaveLength(1);
  const taken = begun(2_300, ({ commits }) => {
    commits[0].row.run_as = "bob";
    commits[0].at = ENTERED - 1_000;
  });
  expect(usablePrincipals(taken)).toEqual([]);
});

test("I20 a function that undoes something may run for a principal that is disabled", () => {
  const undone = ofAda((evidence) => {
    evidence.principals.push(disabled(BEGAN + 1_006));
    evidence.bodies = evidence.bodies.filter(({ part }) => part === "rollback") as never;
  });
  expect(undone.bodies).toHaveLength(1);
  expect(usablePrincipals(undone)).toEqual([]);
});

test("I20 a task that begins although its worker was told that nothing is to begin is found", () => {
  const told = (...words: readonly (readonly [at: number, hold: boolean])[]) =>
    ofAda(({ rights }) => {
      for (const [at, hold] of words) rights.push({ at, hold, is_sure: true, ...OF_BODY });
    });
  expect(usablePrincipals(told([ENTERED - 251, true]))).toMatchObject([
    { execution_id: "e1", message: expect.stringContaining("that nothing is to begin") },
  ]);
  expect(usablePrincipals(told([ENTERED - 249, true]))).toEqual([]);
  expect(usablePrincipals(told([ENTERED - 900, true], [ENTERED - 1, true]))).toHaveLength(1);
  expect(usablePrincipals(told([ENTERED - 900, true], [ENTERED - 1, false]))).toEqual([]);
  // A poll that was answered may have been given up.
  const polled = ofAda(({ rights }) => {
    rights.push({ at: ENTERED - 900, hold: true, is_sure: false, ...OF_BODY });
  });
  expect(usablePrincipals(polled)).toEqual([]);
});

test("I20 a call that is refused, and an end for want of the principal, are found", () => {
  const refused = ofAda(({ executions }) => {
    const failure = engineFailure("TaskNotAuthorizedError", "it may not");
    const { event } = executions[0].log[4];
    Object.assign(event, { type: "TASK_FAILED", value: failure });
  });
  expect(usablePrincipals(refused)).toMatchObject([
    { message: "event 5 refuses undoable~1, which its principal may do while it is usable" },
  ]);
  const givenUp = ofAda(({ executions }) => {
    const details = { code: "principal_unavailable" };
    const failure = engineFailure("ParkTimeoutError", "nobody came", { details });
    executions[0].row.failure = failure as never;
  });
  expect(usablePrincipals(givenUp)).toMatchObject([
    { message: "its principal is back: nobody came" },
  ]);
});
