import { expect, test } from "vitest";
import { type ExecutionRow, isQueued } from "../executions/execution-row.ts";
import {
  claimReason,
  createdExecution,
  decideClaim,
  handOver,
  takeOver,
} from "./lifecycle-rules.ts";

const fresh = {
  execution_id: "e1",
  namespace: "shop",
  workflow: "checkout",
  version: 3,
  module_hash: "h",
  input: { id: 1 },
  trigger: { kind: "api" },
  by: "ada",
  seed: "seed",
  now: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
} as const;
const later = fresh.now + 1_000;
const claimant = { worker: "w1", session: "s1", now: later };

function created(change: Partial<ExecutionRow> = {}): ExecutionRow {
  return { ...createdExecution(fresh).row, ...change };
}

test("EXE-17 row 1: a fresh execution is CREATED and queued, its first event says where it is from", () => {
  const { row, events } = createdExecution(fresh);
  expect(row).toMatchObject({
    state: "CREATED",
    generation: 0,
    head: 1,
    input: { id: 1 },
    output: null,
    created_at: fresh.now,
    queued_at: fresh.now,
    started_at: null,
    session: null,
    priority: 0,
  });
  expect(isQueued(row)).toBe(true);
  expect(events).toEqual([
    {
      type: "WORKFLOW_CREATED",
      source_id: "e1",
      name: "checkout",
      kind: null,
      value: { version: 3, trigger: { kind: "api" }, label: null },
      time: "2026-01-02 03:04:05.678",
      meta: { by: "ada" },
    },
  ]);
});

test("EXE-17 row 2: a claim sets owner and generation + 1 and names worker and reason", () => {
  const claim = decideClaim(created(), claimant);
  expect(claim?.patch).toMatchObject({
    state: "CLAIMED",
    worker: "w1",
    session: "s1",
    generation: 1,
    head: 2,
  });
  expect(claim?.events).toMatchObject([
    {
      type: "WORKFLOW_CLAIMED",
      source_id: "e1",
      value: { worker: "w1", generation: 1, reason: "start", attempt: 1, score: null },
    },
  ]);
});

test("a claim of what is owned, parked or ended is nobody's", () => {
  expect(decideClaim(created({ session: "s2" }), claimant)).toBeUndefined();
  for (const state of ["CLAIMED", "RUNNING", "PAUSED", "COMPLETED", "FAILED"] as const) {
    expect(decideClaim(created({ state }), claimant), state).toBeUndefined();
  }
});

test("DSP-3 a cancelled execution that a worker takes to unwind keeps its state", () => {
  const claim = decideClaim(created({ state: "CANCELLING", generation: 4 }), claimant);
  expect(claim?.patch).toMatchObject({ state: "CANCELLING", generation: 5, session: "s1" });
  expect(claim?.events[0]?.value).toMatchObject({ reason: "cancel" });
});

test("the reason of a claim tells a start, a resume, a recovery and an unwinding apart", () => {
  expect(claimReason(created())).toBe("start");
  expect(claimReason(created({ state: "RESUMING", resuming: true, generation: 1 }))).toBe("resume");
  expect(claimReason(created({ generation: 1 }))).toBe("recover");
  expect(claimReason(created({ state: "CANCELLING", generation: 1 }))).toBe("cancel");
});

test("EXE-23 a claim is never older than the newest event", () => {
  const claim = decideClaim(created(), { ...claimant, now: 0 });
  expect(claim?.events[0]?.time).toBe("2026-01-02 03:04:05.678");
});

test("LIV-4 a hand-over clears the owner, remembers it and keeps the place in the queue", () => {
  const running = created({
    state: "RUNNING",
    worker: "w1",
    session: "s1",
    generation: 2,
    head: 9,
  });
  const { patch, events } = handOver(running, { now: later, cancel_timeout_ms: 300_000 });
  expect(events).toEqual([]);
  expect(patch).toEqual({
    wake_at: null,
    state: "CREATED",
    worker: null,
    session: null,
    last_worker: "w1",
    last_session: "s1",
    losses: [],
    not_before: null,
    updated_at: later,
  });
  expect(isQueued({ ...running, ...patch })).toBe(true);
  expect(
    handOver({ ...running, resuming: true }, { now: later, cancel_timeout_ms: 300_000 }).patch
      .state,
  ).toBe("RESUMING");
});

test("EXE-14 a local run takes over whatever its dead process left, and fences it", () => {
  for (const state of ["CREATED", "CLAIMED", "RUNNING", "RESUMING"] as const) {
    const row = created({ state, session: "dead", worker: "local", generation: 1 });
    expect(takeOver(row, claimant).patch, state).toMatchObject({
      state: "CLAIMED",
      session: "s1",
      generation: 2,
    });
  }
});

test("EXE-15 a local execution is never queued for a server's workers", () => {
  expect(isQueued(created({ version: null }))).toBe(false);
});

test("EXE-20 a hand-over gives a cancelled execution its time to be unwound anew", () => {
  const cancelling = { cause: "request" as const, by: later };
  const row = created({ state: "CANCELLING", session: "s1", worker: "w1", cancelling });
  expect(handOver(row, { now: later, cancel_timeout_ms: 5_000 }).patch).toMatchObject({
    state: "CANCELLING",
    session: null,
    cancelling: { cause: "request", by: later + 5_000 },
    wake_at: later + 5_000,
  });
});

test("EXE-58 a transient execution whose worker is lost fails once it had started, else starts anew", () => {
  const lost = { transient: true, session: "s1", worker: "w1", generation: 1 };
  const started = created({ ...lost, state: "RUNNING", started_at: later });
  const failed = handOver(started, { now: later, cancel_timeout_ms: 5_000 });
  expect(failed.events).toMatchObject([
    { type: "WORKFLOW_FAILED", value: { type: "WorkerLostError", code: "worker_lost" } },
  ]);
  expect(failed.patch).toMatchObject({ state: "FAILED", session: null, last_session: "s1" });
  const claimed = created({ ...lost, state: "CLAIMED" });
  expect(handOver(claimed, { now: later, cancel_timeout_ms: 5_000 })).toMatchObject({
    events: [],
    patch: { state: "CREATED" },
  });
});

test("EXE-22 what an execution is created with is on its row", () => {
  const parent = { execution_id: "p1", depth: 2, call_id: "call~1", detached: true };
  const more = { parent, timeout_ms: 5_000, transient: true, priority: 7, name: "tuesday's" };
  expect(createdExecution({ ...fresh, ...more }).row).toMatchObject({
    parent_id: "p1",
    parent_call_id: "call~1",
    depth: 3,
    detached: true,
    timeout_ms: 5_000,
    transient: true,
    priority: 7,
    name: "tuesday's",
    seed: "seed",
  });
});
