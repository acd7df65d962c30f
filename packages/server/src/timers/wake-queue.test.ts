import { expect, test } from "vitest";
import { compareDue, WakeQueue } from "./wake-queue.ts";

/** Numbers that look random and are the same every time. */
function* numbers(): Generator<number, never, void> {
  for (let n = 1; ; n = (n * 48_271) % 2_147_483_647) yield n;
}

test("whatever is added, moved and removed, the earliest comes out first", () => {
  const random = numbers();
  const next = (below: number) => random.next().value % below;
  const queue = new WakeQueue();
  const expected = new Map<string, number>();
  for (let step = 0; step < 5000; step++) {
    const execution_id = `e${next(200)}`;
    if (next(3) === 0) {
      queue.remove(execution_id);
      expected.delete(execution_id);
    } else {
      const wake_at = next(50);
      queue.set({ execution_id, wake_at });
      expected.set(execution_id, wake_at);
    }
    const all = [...expected].map(([id, at]) => ({ execution_id: id, wake_at: at }));
    expect(queue.size).toBe(all.length);
    expect(queue.first).toEqual(all.sort(compareDue)[0]);
  }
  const order = [...expected].map(([id, at]) => ({ execution_id: id, wake_at: at }));
  for (const entry of order.sort(compareDue)) expect(queue.shift()).toEqual(entry);
  expect(queue.shift()).toBeUndefined();
});

test("keeping the earliest drops the others for good", () => {
  const queue = new WakeQueue();
  for (const n of [5, 3, 9, 1, 7]) queue.set({ execution_id: `e${n}`, wake_at: n });
  expect(queue.keep(3)).toEqual({ execution_id: "e5", wake_at: 5 });
  queue.set({ execution_id: "e4", wake_at: 4 });
  const left = Array.from({ length: queue.size }, () => queue.shift()?.wake_at);
  expect(left).toEqual([1, 3, 4, 5]);
});
