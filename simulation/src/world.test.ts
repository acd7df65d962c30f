import { expect, test } from "vitest";
import { Random } from "./random.ts";
import { Trace } from "./trace.ts";
import { World } from "./world.ts";

/** What follows from a happening: turns of the event loop, each of which says that it came. */
async function chain(said: string[], name: string): Promise<void> {
  for (let turns = 6; turns > 0; turns--) {
    said.push(`${name}${turns}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function told(early: number, seed: string): Promise<string> {
  const world = new World({ random: new Random(seed), trace: new Trace(false), early });
  const said: string[] = [];
  for (const [i, name] of ["a", "b", "c", "d"].entries()) {
    world.after(i, () => void world.during(chain(said, name)));
  }
  await world.run(() => said.filter((word) => word.endsWith("6")).length === 4);
  return said.join(" ");
}

test("unless the seed says so, nothing happens before all that follows from the last thing is done", async () => {
  expect(await told(0, "a")).toBe(
    ["a", "b", "c", "d"]
      .map((name) => `${name}6 ${name}5 ${name}4 ${name}3 ${name}2 ${name}1`)
      .join(" "),
  );
});

test("where it does, the next thing happens between two turns of the last one, the same way each time", async () => {
  const texts = await Promise.all(["a", "b", "c"].map((seed) => told(1, seed)));
  expect(new Set(texts).size).toBeGreaterThan(1);
  expect(texts.some((text) => text.indexOf("b6") < text.indexOf("a1"))).toBe(true);
});

test("work of the real world is done one after the other, while virtual time waits", async () => {
  const world = new World({ random: new Random("a"), trace: new Trace(false), early: 1 });
  const said: string[] = [];
  const work = (name: string, ms: number) => {
    const began = world.now;
    void world
      .outside(async () => {
        said.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, ms));
      })
      .then(() => said.push(`${name} ends, ${world.now - began} ms later`));
  };
  world.after(1, () => {
    work("slow", 20);
    work("quick", 1);
  });
  world.after(2, () => said.push("the next thing"));
  await world.run(() => said.includes("the next thing"));
  expect(said).toEqual([
    ...["slow begins", "slow ends, 0 ms later", "quick begins", "quick ends, 0 ms later"],
    "the next thing",
  ]);
});

test("a message to who is at work may come before its time, in the order of that way", async () => {
  const world = new World({ random: new Random("a"), trace: new Trace(false), early: 1 });
  const began = world.now;
  const [worker, other] = [{}, {}];
  const said: string[] = [];
  const message = (to: object, name: string, ms: number, isMessage = true) =>
    world.afterTo(to, { ms, isMessage, run: () => void said.push(`${name} ${world.now - began}`) });
  for (let i = 0; i < 40; i++) {
    message(worker, "work", 10 * i);
    message(other, "else", 10 * i + 1);
    message(worker, "timer", 10 * i + 1.5, false);
    message(worker, "first", 10 * i + 2);
    message(worker, "second", 10 * i + 2.5);
  }
  await world.run(() => said.length === 200);
  const times = (name: string) =>
    said.filter((word) => word.startsWith(name)).map((word) => Number(word.split(" ")[1]) % 10);
  expect(times("first").some((ms) => ms < 2)).toBe(true);
  expect(times("timer").every((ms) => ms === 1.5)).toBe(true);
  const ofWorker = said.filter((word) => /first|second/.test(word)).map((word) => word[0]);
  expect(ofWorker.join("")).toBe("fs".repeat(40));
});
