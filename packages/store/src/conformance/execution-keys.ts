import { expect, test } from "vitest";
import { type Open, opened } from "./opened.ts";
import { appending, event, executionId, NOW, newExecution } from "./sample.ts";

export function conformance(open: Open): void {
  test("SEC-9 an execution has one data key: of those that are added at once the first", async () => {
    const store = await opened(open);
    expect(await store.executionKeys.find("e1")).toBeUndefined();
    const keys = ["a", "b", "c"].map((wrapped) => ({ key_id: "k1", wrapped }));
    const stored = await Promise.all(keys.map((key) => store.executionKeys.add("e1", key)));
    expect(keys).toContainEqual(stored[0]);
    expect(stored).toEqual([stored[0], stored[0], stored[0]]);
    expect(await store.executionKeys.find("e1")).toEqual(stored[0]);
    const other = { key_id: "k2", wrapped: "d" };
    expect(await store.executionKeys.add("e2", other)).toEqual(other);
    expect(await store.executionKeys.find("e1")).toEqual(stored[0]);
  });

  test("SEC-9 EXE-98 a data key goes with its execution, and no other one", async () => {
    const store = await opened(open);
    for (const n of [1, 2]) {
      await store.executions.create(newExecution(n));
      await store.executionKeys.add(executionId(n), { key_id: "k1", wrapped: `key ${n}` });
    }
    await store.executions.change(executionId(1), (row) => {
      const ended = event("WORKFLOW_COMPLETED", row.execution_id, "done");
      return appending(row, [ended], { state: "COMPLETED", finished_at: NOW });
    });
    expect(await store.retention.deleteFinished(NOW + 1, 100)).toEqual([executionId(1)]);
    expect(await store.executionKeys.find(executionId(1))).toBeUndefined();
    expect(await store.executionKeys.find(executionId(2))).toEqual({
      key_id: "k1",
      wrapped: "key 2",
    });
  });
}
