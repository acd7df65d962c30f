import { expect, test } from "vitest";
import { type ProgressNote, ProgressNotes } from "./progress.ts";
import { World } from "./testing/world.ts";

function listening() {
  const world = new World();
  const sent: ProgressNote[] = [];
  const { clock, setTimer } = world;
  const send = (note: ProgressNote) => sent.push(note);
  return { world, sent, notes: new ProgressNotes({ token: "t", send, clock, setTimer }) };
}

/** Without what sums of decimal fractions are off by. */
const rounded = (value: number) => Number(value.toFixed(6));

test("MCP-12 a value with a number of its own is sent as such, with total and message", () => {
  const { sent, notes } = listening();
  notes.add({ progress: 3, total: 10, message: "three", more: true });
  notes.add({ progress: 4.5, total: "ten" });
  expect(sent).toEqual([
    { progressToken: "t", progress: 3, total: 10, message: "three" },
    { progressToken: "t", progress: 4.5 },
  ]);
});

test("MCP-12 any other value counts, with itself as the message", () => {
  const { sent, notes } = listening();
  for (const value of ["one", { step: 2 }, 3, null]) notes.add(value);
  expect(sent.map(({ progress, message }) => [progress, message])).toEqual([
    [1, "one"],
    [2, '{"step":2}'],
    [3, "3"],
    [4, "null"],
  ]);
});

test("MCP-12 the JSON of a message is cut to 500 characters", () => {
  const { sent, notes } = listening();
  notes.add([`${"x".repeat(497)}😀 and more`]);
  expect(sent[0]?.message).toHaveLength(500);
  expect(sent[0]?.message?.isWellFormed()).toBe(true);
});

test("MCP-12 progress rises strictly, also where values do not", () => {
  const { sent, notes } = listening();
  for (const progress of [5, 5, 2, 6, -1, 2 ** 60, 1]) notes.add({ progress });
  notes.add("counted");
  const told = sent.map(({ progress }) => progress);
  expect(told.slice(0, 5).map(rounded)).toEqual([5, 5.001, 5.002, 6, 6.001]);
  for (const [index, value] of told.slice(1).entries()) {
    expect(value).toBeGreaterThan(told[index] ?? Number.NaN);
  }
});

test("MCP-12 after a burst of 20 there are at most 20 per second, and the newest value wins", () => {
  const { world, sent, notes } = listening();
  for (let step = 1; step <= 100; step += 1) notes.add({ progress: step });
  expect(sent.map(({ progress }) => progress)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  world.pass(50);
  expect(sent.slice(20).map(({ progress }) => progress)).toEqual([100]);
  for (let step = 101; step <= 1100; step += 1) {
    world.pass(1);
    notes.add({ progress: step });
  }
  world.pass(50);
  expect(sent.length).toBeGreaterThanOrEqual(21 + 19);
  expect(sent.length).toBeLessThanOrEqual(21 + 21);
  expect(sent.at(-1)?.progress).toBe(1100);
});

test("MCP-12 after 10 seconds of silence there is a sign of life, and again after 10 more", () => {
  const { world, sent, notes } = listening();
  world.pass(10_000);
  expect(sent).toEqual([{ progressToken: "t", progress: 0.001 }]);
  notes.add("one");
  world.pass(9_999);
  expect(sent).toHaveLength(2);
  world.pass(10_001);
  expect(sent.map(({ progress }) => rounded(progress))).toEqual([0.001, 1.001, 1.002, 1.003]);
});

test("MCP-12 when the call is over nothing is sent any more", () => {
  const { world, sent, notes } = listening();
  for (let step = 1; step <= 30; step += 1) notes.add({ progress: step });
  notes.stop();
  world.pass(60_000);
  expect(sent).toHaveLength(20);
  expect(world.waiting).toBe(0);
});
