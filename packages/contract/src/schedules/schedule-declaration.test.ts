import { expect, test } from "vitest";
import { checkWorkflowOptions } from "../definitions/options.ts";
import { declareSchedule } from "./schedule-declaration.ts";

test("EXE-76 a builder's arguments become the record that is saved with the workflow", () => {
  const options = { timezone: "Europe/Berlin", catchUp: "all", runAs: "reports", input: [1] };
  expect(declareSchedule("cron", ["0 9 * * 1-5", options])).toEqual({
    declared: {
      spec: { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Berlin" },
      overlap: "skip",
      catch_up: "all",
      input: [1],
      run_as: "reports",
      description: null,
    },
  });
  const interval = declareSchedule("interval", ["1.5s", { endAt: "2027-01-01" }]);
  expect(interval).toMatchObject({
    declared: {
      spec: { type: "interval", every_seconds: 1.5, end_at: "2027-01-01" },
      input: null,
    },
  });
  const once = declareSchedule("once", ["2027-01-01T00:00:00Z"]);
  expect(once).toMatchObject({ declared: { spec: { type: "once", at: "2027-01-01T00:00:00Z" } } });
});

test.each([
  ["cron", [9], ""],
  ["cron", ["0 9 * * *", { every: 1 }], "every"],
  ["cron", ["0 9 * * *", { catchUp: "some" }], "catchUp"],
  ["cron", ["0 9 * * *", { input: 1n }], "input"],
  ["cron", ["0 9 * * *", []], ""],
  ["interval", ["999ms"], ""],
  ["interval", ["often"], ""],
  ["interval", ["1h", { timezone: "UTC" }], "timezone"],
  ["once", [undefined], ""],
] as const)("EXE-76 %s(%o) is refused at its option", (builder, values, option) => {
  const { issues } = declareSchedule(builder, values) as { issues: readonly { option: string }[] };
  expect(issues.map((issue) => issue.option)).toEqual([option]);
});

test("EXE-76 the option schedule takes what a builder returns, and nothing else", () => {
  const issues = (schedule: unknown) => checkWorkflowOptions({ name: "a", schedule });
  const built = declareSchedule("cron", ["0 9 * * *"]) as { declared: unknown };
  expect(issues(built.declared)).toEqual([]);
  for (const wrong of ["0 9 * * *", {}, [built.declared], null]) {
    expect(issues(wrong)).toMatchObject([
      { path: "schedule", message: expect.stringContaining("cron(), interval() or once()") },
    ]);
  }
});
