import type { ExecutionRow, OpenWait } from "@engine/contract";
import { expect, test } from "vitest";
import type { Evidence } from "../evidence.ts";
import { resting } from "./resting.ts";
import { broken, type Draft, sampleEvidence } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";
import type { Violation } from "./violation.ts";

const W1 = { worker: "w1", labels: {}, metadata: {} };
const AT = BEGAN + 100_000;
const pause: OpenWait = {
  kind: "pause",
  task_call_id: "pause~1",
  name: "gate",
  output: null,
  since: BEGAN,
};

/** The engine at rest with one execution, which is parked. */
function judged(over: Partial<ExecutionRow>, more: Partial<Evidence> = {}): readonly Violation[] {
  const sample = sampleEvidence();
  const [execution] = sample.executions;
  if (!execution) throw new Error("the sample has executions");
  const parked = {
    state: "RUNNING",
    session: null,
    worker: null,
    wake_at: null,
    waits: [],
  } as const;
  const row: ExecutionRow = { ...execution.row, ...parked, ...over };
  return resting({
    ...sample,
    ...more,
    rests: [{ at: AT, since: AT - 12_000, rows: [row], workers: [W1] }],
  });
}

const said = (message: string) => [
  { invariant: "I17", execution_id: "e1", message: expect.stringContaining(message) },
];

test("I17 at rest an execution may be paused, or wait for a signal, a moment or a child", () => {
  expect(judged({ state: "PAUSED", waits: [pause] })).toEqual([]);
  expect(judged({ waits: [{ ...pause, kind: "signal" }] })).toEqual([]);
  expect(judged({ waits: [{ ...pause, kind: "sleep" }], wake_at: AT + 1 })).toEqual([]);
});

test("I17 an open pause at rest is PAUSED, and what is PAUSED has one", () => {
  expect(judged({ waits: [pause] })).toMatchObject(said("RUNNING: its pause gate is open"));
  expect(judged({ state: "PAUSED" })).toMatchObject(said("no pause of it is open"));
});

test("I17 nothing at rest waits for nothing, or holds a slot", () => {
  expect(judged({})).toMatchObject(said("it waits for nothing"));
  const held = { session: "s1", worker: "w1", waits: [pause] };
  expect(judged(held)).toMatchObject(said("it is held by w1, waiting for pause gate"));
  const sleeps = { ...held, waits: [{ ...pause, kind: "sleep" as const }] };
  expect(judged(sleeps)).toMatchObject(said("it is held by w1, waiting for sleep gate"));
  const set = { kind: "clock_jump", at: BEGAN, until: null, worker: null, server: "s1" } as const;
  expect(judged(sleeps, { faults: [set] })).toEqual([]);
  expect(judged(held, { faults: [set] })).toHaveLength(1);
  expect(judged({ state: "RESUMING" })).toMatchObject(said("nobody takes it"));
});

test("I17 nothing at rest waits for what is there already", () => {
  const signals = { count: 1, bytes: 1, names: [{ name: "gate", count: 1 }] };
  const heard = judged({ waits: [{ ...pause, kind: "signal" }], signals });
  expect(heard).toMatchObject(said("it waits for a signal gate, of which it has one"));
  const child = judged({ waits: [{ ...pause, kind: "child", execution_id: "e9" }] });
  expect(child).toMatchObject(said("its child e9, which has ended"));
  const due = judged({ waits: [{ ...pause, kind: "sleep" }], wake_at: BEGAN });
  expect(due).toMatchObject(said("it was to be woken"));
});

/** The pause of the sample is open from commit 2 on, and answered by commit 3. */
const held = (answeredAfter: number, edit: (evidence: Draft<Evidence>) => void = () => {}) =>
  broken((evidence) => {
    const [, , opened, answered] = evidence.commits;
    if (!opened || !answered) throw new Error("the sample has commits");
    const of = { ...opened.row, state: "RUNNING", session: "s1", worker: "w1" } as const;
    const open = { kind: "pause", task_call_id: "pause~1", name: "r.1", output: null, since: 1 };
    opened.row = { ...of, waits: [open] } as typeof opened.row;
    answered.at = opened.at + answeredAfter;
    edit(evidence);
  });

test("I17 a pause is PAUSED soon after nothing of its execution runs any more, however soon it is answered", () => {
  expect(resting(held(2_900))).toEqual([]);
  expect(resting(held(3_100))).toMatchObject(said("its pause r.1 is open since"));
});

test("I17 a pause whose execution still runs, or is held up by something broken, is right", () => {
  const running = held(5_000, ({ bodies, commits }) => {
    const at = (commits[2]?.at ?? 0) + 100;
    bodies.push({ ...bodies[0], at, end: null } as (typeof bodies)[0]);
  });
  expect(resting(running)).toEqual([]);
  const broke = held(5_000, ({ faults, commits }) => {
    const at = (commits[2]?.at ?? 0) - 1_000;
    faults.push({ kind: "stall_server", at, until: at + 2_000, worker: null, server: "s1" });
  });
  expect(resting(broke)).toEqual([]);
});

test("I17 FLW-3 what waits for a limit waits rightly while operators allow nothing, and no longer", () => {
  const waiting = { state: "CREATED", generation: 0, workflow: "shared_program" } as const;
  const allowed = (concurrency: number | null, moment = 1): Partial<Evidence> => ({
    limits: [
      {
        at: BEGAN + moment,
        span: { began: 1, settled: 2 },
        name: "crew",
        definition: { concurrency, rate: null },
      },
    ],
  });
  expect(judged(waiting)).toEqual([]);
  expect(judged(waiting, allowed(0))).toEqual([]);
  expect(judged(waiting, allowed(1))).toMatchObject(said("nobody takes it"));
  expect(judged(waiting, allowed(null))).toMatchObject(said("nobody takes it"));
  expect(judged(waiting, allowed(1, 200_000))).toEqual([]);
  // What was cancelled is unwound whatever they say.
  const cancelled = { ...waiting, state: "CANCELLING", generation: 1 } as const;
  expect(judged(cancelled)).toMatchObject(said("nobody takes it"));
});
