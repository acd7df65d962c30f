import type { Json } from "@engine/contract";
import type { BodyEntry, Evidence, ValueSeen } from "../../evidence.ts";
import type { Program, Step } from "../../programs/program.ts";
import { BEGAN, claim, SESSION, told, UNDEFINED, WORKER } from "./told.ts";

const STEP: Step = {
  kind: "step",
  task: "undoable",
  fails: 0,
  takes_ms: 5,
  nested: 0,
  progress: 0,
  flavour: "text",
  deaf: false,
};
const { kind: _, ...STEP_INPUT } = STEP;

const PROGRAM: Program = {
  kind: "sequence",
  parts: [
    STEP,
    { kind: "pause", after_ms: null },
    { kind: "signal", name: "s0", timeout_ms: null },
    { kind: "sleep", ms: 60_000 },
  ],
};
const OUTPUT = ["result of r.0", ["answered", "r.1"], ["signal", "r.2"], ["slept", "r.3"]];
const INPUT = { program: PROGRAM as never, path: "r" };
const SLEPT = BEGAN + 64_000;
const ANSWER = { answer: 1 };
const SIGNAL = { signal: 1 };
const PAUSE = { name: "r.1", output: { path: "r.1" } };

/** Runs a step, is paused and resumed, gets a signal, sleeps a minute and completes. */
const completed = told("e1", INPUT, {
  commits: [
    {
      at: 1_000,
      state: "CLAIMED",
      owned: true,
      events: [["WORKFLOW_CREATED", undefined, { version: 1 }], claim(1, "start")],
    },
    {
      at: 1_010,
      state: "RUNNING",
      owned: true,
      events: [
        ["WORKFLOW_STARTED", undefined, INPUT],
        ["TASK_STARTED", "undoable~1", { ...STEP_INPUT, path: "r.0" }],
        ["TASK_COMPLETED", "undoable~1", "result of r.0"],
      ],
    },
    {
      at: 1_020,
      state: "PAUSED",
      owned: false,
      events: [
        ["TASK_STARTED", "pause~1", PAUSE],
        ["TASK_PAUSED", "pause~1", PAUSE],
        ["WORKFLOW_PAUSED", undefined, PAUSE],
      ],
    },
    {
      at: 2_000,
      state: "RESUMING",
      owned: false,
      events: [
        ["TASK_RESUMED", "pause~1", { name: "r.1", input: ANSWER, cause: "resume" }],
        ["TASK_COMPLETED", "pause~1", ANSWER],
        ["WORKFLOW_RESUMING", undefined, ANSWER, { cause: "resume", task_call_id: "pause~1" }],
      ],
    },
    { at: 2_010, state: "CLAIMED", owned: true, events: [claim(2, "resume")] },
    {
      at: 2_020,
      state: "RUNNING",
      owned: true,
      events: [
        ["WORKFLOW_RESUMED", undefined, ANSWER, { cause: "resume" }],
        ["TASK_STARTED", "signal~1", { name: "s0" }],
      ],
    },
    {
      at: 3_000,
      state: "RUNNING",
      owned: true,
      events: [
        ["WORKFLOW_SIGNALED", undefined, { name: "s0", payload: SIGNAL }],
        ["TASK_COMPLETED", "signal~1", SIGNAL],
      ],
    },
    {
      at: 4_000,
      state: "RUNNING",
      owned: false,
      events: [["TASK_STARTED", "sleep~1", { until: new Date(SLEPT).toISOString() }]],
    },
    {
      at: 64_000,
      state: "RESUMING",
      owned: false,
      events: [
        ["TASK_COMPLETED", "sleep~1", UNDEFINED],
        ["WORKFLOW_RESUMING", undefined, null, { cause: "timer", task_call_id: "sleep~1" }],
      ],
    },
    { at: 64_010, state: "CLAIMED", owned: true, events: [claim(3, "resume")] },
    {
      at: 64_020,
      state: "COMPLETED",
      owned: false,
      events: [
        ["WORKFLOW_RESUMED", undefined, null, { cause: "timer" }],
        ["WORKFLOW_COMPLETED", undefined, OUTPUT],
      ],
    },
  ],
});

