import { expect, test } from "vitest";
import { event, MemoryRows } from "../testing/memory-rows.ts";
import { formatEventTime } from "../values/time.ts";
import { Draft } from "./draft.ts";

test("each step of a decision sees the row as the steps before it have left it", () => {
  const rows = new MemoryRows();
  const draft = new Draft(rows.running(), 20_000);
  draft.append([event("WORKFLOW_PAUSED", "e1")]).set({ session: null, worker: null });
  expect(draft.row).toMatchObject({ state: "PAUSED", session: null, head: 4 });
  draft.write({ type: "WORKFLOW_RESUMING" });
  expect(draft.row).toMatchObject({ state: "RESUMING", head: 5 });
  expect(draft.before.state).toBe("RUNNING");
  expect(draft.done()).toMatchObject({
    kind: "append",
    events: [{ type: "WORKFLOW_PAUSED" }, { type: "WORKFLOW_RESUMING" }],
    patch: { state: "RESUMING", head: 5, session: null },
  });
});

test("EXE-23 an event the engine writes is never older than the newest one", () => {
  const rows = new MemoryRows();
  const row = { ...rows.running(), last_time: 90_000 };
  const [written] = new Draft(row, 20_000).write({ type: "WORKFLOW_CANCELLING" }).done().events;
  expect(written).toEqual({
    type: "WORKFLOW_CANCELLING",
    source_id: "e1",
    name: "checkout",
    kind: null,
    value: null,
    time: formatEventTime(90_000),
    meta: null,
  });
});

test("effects are in the change in the order they were asked for, and absent without any", () => {
  const rows = new MemoryRows();
  const draft = new Draft(rows.running(), 20_000);
  expect(draft.done()).not.toHaveProperty("effects");
  const create = (execution_id: string) =>
    ({ kind: "create", fresh: rows.fresh({ execution_id }) }) as const;
  draft.effect(create("e2")).effect(create("e3"));
  expect(draft.done().effects).toMatchObject([
    { fresh: { execution_id: "e2" } },
    { fresh: { execution_id: "e3" } },
  ]);
});
