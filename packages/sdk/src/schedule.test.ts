import { expect, expectTypeOf, test } from "vitest";
import { cron, interval, once, type Schedule } from "./schedule.ts";
import { workflow } from "./workflow.ts";

test("EXE-76 the builders give what the option schedule takes", () => {
  const report = workflow(
    { name: "report", schedule: cron("0 9 * * 1-5", { timezone: "Europe/Berlin" }) },
    async () => 1,
  );
  expect(report.options.schedule).toMatchObject({
    spec: { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Berlin" },
    overlap: "skip",
    catch_up: "one",
  });
  expect(interval("90s", { overlap: "queue" }).spec).toEqual({
    type: "interval",
    every_seconds: 90,
  });
  expect(once("2027-01-01T00:00:00Z", { input: { a: 1 } })).toMatchObject({ input: { a: 1 } });
  expectTypeOf(interval(60_000)).toEqualTypeOf<Schedule>();
});

test("EXE-4 EXE-76 a wrong argument of a builder is refused where it is written", () => {
  const wrong = { code: "invalid_definition" };
  const message = "option overlap of cron(): ";
  // @ts-expect-error there is no such policy
  expect(() => cron("0 9 * * *", { overlap: "never" })).toThrow(expect.objectContaining(wrong));
  // @ts-expect-error there is no such policy
  expect(() => cron("0 9 * * *", { overlap: "never" })).toThrow(message);
  expect(() => interval("10ms")).toThrow(expect.objectContaining(wrong));
  // @ts-expect-error a zone belongs to cron
  expect(() => interval("1h", { timezone: "UTC" })).toThrow(/option timezone .* is unknown/);
});
