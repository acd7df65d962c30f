import { expect, test } from "vitest";
import { progressToRest } from "./progress-to-rest.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("I17 a run in which everything ended is right", () => {
  expect(progressToRest(sampleEvidence())).toEqual([]);
});

test("I17 an execution that nobody goes on with is found", () => {
  const queued = broken(({ executions }) => {
    executions[0].row.state = "RESUMING";
  });
  expect(progressToRest(queued)).toMatchObject([{ execution_id: "e1" }]);
  const owned = broken(({ executions: [of] }) => {
    if (of) [of.row.state, of.row.session, of.row.worker] = ["CLAIMED", "s", "w1"];
  });
  expect(progressToRest(owned)).toMatchObject([
    { message: "it is CLAIMED with w1, waiting for nothing" },
  ]);
});

test("I17 one that nobody was meant to answer may wait, unless its own time has come", () => {
  const waiting = (wake_at: number | null) =>
    broken((evidence) => {
      evidence.executions[0].row.state = "PAUSED";
      evidence.executions[0].row.wake_at = wake_at;
      evidence.abandoned.push("e1");
    });
  expect(progressToRest(waiting(null))).toEqual([]);
  expect(progressToRest(waiting(1))).toMatchObject([{ message: expect.stringContaining("woken") }]);
});

test("I17 an ended execution that a server would wake is found, and so is a run without rest", () => {
  const woken = broken(({ executions }) => {
    executions[0].row.wake_at = 1;
  });
  expect(progressToRest(woken)).toHaveLength(1);
  const stuck = broken((evidence) => {
    evidence.stuck = "one request is open";
  });
  expect(progressToRest(stuck)).toMatchObject([{ execution_id: null }]);
});
