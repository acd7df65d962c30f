import { expect, test } from "vitest";
import type { Store } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import { appending, event, executionId, NOW, newExecution } from "./sample.ts";

const LATER = NOW + 60_000;

export function conformance(open: Open): void {
  test("EXE-98 I23 what was deleted is remembered until its stored values are confirmed to be gone", async () => {
    const store = await opened(open);
    for (const n of [1, 2, 3]) await store.executions.create(newExecution(n));
    await finish(store, 1);
    await finish(store, 2);
    expect(await store.forgottenValues.list(10)).toEqual([]);
    await store.retention.deleteFinished(LATER, 100);
    expect(await store.forgottenValues.list(1)).toEqual([executionId(1)]);
    expect(await store.forgottenValues.list(10)).toEqual([1, 2].map(executionId));
    await store.forgottenValues.confirm([executionId(1)]);
    expect(await store.forgottenValues.list(10)).toEqual([executionId(2)]);
    await store.forgottenValues.confirm([1, 2].map(executionId));
    expect(await store.forgottenValues.list(10)).toEqual([]);
  });
}

async function finish(store: Store, n: number, at: number = NOW): Promise<void> {
  await store.executions.change(executionId(n), (row) => {
    const ended = event("WORKFLOW_COMPLETED", row.execution_id, "done");
    return appending(row, [ended], { state: "COMPLETED", finished_at: at });
  });
}
