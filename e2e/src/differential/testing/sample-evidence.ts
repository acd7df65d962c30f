/** Evidence made up by hand, for tests of judges: what a program leaves when nothing is wrong. */
import { type Encoded, encode, formatEventTime, type History } from "@engine/contract";
import { digest } from "@engine/simulation/digest";
import type { ProgramInput, Step, Told } from "@engine/simulation/program";
import type { Entry, Evidence, ExecutionSeen } from "../evidence.ts";

export const BEGAN = Date.parse("2026-01-01T00:00:00.000Z");
export const ID = "e1";
export const WORKER = 100;

const STEP: Step = {
  kind: "step",
  task: "plain",
  fails: 0,
  takes_ms: 1,
  nested: 0,
  progress: 0,
  flavour: "text",
  deaf: false,
};

export const TOLD: Told = {
  began: BEGAN,
  clock: BEGAN,
  random: 0.5,
  uuid: "u",
  token: "t",
  label: "program-1",
  seen: "",
};

/** One event: its type, whose it is, what it holds. */
export type Row = readonly [
  type: History["events"][number]["type"],
  source_id?: string,
  value?: unknown,
  more?: { readonly kind?: string; readonly meta?: Record<string, unknown> },
];

const INPUT: ProgramInput = { program: STEP, path: "r" };
export const CREATED: Row = ["WORKFLOW_CREATED"];
export const CLAIMED: Row = ["WORKFLOW_CLAIMED", ID, { generation: 1, worker: "one" }];
export const STARTED: Row = ["WORKFLOW_STARTED", ID, INPUT];
/** The step, which is the whole program. */
export const STEP_STARTED: Row = ["TASK_STARTED", "plain~1", { path: "r", told: TOLD }];
export const STEP_COMPLETED: Row = ["TASK_COMPLETED", "plain~1", "result of r"];
export const COMPLETED: Row = ["WORKFLOW_COMPLETED", ID, "result of r"];
export const CANCELLED: Row = ["WORKFLOW_CANCELLED", ID];

const WHOLE = [CREATED, CLAIMED, STARTED, STEP_STARTED, STEP_COMPLETED, COMPLETED];

/** Events come 10 ms after one another. */
function logOf(rows: readonly Row[]): History {
  const events = rows.map(
    ([type, source_id = ID, value = null, { kind = null, meta = null } = {}], i) => {
      const at = BEGAN + 10 * i;
      return {
        seq: i + 1,
        type,
        source_id,
        name: source_id.split("/").at(-1)?.split("~")[0] ?? "",
        kind,
        value: encode(value, "value"),
        time: formatEventTime(at),
        meta,
        recorded_at: new Date(at).toISOString(),
      };
    },
  );
  const end = rows.at(-1)?.[0].replace("WORKFLOW_", "") ?? "";
  const state = ["COMPLETED", "FAILED", "CANCELLED"].includes(end) ? end : "RUNNING";
  const facts = { namespace: "default", workflow: "program", version: 1, name: null };
  const input = encode(INPUT, "input");
  const execution = { execution_id: ID, ...facts, state, parent_id: null, transient: false, input };
  return { format: 1, execution, seed: "s", events } as History;
}

export function executionOf(
  rows: readonly Row[] = WHOLE,
  over: Partial<ExecutionSeen> = {},
): ExecutionSeen {
  const history = logOf(rows);
  return {
    execution_id: ID,
    history,
    input: history.execution.input as Encoded,
    end: history.events.at(-1)?.value as Encoded,
    replay: { result: "ok", reason: "", told: { r: TOLD } },
    ...over,
  };
}

/** The step's function, entered right behind its event. */
export function entryOf(over: Partial<Entry> = {}): Entry {
  return {
    execution_id: ID,
    task_call_id: "plain~1",
    part: "run",
    task: "plain",
    path: "r",
    attempt: 1,
    told: TOLD,
    input: "digest",
    pid: WORKER,
    at: BEGAN + 31,
    exit: { at: BEGAN + 32, how: "returned", digest: digest("result of r") },
    ...over,
  };
}

export function evidenceOf(over: Partial<Evidence> = {}): Evidence {
  return {
    plan: { n: 1, input: INPUT },
    executions: [executionOf()],
    entries: [entryOf()],
    deaths: [],
    cancels: [],
    looks: [],
    stuck: null,
    ...over,
  };
}
