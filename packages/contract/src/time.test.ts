import { expect, test } from "vitest";
import {
  formatEventTime,
  formatInstant,
  parseEventTime,
  parseInstant,
  parseUtcInstant,
} from "./time.ts";

test("EXE-23 an event's time is UTC with milliseconds and reads back exactly", () => {
  const ms = Date.UTC(2026, 11, 31, 23, 59, 59, 7);
  expect(formatEventTime(ms)).toBe("2026-12-31 23:59:59.007");
  expect(parseEventTime("2026-12-31 23:59:59.007")).toBe(ms);
  expect(formatInstant(ms)).toBe("2026-12-31T23:59:59.007Z");
  expect(parseInstant(formatInstant(ms))).toBe(ms);
  expect(parseInstant("soon")).toBeNaN();
});

test("EXE-73 an instant without an offset is UTC", () => {
  const nine = Date.UTC(2026, 10, 20, 9);
  expect(parseUtcInstant("2026-11-20T09:00:00")).toBe(nine);
  expect(parseUtcInstant("2026-11-20T09:00:00Z")).toBe(nine);
  expect(parseUtcInstant("2026-11-20T10:00:00+01:00")).toBe(nine);
  expect(parseUtcInstant("tomorrow")).toBeNaN();
});