/** Is cancelled while its step is under way, which is then rolled back. */
const cancelled = told(
  "e2",
  { program: STEP as never, path: "r" },
  {
    commits: [
      {
        at: 70_000,
        state: "CLAIMED",
        owned: true,
        events: [["WORKFLOW_CREATED", undefined, { version: 1 }], claim(1, "start")],
      },
      {
        at: 70_010,
        state: "RUNNING",
        owned: true,
        events: [
          ["WORKFLOW_STARTED", undefined, { program: STEP as never, path: "r" }],
          ["TASK_STARTED", "undoable~1", { ...STEP_INPUT, path: "r" }],
        ],
      },
      {
        at: 71_000,
        state: "CANCELLING",
        owned: true,
        events: [["WORKFLOW_CANCELLING", undefined, null, { cause: "request" }]],
      },
      {
        at: 71_100,
        state: "CANCELLED",
        owned: false,
        events: [
          ["TASK_ROLLBACK_STARTED", "undoable~1", { reason: "cancel" }],
          ["TASK_ROLLBACK_COMPLETED", "undoable~1"],
          ["TASK_CANCELLED", "undoable~1"],
          ["WORKFLOW_CANCELLED", undefined, null, { cause: "request" }],
        ],
      },
    ],
  },
);

const body = (over: Partial<BodyEntry>): BodyEntry => ({
  part: "run",
  execution_id: "e1",
  task_call_id: "undoable~1",
  task: "undoable",
  path: "r.0",
  attempt: 1,
  version: 1,
  told: null,
  generation: 1,
  worker: WORKER,
  process: "w1-1",
  at: BEGAN + 1_005,
  clock: BEGAN + 1_005,
  latest_clock: BEGAN + 1_005,
  end: { at: BEGAN + 1_009, how: "returned", value: "result of r.0" },
  ...over,
});

const value = (
  path: string,
  kind: ValueSeen["kind"],
  of: { readonly generation: number; readonly value: ValueSeen["value"] },
): ValueSeen => ({ execution_id: "e1", path, kind, process: "w1-1", at: BEGAN + 64_020, ...of });

const told202 = { kind: "done", status: 202, execution_id: "e1", state: null } as const;
const client = { client: "c1", asked_at: BEGAN + 900, deliveries: 1, answered_at: BEGAN + 1_100 };

