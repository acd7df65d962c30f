import { expect, test } from "vitest";
import { HookEnvelope } from "./envelope.ts";
import { parseHookSelector } from "./selector.ts";
import { testEnvelope, testedSelector } from "./test-envelope.ts";

const execution_id = "01234567-89ab-7def-8123-456789abcdef";
const id = "hook-test-0123456789ab7def8123456789abcdef";

function made(text: string, value?: number): HookEnvelope {
  const selector = parseHookSelector(text).selector ?? expect.unreachable(text);
  const now = Date.UTC(2026, 0, 5);
  return HookEnvelope.parse(testEnvelope({ hook: "page", selector, value, execution_id, now }));
}

test("HOOK-37 a test has what its selector says, and stand-ins for the rest", () => {
  expect(made("execution:*")).toEqual({
    hook: "page",
    selector: "execution:*",
    delivery_id: id,
    event_key: `${id}:1`,
    attempt: 1,
    hop: 0,
    event: {
      domain: "execution",
      type: "completed",
      execution_id: id,
      workflow_namespace: "test_namespace",
      workflow_name: "test_workflow",
      task_name: null,
      task_call_id: null,
      state: "completed",
      value: { synthetic: true, hook: "page" },
      occurred_at: "2026-01-05T00:00:00.000Z",
    },
  });
  expect(made("execution:billing:charge:failed").event).toMatchObject({
    workflow_namespace: "billing",
    workflow_name: "charge",
    type: "failed",
    state: "failed",
  });
  expect(made("task:billing:*:charge_card:retry_failed").event).toMatchObject({
    domain: "task",
    workflow_namespace: "billing",
    workflow_name: "test_workflow",
    task_name: "charge_card",
    task_call_id: "charge_card~1",
    type: "retry_failed",
    state: null,
  });
  expect(made("task:*").event).toMatchObject({ task_name: "test_task", type: "completed" });
});

test("HOOK-37 a test may bring the event's value", () => {
  expect(made("task:*", 7).event.value).toBe(7);
});

test("HOOK-37 a test is made from the hook's first selector, or from another of its own", () => {
  const selectors = ["execution:*", "task:*"];
  expect(testedSelector(selectors).selector?.text).toBe("execution:*");
  expect(testedSelector(selectors, "task:*").selector?.text).toBe("task:*");
  expect(testedSelector(selectors, "task:a:*").refusal).toEqual({
    selector: "task:a:*",
    index: 0,
    reason: "not_of_this_hook",
    hint: "the hook has execution:*, task:*",
  });
});
