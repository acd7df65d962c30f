import type { LimitDenial, ResolvedLimit } from "@engine/contract";
import { expect, test } from "vitest";
import { KnownBuckets } from "./known-buckets.ts";

const limit: ResolvedLimit = { kind: "concurrency", count: 1, bucket: '["concurrency","a/b"]' };
const denied: LimitDenial = {
  reason: "concurrency_limit",
  limit,
  count: 1,
  held: 1,
  holders: ["x"],
};

function full(): KnownBuckets {
  const known = new KnownBuckets();
  known.answered(known.ask([limit]), { denied, took: false });
  return known;
}

test("FLW-8 a limit that was found full is not asked for again until a place comes back", () => {
  const known = full();
  expect(known.denial(limit)).toEqual(denied);
  expect(known.freed(limit.bucket)).toBe(true);
  expect(known.denial(limit)).toBeUndefined();
});

test("FLW-8 a full limit that nobody has tried since it might have had room is forgotten, others stay", () => {
  const known = full();
  expect(known.probe()).toEqual([limit.bucket]);
  known.answered(known.ask([limit]), { denied, took: false });
  expect(known.probe()).toEqual([limit.bucket]);
  expect(known.probe()).toEqual([]);
  expect([...known.denials()]).toEqual([]);
});

test("FLW-8 one that is tried just now is not forgotten", () => {
  const known = full();
  known.probe();
  known.ask([limit]);
  expect(known.probe()).toEqual([limit.bucket]);
});

test("FLW-8 of two claims that are denied one after the other none counts as under way for good", () => {
  const known = full();
  known.freed(limit.bucket);
  known.freed(limit.bucket);
  const [first, second] = [known.ask([limit]), known.ask([limit])];
  known.answered(first, { denied, took: false });
  known.answered(second, { denied, took: false });
  expect(known.denial(limit)).toEqual(denied);
  expect(known.freed(limit.bucket)).toBe(true);
  expect(known.denial(limit)).toBeUndefined();
});
