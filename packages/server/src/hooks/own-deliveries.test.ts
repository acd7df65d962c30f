import { expect, test } from "vitest";
import { OwnDeliveries } from "./own-deliveries.ts";

const of = (id: string, hook: string) => ({ id, hook, hook_id: `id of ${hook}` });

function withSome(lengths: Readonly<Record<string, number>>): OwnDeliveries {
  const own = new OwnDeliveries();
  for (const [hook, length] of Object.entries(lengths)) {
    own.add(Array.from({ length }, (_, i) => of(`${hook}${i}`, hook)));
  }
  return own;
}

const idsOf = (own: OwnDeliveries, limit: number, after: string | null = null) =>
  own.take(limit, after).map(({ id }) => id);

test("HOOK-24 of 1,000 of one hook and 3 of another a batch of 20 holds 17 and 3", () => {
  const taken = idsOf(withSome({ a: 1_000, b: 3 }), 20);
  expect(taken.filter((id) => id.startsWith("a"))).toHaveLength(17);
  expect(taken.filter((id) => id.startsWith("b"))).toEqual(["b0", "b1", "b2"]);
});

test("HOOK-24 hooks take turns by name from behind the last one, each with its oldest first", () => {
  expect(idsOf(withSome({ c: 1, a: 3, b: 2 }), 9)).toEqual(["a0", "b0", "c0", "a1", "b1", "a2"]);
  expect(idsOf(withSome({ c: 1, a: 3, b: 2 }), 4, "a")).toEqual(["b0", "c0", "a0", "b1"]);
  expect(idsOf(withSome({ c: 1, a: 3 }), 3, "b")).toEqual(["c0", "a0", "a1"]);
  expect(idsOf(withSome({ a: 2 }), 3, "z")).toEqual(["a0", "a1"]);
});

test("what was taken is taken once, and what came twice came once", () => {
  const own = withSome({ a: 3 });
  own.add([of("a2", "a")]);
  expect([idsOf(own, 2), own.isEmpty]).toEqual([["a0", "a1"], false]);
  expect([idsOf(own, 2), own.isEmpty]).toEqual([["a2"], true]);
  expect(idsOf(own, 2)).toEqual([]);
});

test("what was taken up otherwise is not taken any more", () => {
  const own = withSome({ a: 2, b: 1 });
  own.remove([of("a0", "a"), of("b0", "b"), of("x", "x")]);
  expect(idsOf(own, 9)).toEqual(["a1"]);
  expect(own.isEmpty).toBe(true);
});

test("more than 10,000 are not kept one by one", () => {
  const own = new OwnDeliveries();
  const many = Array.from({ length: 10_000 }, (_, i) => of(String(i), "h"));
  expect(own.add(many)).toBe(true);
  expect(own.add([of("one more", "h")])).toBe(false);
  expect(own.isEmpty).toBe(true);
  expect(own.add([of("the next", "h")])).toBe(true);
});
