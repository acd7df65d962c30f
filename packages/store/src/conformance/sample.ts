/** Made-up executions and events for the suite; what a test is about, it says itself. */
import {
  type Change,
  type ExecutionPatch,
  type ExecutionRow,
  formatEventTime,
  type Json,
  type NewEvent,
  type NewExecution,
  patchOf,
} from "@engine/contract";
import type { NewSession } from "../session-record.ts";
import type { Store } from "../store.ts";

/** A fixed instant: no rule of a store depends on the time of day. */
export const NOW: number = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

/** Ids in the order of their numbers, as UUIDv7 are in the order of their making. */
export function executionId(n: number): string {
  return `01900000-0000-7000-8000-${String(n).padStart(12, "0")}`;
}

export function newExecution(n: number, fields: Partial<NewExecution> = {}): NewExecution {
  return {
    execution_id: executionId(n),
    namespace: "default",
    workflow: "hello",
    version: 1,
    module_hash: "module-1",
    input: { n },
    trigger: { kind: "api" },
    by: null,
    seed: `seed-${n}`,
    now: NOW,
    ...fields,
  };
}

export const claimant: { worker: string; session: string; now: number } = {
  worker: "w1",
  session: "session-1",
  now: NOW,
};

/** A session of a worker that has no other. */
export function newSession(session_id: string, fields: Partial<NewSession> = {}): NewSession {
  return {
    session_id,
    token_hash: `secret of ${session_id}`,
    worker: `worker-${session_id}`,
    instance_id: `process of ${session_id}`,
    host: "here",
    pid: 42,
    labels: {},
    slots: 64,
    runners: ["thread"],
    default_runner: "thread",
    dispatch: "event",
    credential_line: null,
    engine_version: "0.1.0",
    runtime: { os: "linux", arch: "x64", node: "24.0.0" },
    resources: null,
    packages: [],
    services: [],
    ...fields,
  };
}

export function event(type: NewEvent["type"], source_id: string, value: Json = null): NewEvent {
  return {
    type,
    source_id,
    name: "greet",
    kind: null,
    value,
    time: formatEventTime(NOW),
    meta: null,
  };
}

/** Adds events to a row the way the rules do. */
export function appending(
  row: ExecutionRow,
  events: readonly NewEvent[],
  patch: ExecutionPatch = {},
): Change {
  return { events, patch: { ...patchOf(row, events, NOW), ...patch } };
}

/** An execution of `n` whose log ends at `head`, written in changes of two events each. */
export async function executionWithLog(store: Store, n: number, head: number): Promise<string> {
  const id = executionId(n);
  await store.executions.create(newExecution(n));
  for (let next = 2; next <= head; next += 2) {
    const events = [next, next + 1]
      .filter((seq) => seq <= head)
      .map((seq) => event("TASK_STARTED", `call-${seq}`, { seq }));
    await store.executions.change(id, (row) => appending(row, events));
  }
  return id;
}
