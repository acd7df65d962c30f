import type { ScheduleSpec } from "@engine/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { nextFires } from "./next-fires.ts";

const DAY = 86_400_000;

function fires(spec: ScheduleSpec, after: string, limit = 3): string[] {
  const created_at = Date.UTC(2026, 0, 1);
  return nextFires({ spec, created_at }, { after: Date.parse(after), limit }).map((at) =>
    new Date(at).toISOString(),
  );
}

function cron(expression: string, timezone = "UTC"): ScheduleSpec {
  return { type: "cron", expression, timezone };
}

test("EXE-73 a time of day that daylight saving skips fires at the first instant after the gap", () => {
  expect(fires(cron("30 2 * * *", "Europe/Berlin"), "2026-03-28T12:00:00Z")).toEqual([
    "2026-03-29T01:00:00.000Z",
    "2026-03-30T00:30:00.000Z",
    "2026-03-31T00:30:00.000Z",
  ]);
  // Midnight itself is skipped.
  expect(fires(cron("15 0 * * *", "Africa/Cairo"), "2026-04-23T12:00:00Z", 2)).toEqual([
    "2026-04-23T22:00:00.000Z",
    "2026-04-24T21:15:00.000Z",
  ]);
  // The gap of half an hour, and several times within one gap.
  expect(fires(cron("15 2 * * *", "Australia/Lord_Howe"), "2026-10-03T00:00:00Z", 1)).toEqual([
    "2026-10-03T15:30:00.000Z",
  ]);
  expect(fires(cron("*/15 2 * * *", "Europe/Berlin"), "2026-03-28T12:00:00Z", 2)).toEqual([
    "2026-03-29T01:00:00.000Z",
    "2026-03-30T00:00:00.000Z",
  ]);
});

test("EXE-73 a time of day that occurs twice fires at the first", () => {
  expect(fires(cron("30 2 * * *", "Europe/Berlin"), "2026-10-24T12:00:00Z", 2)).toEqual([
    "2026-10-25T00:30:00.000Z",
    "2026-10-26T01:30:00.000Z",
  ]);
  expect(fires(cron("0,30 1 * * *", "America/New_York"), "2026-11-01T00:00:00Z", 3)).toEqual([
    "2026-11-01T05:00:00.000Z",
    "2026-11-01T05:30:00.000Z",
    "2026-11-02T06:00:00.000Z",
  ]);
});

test("EXE-73 an expression for every hour goes on through the hour that is skipped or repeated", () => {
  expect(fires(cron("30 * * * *", "Europe/Berlin"), "2026-03-29T00:00:00Z", 2)).toEqual([
    "2026-03-29T00:30:00.000Z",
    "2026-03-29T01:30:00.000Z",
  ]);
  expect(fires(cron("30 * * * *", "Europe/Berlin"), "2026-10-25T00:00:00Z", 3)).toEqual([
    "2026-10-25T00:30:00.000Z",
    "2026-10-25T01:30:00.000Z",
    "2026-10-25T02:30:00.000Z",
  ]);
});

test("EXE-72 six fields begin with seconds", () => {
  expect(fires(cron("*/20 0 9 * * 1"), "2026-01-05T08:00:00Z", 4)).toEqual([
    "2026-01-05T09:00:00.000Z",
    "2026-01-05T09:00:20.000Z",
    "2026-01-05T09:00:40.000Z",
    "2026-01-12T09:00:00.000Z",
  ]);
});

test("EXE-73 the 29th of February fires in leap years", () => {
  expect(fires(cron("0 12 29 2 *", "Asia/Tokyo"), "2026-01-01T00:00:00Z", 2)).toEqual([
    "2028-02-29T03:00:00.000Z",
    "2032-02-29T03:00:00.000Z",
  ]);
});

test("EXE-73 an interval is counted from its start, however late one looks", () => {
  const spec: ScheduleSpec = {
    type: "interval",
    every_seconds: 7,
    start_at: "2026-01-01T00:00:00.500Z",
  };
  const start = Date.parse("2026-01-01T00:00:00.500Z");
  const after = start + 30 * 365 * DAY + 3;
  const [next = 0] = nextFires({ spec, created_at: 0 }, { after, limit: 1 });
  expect((next - start) % 7000).toBe(0);
  expect(next - after).toBeLessThanOrEqual(7000);
  expect(next).toBeGreaterThan(after);
});

