import type { ExecutionRow } from "@engine/contract";
import { expect, test } from "vitest";
import { Random } from "./random.ts";
import { RestWatch } from "./rest-watch.ts";
import { CommitRecord } from "./store/commit-record.ts";
import { Trace } from "./trace.ts";
import { World } from "./world.ts";

function scene() {
  const world = new World({ random: new Random("a"), trace: new Trace(false), early: 0 });
  const record = new CommitRecord(world);
  const state = { isUp: true, wholeSince: world.now };
  const watch = new RestWatch({
    world,
    record,
    workers: () => [],
    isUp: () => state.isUp,
    wholeSince: () => state.wholeSince,
  });
  const pass = (ms: number) => {
    world.now += ms;
    return watch.look();
  };
  return { world, record, watch, state, pass };
}

test("the engine is at rest when nothing has become durable for a while and all is up", () => {
  const { record, world, pass, watch } = scene();
  expect([pass(0), pass(6_000)]).toEqual([false, false]);
  record.lastAt = world.now;
  expect([pass(11_000), pass(1_000)]).toEqual([false, true]);
  expect(watch.rests).toMatchObject([{ at: world.now, since: record.lastAt, rows: [] }]);
});

test("a rest is noted once, with those that wait in it", () => {
  const { record, world, pass, watch } = scene();
  record.open.set("e1", { execution_id: "e1" } as ExecutionRow);
  pass(0);
  expect([pass(12_000), pass(1_000), pass(1_000)]).toEqual([true, true, true]);
  expect(watch.rests).toHaveLength(1);
  record.lastAt = world.now;
  pass(12_000);
  expect(watch.rests).toHaveLength(2);
});

test("while something is broken, or shows what it has broken, nothing is at rest", () => {
  const { state, world, pass } = scene();
  state.isUp = false;
  expect(pass(60_000)).toBe(false);
  state.isUp = true;
  expect([pass(0), pass(11_000), pass(1_000)]).toEqual([false, false, true]);
  state.wholeSince = world.now + 30_000;
  expect([pass(40_000), pass(2_000)]).toEqual([false, true]);
});
