import { expect, test } from "vitest";
import { DispatchQueue } from "./dispatch-queue.ts";

function entry(execution_id: string, queued_at = 0, priority = 0) {
  return {
    execution_id,
    queued_at,
    priority,
    last_worker: null,
    requirements: null,
    was_lost: false,
    head: 1,
  };
}

function order(queue: DispatchQueue): string[] {
  return [...queue.groups()].flatMap((group) => [...group].map((each) => each.execution_id));
}

test("DSP-4 higher priority goes first, then who waits longer, then the id", () => {
  const queue = new DispatchQueue();
  for (const e of [entry("c", 2), entry("b", 1), entry("a", 1), entry("d", 9, 5)]) queue.add(e);
  expect(order(queue)).toEqual(["d", "a", "b", "c"]);
});

test("an execution waits once, at the place it was told last", () => {
  const queue = new DispatchQueue();
  queue.add(entry("a", 1));
  queue.add(entry("b", 2));
  queue.add(entry("a", 3));
  expect(order(queue)).toEqual(["b", "a"]);
  queue.remove("b");
  queue.remove("nobody");
  expect(order(queue)).toEqual(["a"]);
});
