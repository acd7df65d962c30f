import { expect, test } from "vitest";
import type { NewExecution } from "../executions/new-execution.ts";
import type { Event } from "../log/event.ts";
import { forkHistory } from "../rules/fork-rules.ts";
import { decideClaim } from "../rules/lifecycle-rules.ts";
import { event, MemoryRows } from "../testing/memory-rows.ts";
import { deliveriesOf } from "./deliveries.ts";
import { deliveryId } from "./hook-ids.ts";
import { HookIndex, NO_HOOKS } from "./hook-index.ts";
import { toyDigest } from "./testing/toy-digest.ts";

const recorded_at = Date.UTC(2026, 0, 5);
const everything = new HookIndex([{ id: "h1", name: "all", selectors: ["execution:*", "task:*"] }]);

/** Deliveries of events of an execution, as its row is now. */
function deliveries(
  executions: MemoryRows,
  events: readonly Event[],
  { id = "e1", index = everything, hop = null as number | null } = {},
) {
  const row = { ...executions.row(id), hook: hop === null ? null : { hop } };
  return deliveriesOf({ row, events, recorded_at }, index, toyDigest);
}

/** The same of all that is in the log. */
function ofLog(executions: MemoryRows, options: Parameters<typeof deliveries>[2] = {}) {
  return deliveries(executions, executions.log(options.id), options);
}

test("HOOK-10 each event of a commit yields its own deliveries, in the order of events and hooks", () => {
  const executions = new MemoryRows();
  executions.running();
  executions.send("RUNNING", [event("TASK_STARTED", "charge~1"), event("TASK_FAILED", "charge~1")]);
  const index = new HookIndex([
    { id: "h1", name: "watch", selectors: ["task:shop:*:charge:*", "task:*"] },
    { id: "h2", name: "page", selectors: ["execution:*:*:failed", "task:*:*:*:failed"] },
  ]);
  const found = ofLog(executions, { index });
  expect(found.map(({ hook, event_key, event_type }) => [hook, event_key, event_type])).toEqual([
    ["watch", "e1:4", "started"],
    ["watch", "e1:5", "failed"],
    ["page", "e1:5", "failed"],
  ]);
  expect(found[0]).toEqual({
    id: deliveryId({ hook_id: "h1", event_key: "e1:4", recorded_at }, toyDigest),
    hook_id: "h1",
    hook: "watch",
    event_key: "e1:4",
    event_type: "started",
    source_workflow: "shop/checkout",
    selector: "task:shop:*:charge:*",
    hop: 0,
    event: executions.log()[3],
  });
  expect(new Set(found.map(({ id }) => id)).size).toBe(3);
});

test("HOOK-7 HOOK-14 an execution that is created, claimed and started fires for each", () => {
  const executions = new MemoryRows();
  executions.running();
  expect(ofLog(executions).map(({ event_type }) => event_type)).toEqual([
    "created",
    "claimed",
    "running",
  ]);
});

test("HOOK-11 without enabled hooks events are not even looked at", () => {
  const executions = new MemoryRows();
  executions.running();
  const unreadable = new Proxy<Event[]>([], { get: () => expect.unreachable("it is looked at") });
  expect(deliveries(executions, unreadable, { index: NO_HOOKS })).toEqual([]);
});

test("HOOK-8 a task's segment is the name of its events: a task's own, or the word of a built-in", () => {
  const executions = new MemoryRows();
  executions.running();
  executions.send("RUNNING", [
    event("TASK_STARTED", "pause~1"),
    event("TASK_STARTED", "charge~1/refund~2"),
  ]);
  const index = new HookIndex([
    { id: "h1", name: "p", selectors: ["task:shop:checkout:pause:started"] },
    { id: "h2", name: "r", selectors: ["task:shop:checkout:refund:started"] },
    { id: "h3", name: "id", selectors: ["task:shop:checkout:charge:*"] },
  ]);
  expect(ofLog(executions, { index }).map(({ hook }) => hook)).toEqual(["p", "r"]);
});

test("HOOK-34 events of an execution that a hook started have a hop more than it", () => {
  const executions = new MemoryRows();
  executions.create();
  expect(ofLog(executions).map(({ hop }) => hop)).toEqual([0]);
  expect(ofLog(executions, { hop: 0 }).map(({ hop }) => hop)).toEqual([1]);
  expect(ofLog(executions, { hop: 2 }).map(({ hop }) => hop)).toEqual([3]);
});

test("HOOK-15 the same events yield the same deliveries again", () => {
  const executions = new MemoryRows();
  executions.running();
  expect(ofLog(executions)).toEqual(ofLog(executions));
});

test("HOOK-18 a transient execution fires for what of it is persisted", () => {
  const executions = new MemoryRows();
  executions.running({ transient: true });
  executions.send("COMPLETED", [event("WORKFLOW_COMPLETED", "e1")]);
  expect(ofLog(executions).map(({ event_type }) => event_type)).toEqual([
    "created",
    "claimed",
    "running",
    "completed",
  ]);
});

/** A fork of a run that started two calls, up to `from_seq`. */
function forked(from_seq: number | undefined, over: Partial<NewExecution> = {}): MemoryRows {
  const executions = new MemoryRows();
  executions.running();
  executions.send("RUNNING", [
    event("TASK_STARTED", "a~1"),
    event("TASK_COMPLETED", "a~1"),
    event("TASK_STARTED", "b~1"),
  ]);
  const { seq, history, label } = forkHistory(executions.row(), executions.log(), { from_seq });
  const from = { execution_id: "e1", seq };
  executions.create({
    execution_id: "f1",
    trigger: { kind: "fork" },
    fork: { from, history, label, calls: new Map() },
    ...over,
  });
  return executions;
}

test("HOOK-14 EXE-87 of a fork its own events fire, and none that it copied", () => {
  const executions = forked(5);
  expect(executions.types("f1")).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "WORKFLOW_RESUMING",
  ]);
  const first = ofLog(executions, { id: "f1" });
  expect(first.map(({ event_key, event_type }) => [event_key, event_type])).toEqual([
    ["f1:1", "created"],
    ["f1:6", "resuming"],
  ]);
  executions.change((row) => decideClaim(row, { worker: "w1", session: "s1", now: 1 }), "f1");
  const later = deliveries(executions, executions.log("f1").slice(6), { id: "f1" });
  expect(later.map(({ event_key, event_type }) => [event_key, event_type])).toEqual([
    ["f1:7", "claimed"],
  ]);
});

test("HOOK-14 EXE-87 a fork that starts anew has copied nothing", () => {
  const executions = forked(undefined);
  executions.claim("f1");
  const types = ofLog(executions, { id: "f1" }).map(({ event_type }) => event_type);
  expect(types).toEqual(["created", "claimed"]);
});

test("HOOK-14 AFF-5 a fork that no worker can ever have fires for its failure", () => {
  const unplaceable = {
    type: "UnplaceableError",
    code: null,
    message: "no worker can have it",
    retryable: false,
    details: null,
    cause: null,
    attempts: 1,
    task_call_id: null,
  };
  const executions = forked(5, { unplaceable });
  const types = ofLog(executions, { id: "f1" }).map(({ event_type }) => event_type);
  expect(types).toEqual(["created", "failed"]);
});
