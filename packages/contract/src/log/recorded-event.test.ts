import { expect, expectTypeOf, test } from "vitest";
import type { Failure } from "../errors/failure.ts";
import type { ExecutionRecord } from "../executions/execution.ts";
import { RecordedEvent } from "./recorded-event.ts";

const common = {
  seq: 1,
  source_id: "e1",
  name: "w",
  kind: null,
  time: "2026-01-01 00:00:00.000",
  meta: null,
  recorded_at: "2026-01-01T00:00:00.000Z",
};

test("EXE-23 what an event's value is follows from its type", () => {
  const claimed = { worker: "a", generation: 1, reason: "start", attempt: 1, score: null };
  expect(
    RecordedEvent.safeParse({ ...common, type: "WORKFLOW_CLAIMED", value: claimed }).success,
  ).toBe(true);
  expect(RecordedEvent.safeParse({ ...common, type: "WORKFLOW_CLAIMED", value: 1 }).success).toBe(
    false,
  );
  expect(RecordedEvent.safeParse({ ...common, type: "TASK_COMPLETED", value: 1 }).success).toBe(
    true,
  );
  expect(RecordedEvent.safeParse({ ...common, type: "TASK_DREAMT", value: 1 }).success).toBe(false);
});

test("types narrow: a failed task has a Failure, only a paused execution a resume_url", () => {
  type Failed = Extract<RecordedEvent, { type: "TASK_FAILED" }>;
  expectTypeOf<Failed["value"]>().toEqualTypeOf<Failure>();
  type Paused = Extract<ExecutionRecord, { state: "PAUSED" }>;
  expectTypeOf<Paused["resume_url"]>().toEqualTypeOf<string>();
  type Completed = Extract<ExecutionRecord, { state: "COMPLETED" }>;
  expectTypeOf<Completed["error"]>().toEqualTypeOf<null>();
});
