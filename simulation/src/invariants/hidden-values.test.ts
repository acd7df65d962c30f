import { type Event, SENSITIVE } from "@engine/contract";
import { expect, test } from "vitest";
import type { Evidence } from "../evidence.ts";
import { hiddenValues } from "./hidden-values.ts";

const event = (value: Event["value"], of: Partial<Event> = {}): Event => ({
  ...{ seq: 4, type: "TASK_COMPLETED", source_id: "secretive~1", name: "secretive", kind: null },
  ...{ value, time: "2030-01-01 00:00:00.000", meta: null },
  ...of,
});

function judged(stored: readonly Event[], frames: readonly unknown[] = []): readonly unknown[] {
  const log = stored.map((one) => ({ event: one, recorded_at: 0 }));
  const evidence = {
    executions: [{ row: { execution_id: "e1" }, log: [], stored: log }],
    streams: [{ reader: "r1", execution_id: "e1", frames }],
  } as unknown as Evidence;
  return hiddenValues(evidence).map(({ message }) => message);
}

test("I21 markers in place of what a sensitive task took and gave are right, and so is what others show", () => {
  const failure = { type: "Error", message: SENSITIVE };
  expect(
    judged([
      event(SENSITIVE),
      event({ attempt: 2, output: SENSITIVE }, { type: "TASK_RETRY_COMPLETED" }),
      event(failure as never, { type: "TASK_FAILED" }),
      event("result of r.1", { name: "plain" }),
    ]),
  ).toEqual([]);
});

test("I21 a value of a sensitive task in the stored log is found, and one in a stream", () => {
  expect(judged([event("result of r.1")])).toEqual([
    "event 4 TASK_COMPLETED shows what is sensitive",
  ]);
  const retried = event({ output: "result of r.1" }, { type: "TASK_RETRY_COMPLETED" });
  expect(judged([retried])).toHaveLength(1);
  const frame = { at: 0, event: "task.completed", id: 4, data: event("result of r.1") };
  expect(judged([], [frame])).toEqual(["r1 was shown task.completed 4 with what is sensitive"]);
  const state = { at: 0, event: "w.execution.completed", id: 5, data: { output: "result of r.1" } };
  expect(judged([], [state])).toEqual([]);
});
