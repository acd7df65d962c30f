import fc from "fast-check";
import { expect, test } from "vitest";
import { FairOrder, type FairShare } from "./fair-order.ts";

/** Claims of keys that always wait, in the order in which they get them; ties go by name. */
function claims(fair: FairOrder, shares: readonly FairShare[], count: number): string[] {
  return Array.from({ length: count }, () => {
    const sorted = shares.toSorted((a, b) => fair.compare(a, b) || (a.key < b.key ? -1 : 1));
    const [next] = sorted as [FairShare];
    fair.claimed(next);
    return next.key;
  });
}

const share = (key: string, weight = 1, priority = 0): FairShare => ({ key, weight, priority });

test("FLW-6 of any n·k claims in a row at least n − 1 are of each of k keys that wait", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.nat(7), { maxLength: 40 }),
      fc.integer({ min: 1, max: 6 }),
      fc.nat(20),
      (k, before, n, from) => {
        const keys = Array.from({ length: k }, (_, i) => share(`key ${i}`));
        const fair = new FairOrder();
        // Whatever was claimed before, of whichever of them waited then.
        for (const i of before) fair.claimed(keys[i % k] as FairShare);
        const made = claims(fair, keys, from + n * k + before.length * k).slice(before.length * k);
        const window = made.slice(from, from + n * k);
        for (const { key } of keys) {
          const had = window.filter((one) => one === key).length;
          expect(had).toBeGreaterThanOrEqual(n - 1);
        }
      },
    ),
  );
});

test("FLW-6 weights scale the shares", () => {
  const made = claims(new FairOrder(), [share("a", 1), share("b", 3)], 400);
  expect(made.filter((key) => key === "b").length).toBe(300);
});

test("FLW-6 a key that comes later is owed nothing for the time before", () => {
  const fair = new FairOrder();
  claims(fair, [share("a")], 100);
  const made = claims(fair, [share("a"), share("b")], 10);
  expect(made.filter((key) => key === "b").length).toBe(5);
});

test("FLW-5 a higher priority comes first, whatever its key has had", () => {
  const fair = new FairOrder();
  const [low, high] = [share("a", 1, 0), share("b", 1, 5)];
  expect(claims(fair, [low, high], 20)).toEqual(Array(20).fill("b"));
  expect(fair.compare(high, low)).toBeLessThan(0);
});
