import { expect, test } from "vitest";
import { event, MemoryRows } from "../testing/memory-rows.ts";
import type { Effect } from "./change.ts";
import { MemoryExecutions } from "./memory-executions.ts";

const fresh = (execution_id: string) => new MemoryRows().fresh({ execution_id });

test("a change is written with all its effects, the changed execution at the head", () => {
  const executions = new MemoryExecutions();
  executions.create(fresh("e1"));
  const create: Effect = { kind: "create", fresh: fresh("e2") };
  const written = executions.change("e1", {
    events: [event("TASK_STARTED", "a")],
    patch: { name: "renamed" },
    effects: [create],
  });
  expect(written.map(({ row, events }) => [row, events.map(({ seq }) => seq)])).toEqual([
    [executions.row("e1"), [2]],
    [executions.row("e2"), [1]],
  ]);
  expect(executions.row("e1")).toMatchObject({ head: 2, name: "renamed" });
  expect(executions.log("e1").map(({ type }) => type)).toEqual([
    "WORKFLOW_CREATED",
    "TASK_STARTED",
  ]);
});

test("a change whose effect is refused writes nothing", () => {
  const executions = new MemoryExecutions();
  for (const id of ["e1", "e2"]) executions.create(fresh(id));
  const before = executions.row("e1");
  const effects: Effect[] = [{ kind: "create", fresh: fresh("e2") }];
  const change = { events: [event("TASK_STARTED", "a")], patch: {}, effects };
  expect(() => executions.change("e1", change)).toThrow("an execution e2 exists already");
  expect(executions.row("e1")).toBe(before);
  expect(executions.log("e1")).toHaveLength(1);
});

test("what a change wrote stays as it was when the log grows", () => {
  const executions = new MemoryExecutions();
  const [created] = executions.create(fresh("e1"));
  executions.change("e1", { events: [event("TASK_STARTED", "a")], patch: {} });
  expect(created?.events).toHaveLength(1);
});

test("an execution is claimed as it is created, and an unknown one is not found", () => {
  const executions = new MemoryExecutions();
  const [created] = executions.create(fresh("e1"), { worker: "w", session: "s", now: 10_000 });
  expect(created?.row).toMatchObject({ state: "CLAIMED", session: "s" });
  expect(() => executions.row("e9")).toThrow("e9");
  expect(executions.log("e9")).toEqual([]);
});
