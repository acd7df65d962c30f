import { expect, test } from "vitest";
import { noDivergence } from "./no-divergence.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("I8 calls that are what the log says are right", () => {
  expect(noDivergence(sampleEvidence())).toEqual([]);
});

test("I8 a divergence is found, since the code never changes", () => {
  const failure = { type: "NondeterminismError", code: "nondeterminism", message: "found another" };
  const evidence = broken(({ executions }) => {
    executions[1].row.failure = failure as never;
  });
  expect(noDivergence(evidence)).toMatchObject([{ execution_id: "e2" }]);
});

test("I8 a record that was used for another call is found", () => {
  const named = broken(({ bodies }) => {
    bodies[0].task = "plain";
  });
  expect(noDivergence(named)).toMatchObject([{ message: expect.stringContaining("ran as plain") }]);
  const placed = broken(({ bodies }) => {
    bodies[0].path = "r.9";
  });
  expect(noDivergence(placed)).toMatchObject([{ message: expect.stringContaining("ran for r.9") }]);
});

test("I8 one id with two kinds of calls, and one place with two ids, are found", () => {
  const kinds = broken(({ executions: [of] }) => {
    const outcome = of?.log[4];
    if (outcome) outcome.event.kind = "sleep";
  });
  expect(noDivergence(kinds)).toMatchObject([
    { message: expect.stringContaining("undoable~1 is") },
  ]);
  const twice = broken(({ executions: [of] }) => {
    const start = of?.log[3];
    if (start) of?.log.push({ ...start, event: { ...start.event, source_id: "undoable~2" } });
  });
  expect(noDivergence(twice)).toMatchObject([
    { message: "undoable~1 and undoable~2 are both the call at r.0" },
  ]);
});