/** A run of two executions in which everything is as it should be. */
export function sampleEvidence(): Evidence {
  return {
    seed: 1,
    began_at: BEGAN,
    calm_at: BEGAN + 5_000,
    ended_at: BEGAN + 80_000,
    stuck: null,
    servers: 1,
    stored: {},
    rests: [],
    abandoned: [],
    schedules: [],
    deletions: [],
    faults: [],
    activities: [],
    descriptions: [],
    limits: [],
    principals: [],
    accounts: [],
    hooks: [],
    deliveries: [],
    hop_limit: 3,
    drains_at_once: true,
    handed_back_at: null,
    offers: [],
    offer_deeds: [],
    resolutions: [],
    assignments: [],
    rights: [],
    longest_question: 0,
    longest_message: 0,
    counters: { "load of w1": 0 },
    requests: [
      {
        ...client,
        asked: {
          kind: "start",
          workflow: "program",
          input: INPUT,
          key: "k1",
          required_worker: null,
          mode: "async",
        },
        answer: { ...told202, state: "CLAIMED" },
      },
      {
        ...client,
        asked: { kind: "resume", execution_id: "e1", pause: "r.1", input: ANSWER },
        answer: told202,
      },
      {
        ...client,
        asked: { kind: "signal", execution_id: "e1", name: "s0", payload: SIGNAL },
        answer: told202,
      },
      {
        ...client,
        asked: { kind: "wait", execution_id: "e1" },
        answer: { ...told202, status: 200, state: "COMPLETED", output: OUTPUT },
      },
      {
        ...client,
        asked: { kind: "events", execution_id: "e1", after: 2 },
        answer: { ...told202, status: 200, seqs: [3, 4, 5] },
      },
      {
        ...client,
        asked: { kind: "cancel", execution_id: "e2", mode: "async" },
        answer: { ...told202, execution_id: "e2" },
      },
    ],
    streams: [
      {
        reader: "r1",
        execution_id: "e2",
        after: null,
        events: null,
        closed: "server",
        frames: [
          { at: BEGAN + 70_001, event: "program.execution.claimed", id: 2, data: {} },
          { at: BEGAN + 70_011, event: "program.execution.running", id: 3, data: {} },
          { at: BEGAN + 71_001, event: "program.execution.cancelling", id: 5, data: {} },
          { at: BEGAN + 71_101, event: "program.execution.cancelled", id: 9, data: {} },
        ],
      },
    ],
    executions: [completed.execution, cancelled.execution],
    commits: [...completed.commits, ...cancelled.commits],
    writes: [
      {
        at: BEGAN + 1_010,
        session: SESSION,
        execution_id: "e1",
        generation: 1,
        accepted: true,
        kind: "checkpoint",
        base_seq: 2,
        count: 3,
        times: [],
      },
      {
        at: BEGAN + 2_020,
        session: SESSION,
        execution_id: "e1",
        generation: 2,
        accepted: true,
        kind: "checkpoint",
        base_seq: 12,
        count: 2,
        times: [],
      },
    ],
    keeps: [],
    bodies: [
      body({}),
      body({
        execution_id: "e2",
        path: "r",
        at: BEGAN + 70_012,
        clock: BEGAN + 70_012,
        latest_clock: BEGAN + 70_012,
        end: { at: BEGAN + 71_010, how: "aborted", value: "cancelled" },
      }),
      body({
        execution_id: "e2",
        path: "r",
        part: "rollback",
        at: BEGAN + 71_020,
        clock: BEGAN + 71_020,
        latest_clock: BEGAN + 71_020,
        end: { at: BEGAN + 71_030, how: "returned", value: UNDEFINED },
      }),
    ],
    values: [
      value("r.0", "task", { generation: 1, value: "result of r.0" }),
      value("r.0", "task", { generation: 2, value: "result of r.0" }),
      value("r.1", "pause", { generation: 2, value: ANSWER }),
      value("r.2", "signal", { generation: 2, value: SIGNAL }),
      value("output", "output", { generation: 3, value: OUTPUT }),
    ],
    sessions: [SAMPLE_SESSION],
  };
}

const SAMPLE_SESSION: Evidence["sessions"][number] = {
  session_id: SESSION,
  token_hash: "t",
  worker: WORKER,
  instance_id: "i1",
  host: "h",
  pid: 1,
  labels: {},
  slots: 2,
  runners: ["thread"],
  default_runner: "thread",
  dispatch: "event",
  engine_version: "0.1.0",
  resources: null,
  packages: [],
  services: [],
  runtime: { os: "linux", arch: "x64", node: "24" },
  created_at: BEGAN,
  last_seen_at: BEGAN,
  said: null,
  replica: null,
  epoch: 1,
  connected_at: BEGAN,
  disconnected_at: null,
  lost_at: null,
  ended_at: null,
  end_reason: null,
  credential_line: null,
};

/** The same with something in it that must not be. */
export function broken(edit: (evidence: Draft<Evidence>) => void): Evidence {
  const copy = JSON.parse(JSON.stringify(sampleEvidence())) as Draft<Evidence>;
  edit(copy);
  return copy as Evidence;
}

/** All of it may be written to; that the sample has what a test edits is the test's to know. */
export type Draft<Type> = Json extends Type
  ? Type
  : Type extends readonly (infer Item)[]
    ? Listed<Draft<Item>>
    : Type extends object
      ? { -readonly [Key in keyof Type]: Draft<Type[Key]> }
      : Type;

type Listed<Item> = [Item] extends [object] ? Item[] & Record<0 | 1 | 2 | 3 | 4 | 8, Item> : Item[];
