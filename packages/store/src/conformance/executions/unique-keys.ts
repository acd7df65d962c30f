import type { NewExecution } from "@engine/contract";
import { expect, test } from "vitest";
import { type Open, opened } from "../opened.ts";
import { claimant, executionId, newExecution } from "../sample.ts";
import { run } from "./family.ts";

export function uniqueKeyConformance(open: Open): void {
  test("EXE-84 a known key creates nothing and is answered with the execution that has it", async () => {
    const store = await opened(open);
    const first = await store.executions.create(keyed(1, "k", { input: "first" }));
    expect(first.existing).toBeUndefined();
    await run(store, executionId(1));
    const row = await store.executions.find(executionId(1));
    const second = await store.executions.create(keyed(2, "k", { input: "second" }), claimant);
    expect(second).toMatchObject({ row, events: [], others: [], existing: true });
    expect(await store.executions.findByKey("k")).toEqual(row);
    expect(await store.executions.findByKey("nobody's")).toBeUndefined();
    expect(second.row).toMatchObject({ request_hash: "of 1", input: "first", state: "RUNNING" });
    expect(await store.executions.find(executionId(2))).toBeUndefined();
    expect(await store.log.read(executionId(2))).toEqual([]);
    const other = await store.executions.create(keyed(3, "K"));
    expect(other).toMatchObject({ row: { unique_key: "K" }, events: [{ seq: 1 }] });
  });

  test("EXE-84 a key lives as long as its execution, however that ended", async () => {
    const store = await opened(open);
    await store.executions.create(keyed(1, "k"));
    const patch = { state: "FAILED", finished_at: 1 } as const;
    await store.executions.change(executionId(1), () => ({ events: [], patch }));
    const again = await store.executions.create(keyed(2, "k"));
    expect(again).toMatchObject({ row: { execution_id: executionId(1) }, existing: true });
  });

  test("EXE-84 EXE-75 of those that ask with one key at once, one creates", async () => {
    const store = await opened(open);
    await store.executions.create(keyed(99, "taken"));
    const asked = await Promise.allSettled([
      store.executions.create(keyed(1, "k"), claimant),
      store.executions.create(keyed(2, "k")),
      store.executions.create(newExecution(3)),
      store.executions.create(keyed(4, "taken")),
      // It is asked by the key first, so the id does not matter.
      store.executions.create(keyed(99, "k")),
      store.executions.create(keyed(5, "l")),
      store.executions.create(newExecution(3)),
    ]);
    const ids = asked.map((one) => one.status === "fulfilled" && one.value.row.execution_id);
    const [first, third, fifth, last] = [1, 3, 5, 99].map(executionId);
    expect(ids).toEqual([first, first, third, last, first, fifth, false]);
    const existing = asked.map((one) => one.status === "fulfilled" && !!one.value.existing);
    expect(existing).toEqual([false, true, false, true, true, false, false]);
    expect(asked[1]).toMatchObject({ value: { row: { state: "CLAIMED", head: 2 } } });
    const { items } = await store.executions.list({ order: "created_asc", limit: 9, offset: 0 });
    expect(items.map(({ execution_id }) => execution_id)).toEqual([first, third, fifth, last]);
    expect(await store.log.read(executionId(1))).toHaveLength(2);
  });

  test("EXE-84 a refused creation leaves its key free", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    const both = await Promise.allSettled([
      store.executions.create(keyed(1, "k")),
      store.executions.create(keyed(2, "k")),
    ]);
    expect(both).toMatchObject([
      { reason: { code: "conflict" } },
      { value: { row: { execution_id: executionId(2), unique_key: "k" }, events: [{ seq: 1 }] } },
    ]);
  });

  test("EXE-84 whoever asks with the key in the same commit sees what the others have done", async () => {
    const store = await opened(open);
    await store.executions.create(keyed(1, "k", { input: "x".repeat(9_000) }));
    const patch = { name: "renamed" };
    const [changed, found] = await Promise.all([
      store.executions.change(executionId(1), () => ({ events: [], patch })),
      store.executions.create(keyed(2, "k")),
    ]);
    expect(found.row).toEqual(changed.row);
    expect(found.row).toMatchObject({ name: "renamed", input: "x".repeat(9_000) });
  });
}

function keyed(n: number, key: string, fields: Partial<NewExecution> = {}): NewExecution {
  return newExecution(n, { unique: { key, request_hash: `of ${n}` }, ...fields });
}
