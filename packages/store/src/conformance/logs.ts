import { expect, test } from "vitest";
import { type Open, opened } from "./opened.ts";
import { executionWithLog } from "./sample.ts";

export function logConformance(open: Open): void {
  test("EXE-86 a log reads whole, upwards from a place, or its newest events", async () => {
    const store = await opened(open);
    const id = await executionWithLog(store, 1, 9);
    await executionWithLog(store, 2, 5);
    const seqs = async (page?: Parameters<typeof store.readLog>[1]) =>
      (await store.readLog(id, page)).map(({ event }) => event.seq);

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

  test("EXE-23 an event reads as it was written, with the number it was given", async () => {
    const store = await opened(open);
    const id = await executionWithLog(store, 1, 3);
    const [, second] = await store.readLog(id);
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