test("EXE-73 an interval begins at start_at, by default one interval after its creation", () => {
  const every: ScheduleSpec = { type: "interval", every_seconds: 3600 };
  expect(fires(every, "2026-01-01T00:00:00Z", 1)).toEqual(["2026-01-01T01:00:00.000Z"]);
  const later: ScheduleSpec = { ...every, start_at: "2026-02-01T00:00:00+01:00" };
  expect(fires(later, "2026-01-01T00:00:00Z", 2)).toEqual([
    "2026-01-31T23:00:00.000Z",
    "2026-02-01T00:00:00.000Z",
  ]);
});

test("EXE-72 an interval fires up to end_at, end_at included", () => {
  const spec: ScheduleSpec = { type: "interval", every_seconds: 60, end_at: "2026-01-01T00:02:00" };
  expect(fires(spec, "2026-01-01T00:00:00Z", 5)).toEqual([
    "2026-01-01T00:01:00.000Z",
    "2026-01-01T00:02:00.000Z",
  ]);
});

test("EXE-73 an instant without an offset is UTC", () => {
  const once: ScheduleSpec = { type: "once", at: "2026-05-01T10:00" };
  expect(fires(once, "2026-01-01T00:00:00Z")).toEqual(["2026-05-01T10:00:00.000Z"]);
  expect(fires(once, "2026-05-01T10:00:00Z")).toEqual([]);
});

/**
 * The slow way: every minute of a few days is shown in the zone, and taken when its time fits. A
 * time that no minute shows counts for the first minute behind it.
 */
function reference(
  { minutes, hours, timezone }: { minutes: number[]; hours: number[]; timezone: string },
  from: number,
  until: number,
): number[] {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  const shown = (at: number) => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    ) as Record<string, number>;
    const {
      year = 0,
      month = 1,
      day = 1,
      hour = 0,
      minute = 0,
    } = parts as {
      year?: number;
      month?: number;
      day?: number;
      hour?: number;
      minute?: number;
    };
    return Date.UTC(year, month - 1, day, hour, minute);
  };
  const fits = (local: number) =>
    hours.includes(new Date(local).getUTCHours()) &&
    minutes.includes(new Date(local).getUTCMinutes());
  const fires = new Set<number>();
  let latest = shown(from - 60_000);
  for (let at = from; at < until; at += 60_000) {
    const local = shown(at);
    // Local times since the latest one that was shown: skipped ones, and this one.
    for (let time = latest + 60_000; time <= local; time += 60_000) if (fits(time)) fires.add(at);
    latest = Math.max(latest, local);
  }
  return [...fires];
}

test("EXE-73 next instants are those that a look at every minute finds", () => {
  const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "UTC"];
  // Around a change of clocks in each zone, and at a quiet time.
  const days = [
    Date.UTC(2026, 2, 7),
    Date.UTC(2026, 2, 28),
    Date.UTC(2026, 3, 4),
    Date.UTC(2026, 3, 23),
    Date.UTC(2026, 9, 3),
    Date.UTC(2026, 9, 24),
    Date.UTC(2026, 9, 29),
    Date.UTC(2026, 9, 31),
    Date.UTC(2026, 6, 1),
  ];
  const property = fc.property(
    fc.constantFrom(...zones),
    fc.constantFrom(...days),
    fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { minLength: 1, maxLength: 4 }),
    fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 6 }),
    (timezone, from, minutes, hours) => {
      const until = from + 2.5 * DAY;
      const spec = cron(`${minutes.join(",")} ${hours.join(",")} * * *`, timezone);
      const found = nextFires({ spec, created_at: 0 }, { after: from - 1, limit: 100 });
      const expected = reference({ minutes, hours, timezone }, from, until);
      expect(found.filter((at) => at < until)).toEqual(expected);
    },
  );
  fc.assert(property, { numRuns: 60 });
});
