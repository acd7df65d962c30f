import type { ResolvedLimit } from "@engine/contract";
import { expect, test } from "vitest";
import { KnownRoom } from "./known-room.ts";

const places = (count: number): ResolvedLimit => ({ kind: "concurrency", bucket: "w", count });
const rate = (count: number): ResolvedLimit => ({
  ...{ kind: "rate", bucket: "w", count, period_ms: 1_000 },
});

function counted(limits: readonly ResolvedLimit[], most: number, at = 0): KnownRoom {
  const room = new KnownRoom();
  room.counted(limits, at, () => most);
  return room;
}

test("FLW-8 nothing is known of what was not counted", () => {
  expect(new KnownRoom().has([places(100)], 0)).toBe(false);
  expect(counted([places(100)], 1).has([places(100), rate(100)], 0)).toBe(false);
  const daily: ResolvedLimit = { kind: "rate", bucket: "w", count: 100, period_ms: 86_400_000 };
  expect(counted([rate(100)], 1).has([daily], 0)).toBe(false);
});

test("FLW-8 claims that are let in are counted, until it has to be looked again", () => {
  const limits = [places(5), rate(6)];
  const room = counted(limits, 1);
  let more = 0;
  for (; room.has(limits, 0); more++) room.grown(limits);
  expect(more).toBe(4);
});

test("FLW-2 FLW-8 a claim counts for other rates of its bucket, whether it was counted itself or not", () => {
  const daily: ResolvedLimit = { kind: "rate", bucket: "w", count: 100, period_ms: 86_400_000 };
  const room = counted([rate(100)], 1);
  room.counted([daily], 0, () => 1);
  room.grown([daily]);
  expect([room.has([rate(4)], 0), room.has([rate(3)], 0)]).toEqual([true, false]);
});

test("FLW-8 a growing bucket is counted again each time that it seems to be a quarter larger", () => {
  const limits = [places(1_000_000)];
  const room = new KnownRoom();
  const looked: number[] = [];
  for (let most = 1; most <= 300; most++) {
    if (room.has(limits, 0)) room.grown(limits);
    else {
      looked.push(most);
      room.counted(limits, 0, () => most);
    }
  }
  expect(looked).toEqual([
    ...[1, 9, 17, 25, 33, 41, 49, 57, 65, 81, 97, 113, 129, 161, 193, 225, 257],
  ]);
});

test("FLW-2 FLW-8 what was counted at a later instant says nothing of an earlier one", () => {
  const room = counted([rate(100)], 1, 5_000);
  expect(room.has([rate(100)], 4_999)).toBe(false);
  expect(room.has([rate(100)], 5_000)).toBe(true);
});

test("FLW-3 FLW-8 operators' limits, and places that are kept while waiting, are always looked at", () => {
  const named: ResolvedLimit = { kind: "limit", bucket: "n", name: "openai" };
  expect(counted([named], 1).has([named], 0)).toBe(false);
  const kept: ResolvedLimit = {
    kind: "concurrency",
    bucket: "w",
    count: 9,
    hold_while_waiting: true,
  };
  expect(counted([kept], 1).has([kept], 0)).toBe(false);
});

test("what is forgotten is not known", () => {
  const room = counted([places(9)], 1);
  room.forget();
  expect(room.has([places(9)], 0)).toBe(false);
});
