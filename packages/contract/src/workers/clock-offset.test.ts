import { expect, test } from "vitest";
import { clockNews } from "./clock-offset.ts";

test("a clock that is off by a second or less is nothing to tell of", () => {
  expect([-1_000, -1, 0, 1_000].map((offset) => clockNews(0, offset))).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
});

test("a clock that is off is told of once, again when it is off by something else, and when it is right", () => {
  expect(clockNews(0, -3_600_000)).toBe("off");
  expect(clockNews(-3_600_000, -3_600_400)).toBeUndefined();
  expect(clockNews(-3_600_000, 3_600_000)).toBe("off");
  expect(clockNews(3_600_000, 12)).toBe("right");
});
