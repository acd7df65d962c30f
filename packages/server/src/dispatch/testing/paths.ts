import { type NewEvent, NewSchedule } from "@engine/contract";
import { ALLOWED } from "../../testing/nobody.ts";
import type { ScriptedWorker } from "../../testing/scripted-worker.ts";
import { type Constraint, PICKY_INPUT, PICKY_ROUTING_INPUT } from "./constraints.ts";
import type { Stage } from "./stage.ts";

/** A way in which an execution comes to need a worker. */
export interface Path {
  readonly name: string;
  /** A start's required worker is its own: what it calls, or what is forked from it, goes anywhere. */
  readonly constraints: readonly Constraint[];
  /** Where its input has what the constraints read of it; not given: at the top. */
  readonly inputAt?: string;
  /** Brings it to where it is about to need one; what is answered takes that step and tells its id. */
  prepare(stage: Stage): Promise<() => Promise<string>>;
}

/** What its workflow declares, for whatever it is started by. */
const OF_WORKFLOW: readonly Constraint[] = [
  "requests",
  "runner",
  "map",
  "label eq",
  "label ne",
  "labelFor",
  "meta eq",
  "meta ne",
  "metaFor",
  "service",
  "optional",
  "when",
];
const ANY: readonly Constraint[] = [...OF_WORKFLOW, "required worker", "routing input"];
const WITH_ROUTING_INPUT: readonly Constraint[] = [...OF_WORKFLOW, "routing input"];

/** Longer than it takes to notice that a worker is gone. */
const SLEEP_MS = 60_000;

export const PATHS: readonly Path[] = [
  { name: "start", constraints: ANY, prepare: async (stage) => () => stage.start("picky") },
  { name: "restart after loss", constraints: ANY, prepare: loss },
  { name: "resume", constraints: ANY, prepare: resume },
  { name: "timer", constraints: ANY, prepare: timer },
  { name: "child", constraints: OF_WORKFLOW, prepare: child },
  { name: "end of a child", constraints: ANY, prepare: endOfChild },
  { name: "hook", constraints: OF_WORKFLOW, inputAt: "event.value.", prepare: hook },
  { name: "schedule", constraints: WITH_ROUTING_INPUT, prepare: schedule },
  { name: "fork", constraints: WITH_ROUTING_INPUT, prepare: fork },
  { name: "unwinding", constraints: ANY, prepare: unwinding },
];

async function loss(stage: Stage): Promise<() => Promise<string>> {
  const id = await stage.start("picky");
  await stage.does("original", id, (worker, assigned) => worker.started(assigned));
  const { worker } = stage.member("original");
  const lost = { execution_id: id, generation: 1, reason: "runner_lost" } as const;
  return async () => {
    // Who has died, or was replaced, has lost it already.
    const { session, generation } = await stage.t.row(id);
    const hasIt = session !== null && generation === lost.generation;
    if (hasIt) await stage.t.engine.workers.release(worker.ref, [lost]);
    stage.member("original").letGo(lost);
    return id;
  };
}

async function resume(stage: Stage): Promise<() => Promise<string>> {
  const id = await stage.start("picky");
  await stage.does("original", id, (worker, assigned) => worker.paused(assigned));
  return async () => {
    await stage.t.engine.executions.resume({ execution_id: id, input: 1, by: null });
    return id;
  };
}

async function timer(stage: Stage): Promise<() => Promise<string>> {
  const id = await parked(stage, sleep(stage));
  return async () => {
    await stage.pass(SLEEP_MS);
    return id;
  };
}

async function child(stage: Stage): Promise<() => Promise<string>> {
  const parent = await stage.start("errand");
  return async () => {
    const calls = callOf("picky");
    await stage.does("unfit", parent, (worker, it) => worker.parked(it, [calls(worker)]));
    return childOf(stage, parent);
  };
}

async function endOfChild(stage: Stage): Promise<() => Promise<string>> {
  const id = await parked(stage, callOf("errand"));
  const errand = await childOf(stage, id);
  return async () => {
    await stage.does("unfit", errand, (worker, assigned) => worker.completed(assigned, null));
    return id;
  };
}

/** What fires the hook ends with what the constraints of its target read. */
async function hook(stage: Stage): Promise<() => Promise<string>> {
  await stage.t.engine.hooks.create(
    {
      ...{ name: "after", selectors: ["execution:default:errand:completed"] },
      ...{ workflow: "default/picky", principal: "bot", max_attempts: 5, enabled: true },
    },
    ALLOWED,
  );
  const errand = await stage.start("errand");
  return async () => {
    await stage.does("unfit", errand, (worker, it) => worker.completed(it, PICKY_INPUT));
    const page = { workflow: "picky", order: "created_asc", limit: 1, offset: 0 } as const;
    const [row] = (await stage.t.store.executions.list(page)).items;
    if (!row) throw new Error("the hook did not fire");
    return row.execution_id;
  };
}

async function schedule(stage: Stage): Promise<() => Promise<string>> {
  const at = new Date(stage.t.time.now + SLEEP_MS).toISOString();
  const spec = { type: "once", at };
  await stage.t.engine.schedules.create(
    NewSchedule.parse({
      ...{ name: "later", workflow: "picky", spec },
      ...{ input: PICKY_INPUT, routing_input: PICKY_ROUTING_INPUT },
    }),
  );
  return async () => {
    await stage.pass(SLEEP_MS);
    const page = { schedule: "later", order: "created_asc", limit: 1, offset: 0 } as const;
    const [row] = (await stage.t.store.executions.list(page)).items;
    if (!row) throw new Error("the schedule did not fire");
    return row.execution_id;
  };
}

async function fork(stage: Stage): Promise<() => Promise<string>> {
  const source = await stage.start("picky");
  await stage.does("original", source, (worker, assigned) => worker.completed(assigned, 1));
  return async () => {
    const cut = { execution_id: source, from_seq: 3, by: null };
    return (await stage.t.engine.executions.fork(cut)).row.execution_id;
  };
}

/** A task of the user's is open: only its code knows what to undo, so a worker has to (EXE-17 row 14). */
async function unwinding(stage: Stage): Promise<() => Promise<string>> {
  const id = await stage.start("picky");
  await stage.does("original", id, (worker, it) => {
    const task = worker.callEvent("TASK_STARTED", "work~1");
    return worker.parked(it, [task, sleep(stage, "work~1/sleep~1")(worker)]);
  });
  return async () => {
    await stage.t.engine.executions.cancel({ execution_id: id, by: null });
    return id;
  };
}

/** An execution that waits, without a worker, for what this event opens. */
async function parked(stage: Stage, open: (worker: ScriptedWorker) => NewEvent): Promise<string> {
  const id = await stage.start("picky");
  await stage.does("original", id, (worker, it) => worker.parked(it, [open(worker)]));
  return id;
}

function sleep({ t }: Stage, id = "sleep~1"): (worker: ScriptedWorker) => NewEvent {
  const until = new Date(t.time.now + SLEEP_MS).toISOString();
  return (worker) => worker.callEvent("TASK_STARTED", id, { until });
}

function callOf(workflow: "picky" | "errand"): (worker: ScriptedWorker) => NewEvent {
  const input = workflow === "picky" ? PICKY_INPUT : null;
  const start = { workflow: `default/${workflow}`, input, wait: true, detach: false };
  return (worker) => worker.callEvent("TASK_STARTED", "call~1", start);
}

async function childOf({ t }: Stage, parent: string): Promise<string> {
  const [wait] = (await t.row(parent)).waits;
  if (wait?.execution_id === undefined) throw new Error("it has called nobody");
  return wait.execution_id;
}
