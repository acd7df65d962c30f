import { expect, test } from "vitest";
import { DispatchQueue } from "./dispatch-queue.ts";

function entry(execution_id: string, queued_at = 0, priority = 0) {
  return {
    execution_id,
    queued_at,
    priority,
    last_worker: null,
    requirements: null,
    losses: null,
    head: 1,
    generation: 0,
    state: "CREATED" as const,
    run_as: null as string | null,
    namespace: "default",
    workflow: "hello",
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

const AWAY = JSON.stringify({ worker: "away" });

test("DSP-12 of those who need the same the first are kept, and who comes behind them is left in the store", () => {
  const queue = new DispatchQueue({ most: 16 });
  for (let at = 16; at > 0; at--) queue.add(entry(`e${at + 10}`, at));
  queue.add({ ...entry("x", 99), requirements: AWAY });
  expect(order(queue)).toEqual([...Array.from({ length: 14 }, (_, n) => `e${n + 11}`), "x"]);
  queue.add(entry("a", 2));
  queue.add(entry("z", 50));
  expect([queue.has("a"), queue.has("z"), queue.has("x")]).toEqual([true, false, true]);
  expect(queue.isLeft(entry("e25", 15))).toBe(true);
  expect(queue.isLeft({ ...entry("y", 100), requirements: AWAY })).toBe(false);
});

test("a group runs dry when all that was kept of it has gone and others of it were left", () => {
  const queue = new DispatchQueue({ most: 2 });
  for (const [id, at] of [
    ["a", 1],
    ["b", 2],
    ["c", 3],
  ] as const)
    queue.add(entry(id, at));
  expect(order(queue)).toEqual(["a"]);
  expect([...queue.dry()]).toEqual([]);
  queue.remove("a");
  const [dry] = queue.dry();
  expect(dry?.cutOff).toMatchObject({ execution_id: "a" });
  if (dry) queue.readOn(dry, entry("c", 3));
  queue.add(entry("c", 3));
  expect(order(queue)).toEqual(["c"]);
  queue.remove("c");
  const [again] = queue.dry();
  if (again) queue.readOn(again, undefined);
  expect([...queue.dry()]).toEqual([]);
  expect([...queue.groups()]).toEqual([]);
});

test("DSP-12 of more groups than can be kept the last are left in the store, as far as they were asked about", () => {
  const queue = new DispatchQueue({ most: 16 });
  const needs = (n: number) => JSON.stringify({ worker: `w${n}` });
  const asked = (n: number) => {
    queue.add({ ...entry(`e${n + 10}`, n), requirements: needs(n) });
    for (let group = queue.firstReady; group; group = queue.firstReady) queue.file(group, () => 0);
  };
  for (let n = 0; n < 16; n++) asked(n);
  expect([queue.size, queue.beyond]).toEqual([16, undefined]);
  asked(16);
  expect([queue.size, queue.hasUnasked]).toEqual([15, false]);
  expect([queue.has("e23"), queue.has("e24"), queue.has("e26")]).toEqual([true, false, true]);
  expect(queue.beyond).toMatchObject({ queued_at: 14 });
  // What is behind them is asked about all the same, and left with them where nobody can have it.
  asked(17);
  asked(18);
  expect([queue.has("e26"), queue.has("e27"), queue.has("e28")]).toEqual([true, false, false]);
  expect(queue.isLeft(entry("e24", 14))).toBe(true);
});

test("what was left in the store while it was read is not missed, though the read began before it", () => {
  const queue = new DispatchQueue({ most: 2 });
  for (const id of ["a", "b", "c"]) queue.add(entry(id, 1));
  queue.beginReading();
  queue.add(entry("aa", 1));
  expect(queue.has("aa")).toBe(false);
  const [group = expect.unreachable()] = queue.groups();
  queue.remove("a");
  queue.readOn(group, entry("b", 1));
  queue.addRead([entry("b", 1)]);
  expect(order(queue)).toEqual(["aa", "b"]);
});

test("AUTH-36 executions that are held make way for those behind them, and come back to their place", () => {
  const queue = new DispatchQueue();
  const by = (run_as: string, id: string, at: number) => ({ ...entry(id, at), run_as });
  const all = [by("ada", "a", 1), by("bob", "b", 2), by("ada", "c", 3), by("bob", "d", 4)];
  for (const one of all) queue.add(one);
  const isAdas = ({ run_as }: { run_as: string | null }) => run_as === "ada";
  const [group = expect.unreachable()] = queue.groups();
  queue.hold(group, isAdas);
  expect(order(queue)).toEqual(["b", "d"]);
  expect([queue.has("a"), queue.isHeld("a"), queue.isHeld("b")]).toEqual([true, true, false]);
  // Those that come later are set aside at once, and news of them are still told apart.
  queue.add(by("ada", "e", 5));
  expect(order(queue)).toEqual(["b", "d"]);
  expect([queue.knows("e", 2), queue.knows("e", 1)]).toEqual([true, false]);
  queue.remove("c");
  // Somebody else has taken it over.
  queue.add(by("bob", "e", 5));
  expect(order(queue)).toEqual(["b", "d", "e"]);
  expect([...queue.held()]).toEqual([{ run_as: "ada", namespace: "default", workflow: "hello" }]);
  expect(queue.free((of) => !isAdas(of))).toBe(false);
  expect(order(queue)).toEqual(["b", "d", "e"]);
  expect(queue.free(isAdas)).toBe(false);
  expect(order(queue)).toEqual(["a", "b", "d", "e"]);
  expect([...queue.held()]).toEqual([]);
});

test("AUTH-36 of very many that are held some stay in the store, until their principal is back", () => {
  const queue = new DispatchQueue({ most: 3 });
  const by = (run_as: string, id: string, at: number) => ({ ...entry(id, at), run_as });
  for (const one of [by("ada", "a", 1), by("ada", "b", 2)]) queue.add(one);
  const [group = expect.unreachable()] = queue.groups();
  queue.hold(group, () => true);
  expect([...queue.groups()]).toEqual([]);
  for (const one of [by("ada", "c", 3), by("ada", "d", 4)]) queue.add(one);
  expect([queue.has("c"), queue.has("d"), queue.isLeft(by("ada", "d", 4))]).toEqual([
    true,
    false,
    true,
  ]);
  expect(queue.free(() => true)).toBe(true);
  expect(order(queue)).toEqual(["a", "b", "c"]);
});
