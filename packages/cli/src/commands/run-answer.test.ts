import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { capturedIo } from "../io/captured-io.ts";
import { concludeWith } from "./run-answer.ts";

const waiting = {
  execution_id: "e1",
  namespace: "shop",
  workflow: "order",
  version: 1,
  name: null,
  error: null,
  worker: null,
  generation: 1,
  priority: 0,
  parent_id: null,
  parent_call_id: null,
  schedule: null,
  forked_from: null,
  started_by: null,
  run_as: null,
  created_at: "2026-01-01T11:55:00.000Z",
  started_at: "2026-01-01T11:55:00.020Z",
  finished_at: null,
  updated_at: "2026-01-01T11:59:48.000Z",
  status_url: "",
  input: null,
  output: null,
};
const running = { ...waiting, state: "RUNNING" as const, pause: null };
const pause = {
  name: "review",
  kind: "input" as const,
  value: null,
  task_call_id: "pause~1",
  paused_at: "2026-01-01T11:59:48.000Z",
};
const paused = { ...waiting, state: "PAUSED" as const, resume_url: "", pause };
const review = { kind: "pause" as const, task_call_id: "pause~1", name: "review" };

test.each<[string, ExecutionRecord, string]>([
  [
    "one pause, beside a sleep,",
    { ...paused, waiting: [review, { kind: "sleep", task_call_id: "sleep~1", name: "sleep" }] },
    "resume it with: npx engine workflow resume shop/order e1 '<JSON>' --server-url http://h:1\n",
  ],
  [
    "one of several pauses",
    { ...paused, waiting: [review, { ...review, task_call_id: "pause~2", name: "pay" }] },
    "resume it with: npx engine workflow resume shop/order e1 '<JSON>' --pause review --server-url http://h:1\n",
  ],
  [
    "a signal",
    { ...running, waiting: [{ kind: "signal", task_call_id: "signal~1", name: "address" }] },
    "signal it with: npx engine execution signal e1 address '<JSON>' --server-url http://h:1\n",
  ],
  [
    "a child",
    { ...running, waiting: [{ kind: "child", task_call_id: "call~1", name: "default/ship" }] },
    "follow it with: npx engine execution watch e1 --server-url http://h:1\n",
  ],
])("an answer that waits for %s ends with the command that goes on", (_, record, hint) => {
  const io = capturedIo();
  concludeWith(io, record, { format: "simple", serverUrl: "http://h:1" });
  expect(io.complained()).toBe(hint);
});
