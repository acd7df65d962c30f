import { expect, test } from "vitest";
import { formatEventTime, formatInstant, parseEventTime, parseInstant } from "./time.ts";

test("EXE-23 an event's time is UTC with milliseconds and reads back exactly", () => {
  const ms = Date.UTC(2026, 11, 31, 23, 59, 59, 7);
  expect(formatEventTime(ms)).toBe("2026-12-31 23:59:59.007");
  expect(parseEventTime("2026-12-31 23:59:59.007")).toBe(ms);
  expect(formatInstant(ms)).toBe("2026-12-31T23:59:59.007Z");
  expect(parseInstant(formatInstant(ms))).toBe(ms);
  expect(parseInstant("soon")).toBeNaN();
});
