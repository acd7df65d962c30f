import { expect, test } from "vitest";
import { Clock } from "./clock.ts";
import { Process } from "./process.ts";
import { Random } from "./random.ts";
import { Trace } from "./trace.ts";
import { World } from "./world.ts";

const random = (name: string) => new Random(name);
const worldOf = (early = 0): World =>
  new World({ random: random("world"), trace: new Trace(false), early });

test("a clock moves at every reading, never back, and by 3 ms at the most", () => {
  const clock = new Clock(worldOf(), { random: random("a"), pace: 3 });
  const before = clock.reached;
  let last = clock.read();
  for (let i = 0; i < 20; i++) {
    const now = clock.read();
    expect(now).toBeGreaterThanOrEqual(last);
    expect(now - last).toBeLessThanOrEqual(4);
    last = now;
  }
  expect(clock.reached - before).toBeGreaterThan(5);
});

test("however often it is read, its owner does not get further than the world can catch up", () => {
  const clock = new Clock(worldOf(), { random: random("a"), pace: 3 });
  for (let i = 0; i < 10_000; i++) clock.read();
  expect(clock.ahead).toBeGreaterThan(50);
  expect(clock.ahead).toBeLessThanOrEqual(100);
});

test("a clock that does not move is right", () => {
  const world = worldOf();
  const clock = new Clock(world, { random: random("a"), pace: 0 });
  expect([clock.read(), clock.read()]).toEqual([world.now, world.now]);
});

test("who looks at the time while it works is further by then: the next thing happens to it later, in order", async () => {
  const world = worldOf();
  const worker = new Process(world, { name: "w1", id: "w1-1", random: random("w"), pace: 3 });
  const seen: [string, number][] = [];
  const happens = (what: string) => () => {
    seen.push([what, worker.time.reached]);
    for (let i = 0; i < 10; i++) worker.clock();
  };
  for (const [i, what] of ["first", "second", "third"].entries()) {
    worker.after(1 + i / 1000, happens(what));
  }
  await world.run(() => seen.length === 3);
  expect(seen.map(([what]) => what)).toEqual(["first", "second", "third"]);
  const [[, first = 0] = [], [, second = 0] = [], [, third = 0] = []] = seen;
  expect(Math.min(second - first, third - second)).toBeGreaterThan(1);
});

test("I10 a timer never fires before its time is over by the clock of its process", async () => {
  const world = worldOf();
  let fired = 0;
  for (let i = 0; i < 50; i++) {
    const options = { name: "w1", id: `w1-${i}`, random: random(`w${i}`), pace: 3 };
    const worker = new Process(world, options);
    const until = worker.clock() + 1_000 * (i + 1);
    worker.setTimer(() => {
      fired++;
      expect(worker.time.peek()).toBeGreaterThanOrEqual(until);
    }, until - worker.clock());
  }
  await world.run(() => fired === 50);
});
