import { expect, test } from "vitest";
import { type Open, opened } from "./opened.ts";
import { appending, event, executionWithLog } from "./sample.ts";

export function conformance(open: Open): void {
  test("EXE-86 a log reads whole, upwards from a place, or its newest events", async () => {
    const store = await opened(open);
    const id = await executionWithLog(store, 1, 9);
    await executionWithLog(store, 2, 5);
    const seqs = async (page?: Parameters<typeof store.log.read>[1]) =>
      (await store.log.read(id, page)).map(({ event }) => event.seq);

    expect(await seqs()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await seqs({ after: 0 })).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await seqs({ after: 4 })).toEqual([5, 6, 7, 8, 9]);
    expect(await seqs({ after: 4, limit: 2 })).toEqual([5, 6]);
    expect(await seqs({ after: 2, limit: 3 })).toEqual([3, 4, 5]);
    expect(await seqs({ after: 9 })).toEqual([]);
    expect(await seqs({ before: 5 })).toEqual([1, 2, 3, 4]);
    expect(await seqs({ before: 5, limit: 2 })).toEqual([3, 4]);
    expect(await seqs({ before: 4, limit: 9 })).toEqual([1, 2, 3]);
    expect(await seqs({ before: 1, limit: 2 })).toEqual([]);
    expect(await seqs({ limit: 3 })).toEqual([7, 8, 9]);
    expect(await seqs({ limit: 0 })).toEqual([]);
    expect(await seqs({ limit: 50 })).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await seqs({ after: 2, before: 6 })).toEqual([3, 4, 5]);
  });

  test("EXE-86 events of some types are read by themselves, page by page, with their numbers", async () => {
    const store = await opened(open);
    const id = await executionWithLog(store, 1, 9);
    const odd = 'type":"TASK_FAILED", nul \u0000 half \ud800 two \\u0000 {"type":"TASK_FAILED"}';
    const value = { type: "TASK_FAILED", odd, [`key \u0000`]: [{ type: "TASK_PAUSED" }] };
    const some = [
      event("TASK_FAILED", "a", { n: 1e21 }),
      event("TASK_COMPLETED", "b", value),
      event("TASK_FAILED", "c", value),
    ];
    await store.executions.change(id, (row) => appending(row, some));
    // A copy for a fork, whose changes are cut into several rows.
    const many = Array.from({ length: 1_200 }, (_, i) =>
      event(i % 500 === 0 ? "TASK_FAILED" : "TASK_STARTED", `x~${i}`),
    );
    await store.executions.change(id, (row) => appending(row, many));
    const all = await store.log.read(id);
    for (const types of [
      ["TASK_FAILED"],
      ["TASK_FAILED", "TASK_COMPLETED"],
      ["TASK_PAUSED"],
      ["WORKFLOW_CREATED", "TASK_COMPLETED"],
    ] as const) {
      const wanted = all.filter(({ event: { type } }) => types.some((one) => one === type));
      for (const after of [0, 10, 1_013]) {
        for (const limit of [2, 5_000]) {
          const behind = wanted.filter(({ event: { seq } }) => seq > after);
          expect(await store.log.ofTypes(id, { types, after, limit })).toEqual({
            items: behind.slice(0, limit),
            total: wanted.length,
            before: wanted.length - behind.length,
          });
        }
      }
    }
    const nothing = { items: [], total: 0, before: 0 };
    const page = { types: ["TASK_FAILED"], after: 0, limit: 5 } as const;
    expect(await store.log.ofTypes("nobody's", page)).toEqual(nothing);
  });

  test("EXE-23 an event reads as it was written, with the number it was given", async () => {
    const store = await opened(open);
    const id = await executionWithLog(store, 1, 3);
    const [, second] = await store.log.read(id);
    expect(second?.event).toEqual({
      seq: 2,
      type: "TASK_STARTED",
      source_id: "call-2",
      name: "greet",
      kind: null,
      value: { seq: 2 },
      time: "2026-01-02 03:04:05.006",
      meta: null,
    });
  });
}
