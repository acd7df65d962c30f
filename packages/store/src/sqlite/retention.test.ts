import { expect, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import { appending, event, executionId, NOW, newExecution } from "../conformance/sample.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const open = () => openSqliteStore({ path: ":memory:", synchronous: "full", clock: Date.now });

test("EXE-98 a sweep holds up no write: what is asked for meanwhile is answered between its steps", async () => {
  const store = await opened(open);
  const { execution_id } = (await store.executions.create(newExecution(1))).row;
  // Each change is a row of the log; more than go in one step.
  const change = () =>
    store.executions.change(execution_id, (row) => appending(row, [event("TASK_STARTED", "a")]));
  await Promise.all(Array.from({ length: 1_800 }, change));
  await store.executions.change(execution_id, (row) =>
    appending(row, [event("WORKFLOW_COMPLETED", execution_id)], { finished_at: NOW }),
  );
  const order: string[] = [];
  const sweep = store.retention.deleteFinished(NOW + 1, 100).then((ids) => {
    order.push("swept");
    return ids;
  });
  for (const n of [2, 3]) {
    await store.executions.create(newExecution(n));
    order.push(`created ${n}`);
    // What is left of a log that is being deleted has no holes.
    const log = await store.log.read(execution_id);
    expect(log.map(({ event: { seq } }) => seq)).toEqual(log.map((_, i) => i + 1));
  }
  expect(await sweep).toEqual([executionId(1)]);
  expect(order).toEqual(["created 2", "created 3", "swept"]);
  expect(await store.log.read(execution_id)).toEqual([]);
});
