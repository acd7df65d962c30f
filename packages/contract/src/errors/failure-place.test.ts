import { expect, test } from "vitest";
import type { RecordedEvent } from "../log/recorded-event.ts";
import { engineFailure, type Failure } from "./failure.ts";
import { eventForCaller, placeOf, recordForCaller, withPlace } from "./failure-place.ts";

const AT = "lib/my orders.ts:12:9";

function failure(details: Failure["details"]): Failure {
  return { ...engineFailure("InvalidOutputError", "no"), details };
}

test.each([
  [{ at: AT }, AT],
  [{ at: "a.mjs:1:2", more: true }, "a.mjs:1:2"],
  [{ at: "12:30:05" }, undefined],
  [{ at: 7 }, undefined],
  [{ at: "a.ts" }, undefined],
  [{}, undefined],
  [null, undefined],
])("the place among the details %j is %s", (details, expected) => {
  expect(placeOf({ details })).toBe(expected);
});

test("a place is added to details, and takes the place of none", () => {
  expect(withPlace(failure(null), AT).details).toEqual({ at: AT });
  expect(withPlace(failure({ n: 1 }), AT).details).toEqual({ n: 1, at: AT });
  expect(withPlace(failure({ at: null }), AT).details).toEqual({ at: null });
  expect(withPlace(failure({ n: 1 }), undefined).details).toEqual({ n: 1 });
});

function event(type: string, value: unknown, meta: RecordedEvent["meta"]): RecordedEvent {
  return { type, value, meta } as RecordedEvent;
}

test("an event for a caller has neither place nor stack, and all else that it had", () => {
  const told = failure({ at: AT, n: 1 });
  const untold = { ...told, details: { n: 1 } };
  expect(eventForCaller(event("TASK_FAILED", told, { stack: "at a", attempts: 2 }))).toEqual(
    event("TASK_FAILED", untold, { attempts: 2 }),
  );
  const retried = { attempt: 2, error: told };
  expect(eventForCaller(event("TASK_RETRY_STARTED", retried, { stack: "at a" }))).toEqual(
    event("TASK_RETRY_STARTED", { attempt: 2, error: untold }, null),
  );
});

test("an output stays as the author made it, a failure that was given on included", () => {
  const output = [{ status: "rejected", failure: failure({ at: AT }) }];
  const completed = event("TASK_COMPLETED", output, null);
  expect(eventForCaller(completed)).toEqual(completed);
});

test("an error that no failure stands behind, and details of an author's own, stay as they are", () => {
  const cancelled = { code: "workflow_cancelled", message: "no", details: { cause: "request" } };
  expect(recordForCaller({ error: cancelled as never })).toEqual({ error: cancelled });
  const { message, ...details } = failure({ empty: {}, at: "12:30" });
  const own = { code: "workflow_failed", message, details } as const;
  expect(recordForCaller({ error: own as never })).toEqual({ error: own });
  expect(recordForCaller({ error: null })).toEqual({ error: null });
});
