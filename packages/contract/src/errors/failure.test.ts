import { expect, test } from "vitest";
import { executionError, failureOf } from "../executions/execution.ts";
import { ENGINE_FAILURES, engineFailure, Failure } from "./failure.ts";

test("EXE-37 of the failures the engine makes only a task's timeout is retried", () => {
  const retried = Object.entries(ENGINE_FAILURES).filter(([, { retryable }]) => retryable);
  expect(retried.map(([type]) => type)).toEqual(["TaskTimeoutError"]);
  const given: Record<string, string> = {
    TaskTimeoutError: "timeout",
    WorkflowTimeoutError: "timeout",
    TaskNotAuthorizedError: "permission_denied",
  };
  for (const [type, { code }] of Object.entries(ENGINE_FAILURES)) {
    const snake = type
      .replace(/Error$/, "")
      .replace(/(?!^)[A-Z]/g, "_$&")
      .toLowerCase();
    expect(code, type).toBe(given[type] ?? snake);
  }
});

test("EXE-35 a failure is data that nests its causes, EXE-78 and the error of the record", () => {
  const cause = engineFailure("TaskTimeoutError", "charge took over 30s", { attempts: 3 });
  const failure = engineFailure("InvalidOutputError", "no", { cause, task_call_id: "a~1" });
  expect(Failure.parse(JSON.parse(JSON.stringify(failure)))).toEqual(failure);
  expect(executionError(failure)).toEqual({
    code: "workflow_failed",
    message: "no",
    details: {
      type: "InvalidOutputError",
      code: "invalid_output",
      retryable: false,
      details: null,
      cause,
      attempts: 1,
      task_call_id: "a~1",
    },
  });
  expect(failureOf(executionError(failure))).toEqual(failure);
});

test("an error that no failure stands behind still has a type and a message", () => {
  const told = {
    code: "workflow_cancelled",
    message: "changed their mind",
    details: null,
  } as const;
  expect(failureOf(told)).toMatchObject({ type: "Error", message: "changed their mind" });
});
