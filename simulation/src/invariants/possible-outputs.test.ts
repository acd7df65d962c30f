import { expect, test } from "vitest";
import { possibleOutputs } from "./possible-outputs.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("an execution that ended as its program can is right", () => {
  expect(possibleOutputs(sampleEvidence())).toEqual([]);
});

test("an output that the program cannot have is found", () => {
  const evidence = broken(({ executions }) => {
    executions[0].row.output = ["another"];
  });
  expect(possibleOutputs(evidence)).toMatchObject([{ invariant: "output", execution_id: "e1" }]);
});

test("a failure that the program cannot have is found, one that the engine makes is not judged", () => {
  const failed = (type: string, code: string | null) =>
    broken(({ executions: [of] }) => {
      const details = {
        retryable: false,
        details: null,
        cause: null,
        attempts: 1,
        task_call_id: null,
      };
      if (of)
        [of.row.state, of.row.failure] = ["FAILED", { type, code, message: "no", ...details }];
    });
  expect(possibleOutputs(failed("Error", null))).toMatchObject([{ execution_id: "e1" }]);
  expect(possibleOutputs(failed("WorkerCrashLoopError", "crash_loop"))).toEqual([]);
});

test("a failure that a fork has copied of a cancelled child is not judged, one behind its cut is", () => {
  const forked = (seq: number) =>
    broken(({ executions }) => {
      const [source, child] = executions;
      child.row.parent_id = "e1";
      const fork = structuredClone(source);
      const failure = { type: "ChildCancelledError", message: "it was cancelled", cause: null };
      const of = { execution_id: "e3", forked_from: { execution_id: "e1", seq } };
      Object.assign(fork.row, { ...of, state: "FAILED", failure });
      const event = { ...fork.log[0].event, seq: 7, type: "TASK_FAILED", kind: "call" };
      fork.log.push({ ...fork.log[0], event } as never);
      executions.push(fork);
    });
  expect(possibleOutputs(forked(7))).toEqual([]);
  expect(possibleOutputs(forked(6))).toMatchObject([{ execution_id: "e3" }]);
});
