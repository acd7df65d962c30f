/** `FUZZ_RUNS` sets how many specs each property sees. */
import { EngineError, ScheduleSpec } from "@engine/contract";
import { nextFires, specProblems } from "@engine/sources";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { checkedSpec } from "./operator-rules.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 300);
vi.setConfig({ testTimeout: 30_000 + numRuns * 20 });
const now = Date.UTC(2026, 0, 1);

const number = fc.nat(70).map(String);
const step = fc
  .oneof(fc.nat(70), fc.constantFrom("", "0", "99999999999", "-1"))
  .map((n) => `/${n}`);
const part = fc.oneof(
  fc.constantFrom(
    "*",
    "?",
    "",
    "L",
    "W",
    "15W",
    "LW",
    "5#2",
    "MON",
    "JAN-DEC",
    "*/0",
    "1-5-9",
    "@",
  ),
  number,
  fc.tuple(number, number).map(([from, to]) => `${from}-${to}`),
  fc.tuple(fc.constantFrom("*", "?", "0-59", "5", "9-3"), step).map(([of, by]) => of + by),
);
const field = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(","));
const expression = fc.oneof(
  { weight: 4, arbitrary: fc.array(field, { minLength: 4, maxLength: 7 }).map((f) => f.join(" ")) },
  fc.string({ unit: "binary", maxLength: 40 }),
);
const timezone = fc.constantFrom(
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "local",
  "",
  "Mars/One",
);
const instant = fc.oneof(
  fc.integer({ min: now - 1e11, max: now + 1e11 }).map((ms) => new Date(ms).toISOString()),
  fc.string({ maxLength: 30 }),
  fc.constantFrom("2026-02-30T00:00:00Z", "2027-01-01", "9999-12-31T23:59:59Z", "0000-01-01"),
);
const spec = fc.oneof(
  fc.record({ type: fc.constant("cron"), expression, timezone }),
  fc.record({ type: fc.constant("once"), at: instant }),
  fc.record(
    {
      type: fc.constant("interval"),
      every_seconds: fc.oneof(fc.double(), fc.nat(1e6)),
      start_at: instant,
      end_at: instant,
    },
    { requiredKeys: ["type", "every_seconds"] },
  ),
);

/** As a request is read: by its schema, then by what it means. */
function read(given: unknown): ScheduleSpec | undefined {
  const parsed = ScheduleSpec.safeParse(given);
  if (!parsed.success) return undefined;
  try {
    return checkedSpec(parsed.data, now);
  } catch (error) {
    expect(error).toBeInstanceOf(EngineError);
    expect(error).toMatchObject({ code: "invalid_schedule" });
    return undefined;
  }
}

test("EXE-73 EXE-74 whatever a schedule says is refused, or is a plan whose instants lie ahead, in order", () => {
  let taken = 0;
  fc.assert(
    fc.property(spec, (given) => {
      const plan = read(given);
      if (!plan) return;
      taken++;
      // What was read is written as it reads again.
      expect(read(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
      const fires = nextFires({ spec: plan, created_at: now }, { after: now, limit: 5 });
      expect(fires.length).toBeGreaterThan(0);
      for (const [i, at] of fires.entries()) expect(at).toBeGreaterThan(fires[i - 1] ?? now);
    }),
    { numRuns },
  );
  expect(taken).toBeGreaterThan(numRuns / 20);
});

test("EXE-74 what is wrong with an expression is said in words, never thrown", () => {
  fc.assert(
    fc.property(expression, (text) => {
      const asked = { type: "cron", expression: text, timezone: "UTC" } as const;
      for (const { message } of specProblems(asked, null)) expect(message).not.toBe("");
    }),
    { numRuns },
  );
});
