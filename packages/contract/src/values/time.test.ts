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
  expect(parseUtcInstant("2026-11-20 10:00:00,5+0100")).toBe(nine + 500);
  expect(parseUtcInstant("2026-11-20")).toBe(nine - 9 * 3_600_000);
  for (const text of [
    ...["tomorrow", "1", "2026", "2026-11-20T09", "2026-11-20T09:00+1", "2026-11-20T09:00 01:00"],
    ...["2026-02-30", "2026-13-01", "2026-00-10", "2026-01-00", "0020-01-01", "2026-01-01T24:00"],
  ]) {
    expect(parseUtcInstant(text), text).toBeNaN();
  }
});

test("EXE-23 an event's time is refused where it names no instant, day and time of day alike", () => {
  const midnight = Date.UTC(2026, 0, 2);
  expect(parseEventTime("2026-01-02 23:59:59.999")).toBe(midnight + 86_399_999);
  expect(parseEventTime("2026-01-03 00:00:00.000")).toBe(midnight + 86_400_000);
  expect(parseEventTime("2026-01-02 24:00:00.000")).toBe(midnight + 86_400_000);
  for (const text of [
    "2026-13-02 03:04:05.006",
    "2026-01-32 03:04:05.006",
    "2026-01-02 24:00:00.001",
    "2026-01-02 03:60:05.006",
    "2026-01-02 03:04:60.006",
    "2026-01-02 03:04:0x.006",
    "2026-01-02 03:04:05.00x",
    "yesterday, at half past",
    "",
  ]) {
    expect(parseEventTime(text), text).toBeNaN();
  }
});
