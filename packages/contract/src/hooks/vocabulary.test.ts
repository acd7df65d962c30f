import { expect, test } from "vitest";
import { EVENT_TYPES } from "../log/event-values.ts";
import { eventSegment, HOOK_SEGMENTS } from "./vocabulary.ts";

test("HOOK-7 these are the words of selectors, and no others", () => {
  expect(HOOK_SEGMENTS).toEqual({
    execution: [
      "created",
      "claimed",
      "running",
      "paused",
      "resuming",
      "signaled",
      "cancelling",
      "cancelled",
      "completed",
      "failed",
      "warning",
    ],
    task: [
      "started",
      "completed",
      "failed",
      "retry_started",
      "retry_completed",
      "retry_failed",
      "fallback_started",
      "fallback_completed",
      "fallback_failed",
      "rollback_started",
      "rollback_completed",
      "rollback_failed",
      "paused",
      "resumed",
      "cancelled",
      "awaiting_approval",
      "approved",
      "rejected",
    ],
  });
});

test("HOOK-7 every event type has its domain and its word", () => {
  for (const type of EVENT_TYPES) {
    const { domain, segment } = eventSegment(type);
    expect(type.startsWith(domain === "execution" ? "WORKFLOW_" : "TASK_"), type).toBe(true);
    expect(HOOK_SEGMENTS[domain], type).toContain(segment);
  }
});

test("HOOK-7 an execution is running at its first start and after every resume", () => {
  const running = { domain: "execution", segment: "running" };
  expect(eventSegment("WORKFLOW_STARTED")).toEqual(running);
  expect(eventSegment("WORKFLOW_RESUMED")).toEqual(running);
  expect(eventSegment("TASK_RESUMED")).toEqual({ domain: "task", segment: "resumed" });
});
