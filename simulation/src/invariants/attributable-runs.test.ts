import { expect, test } from "vitest";
import { attributableRuns } from "./attributable-runs.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";
import { BEGAN, WORKER } from "./testing/told.ts";

const again = {
  generation: 2,
  process: "w1-2",
  at: BEGAN + 30_000,
  clock: BEGAN + 30_000,
  latest_clock: BEGAN + 30_000,
};

test("I5 functions that ran once are right", () => {
  expect(attributableRuns(sampleEvidence())).toEqual([]);
});

test("I5 a function that ran again needs something that was broken between the two", () => {
  const unexplained = broken(({ bodies }) => bodies.push({ ...bodies[0], ...again }));
  expect(attributableRuns(unexplained)).toMatchObject([
    { execution_id: "e1", message: expect.stringContaining("although nothing was broken") },
  ]);
  const killed = broken(({ bodies, faults }) => {
    bodies.push({ ...bodies[0], ...again });
    const at = BEGAN + 2_000;
    faults.push({ kind: "kill_worker", at, until: at, worker: WORKER, server: null });
  });
  expect(attributableRuns(killed)).toEqual([]);
});

test("I5 what was broken at another worker explains nothing", () => {
  const evidence = broken(({ bodies, faults }) => {
    bodies.push({ ...bodies[0], ...again });
    faults.push({
      kind: "kill_worker",
      at: BEGAN + 2_000,
      until: null,
      worker: "w9",
      server: null,
    });
  });
  expect(attributableRuns(evidence)).toHaveLength(1);
});

test("I5 a request of a client that was lost explains nothing, one of its worker does", () => {
  const dropped = (worker: string | null) =>
    broken(({ bodies, faults }) => {
      bodies.push({ ...bodies[0], ...again });
      faults.push({ kind: "drop", at: BEGAN + 2_000, until: null, worker, server: "s1" });
    });
  expect(attributableRuns(dropped(null))).toHaveLength(1);
  expect(attributableRuns(dropped(WORKER))).toEqual([]);
});

test("I5 a function that had not returned runs again where its execution was held for its principal", () => {
  const held = (hold: boolean, how: "returned" | "aborted") =>
    broken(({ bodies, rights }) => {
      bodies.push({ ...bodies[0], ...again });
      bodies[0].end = { at: BEGAN + 1_009, how, value: "result of r.0" };
      const of = { process: "w1-1", execution_id: "e1", generation: 1, is_sure: false };
      rights.push({ at: BEGAN + 1_006, hold, ...of });
    });
  expect(attributableRuns(held(true, "aborted"))).toEqual([]);
  expect(attributableRuns(held(false, "aborted"))).toHaveLength(1);
  expect(attributableRuns(held(true, "returned"))).toHaveLength(1);
});

test("I5 a function that was entered twice under one generation is found", () => {
  const evidence = broken(({ bodies }) => bodies.push({ ...bodies[0], ...again, generation: 1 }));
  expect(attributableRuns(evidence)).toMatchObject([
    { message: expect.stringContaining("twice under one generation") },
  ]);
});

test("I5 more attempts than the task makes are found", () => {
  const evidence = broken(({ bodies }) => bodies.push({ ...bodies[0], attempt: 3 }));
  expect(attributableRuns(evidence)).toMatchObject([
    { message: expect.stringContaining("makes 2") },
  ]);
});

test("I5 a recorded output that no function returned is found", () => {
  const never = broken(({ bodies }) => {
    bodies[0].end = null;
  });
  expect(attributableRuns(never)).toMatchObject([
    { message: "undoable~1 is recorded at event 5, and none of its functions returned" },
  ]);
  const other = broken(({ bodies: [body] }) => {
    if (body?.end) body.end.value = "another";
  });
  expect(attributableRuns(other)).toMatchObject([
    { message: expect.stringContaining("another value") },
  ]);
});
