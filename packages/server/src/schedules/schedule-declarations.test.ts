import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { Scheduled } from "./testing/scheduled.ts";

const HOUR = 3_600_000;
const NAME = "shop.report";

/** A file whose workflow has these options. */
function file(schedule: string, body = "1"): { source: string } {
  return {
    source: `import { cron, interval, once, workflow } from "@engine/sdk";
const zone = "Europe/" + "Berlin";
export const report = workflow(
  { name: "report", namespace: "shop", ${schedule} },
  async () => ${body},
);
void [cron, interval, once, zone];
`,
  };
}

const by = { by: null };

test("EXE-76 registering a workflow makes the schedule it declares", async () => {
  await using engine = await Scheduled.open();
  const nine = `schedule: cron("0 9 * * 1-5", { timezone: zone, runAs: "reports", input: { a: 1 } })`;
  const { items } = await engine.catalog.register(file(nine), by);
  const declared = {
    spec: { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Berlin" },
    overlap: "skip",
    catch_up: "one",
    input: { a: 1 },
    run_as: "reports",
    description: null,
  };
  expect(items[0]?.schedule).toEqual(declared);
  expect(await engine.get(NAME)).toMatchObject({
    ...declared,
    source: "code",
    namespace: "shop",
    workflow: "report",
    version: null,
    status: "active",
    next_run_at: Date.UTC(2026, 0, 1, 8),
  });
});

test("EXE-76 an equal declaration changes nothing, another one keeps counts and a pause", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.catalog.register(file(`schedule: cron("0 * * * *")`), by);
  await engine.jump(HOUR);
  const before = await engine.get(NAME);
  expect(before.run_count).toBe(1);
  await engine.catalog.register(file(`schedule: cron("0 * * * *")`, "2"), by);
  expect(await engine.get(NAME)).toEqual(before);

  await engine.schedules.pause(NAME);
  await engine.catalog.register(file(`schedule: interval("2h", { overlap: "queue" })`), by);
  expect(await engine.get(NAME)).toMatchObject({
    id: before.id,
    status: "paused",
    next_run_at: null,
    run_count: 1,
    overlap: "queue",
    spec: { type: "interval", every_seconds: 7200 },
  });
});

test("EXE-76 it is deleted when the newest version declares none", async () => {
  await using engine = await Scheduled.open();
  await engine.catalog.register(file(`schedule: interval("1h")`), by);
  await engine.catalog.register(file(""), by);
  await expect(engine.get(NAME)).rejects.toMatchObject({ code: "not_found" });
});

test("EXE-76 routes pause, resume and trigger it; another change is refused", async () => {
  await using engine = await Scheduled.open();
  await engine.catalog.register(file(`schedule: interval("1h")`), by);
  await engine.schedules.pause(NAME);
  await engine.schedules.resume(NAME);
  await engine.schedules.trigger(NAME);
  const before = await engine.get(NAME);
  const refused = { code: "schedule_is_declared" };
  await expect(engine.schedules.change(NAME, { overlap: "allow" })).rejects.toMatchObject(refused);
  await expect(engine.schedules.delete(NAME)).rejects.toMatchObject(refused);
  expect(await engine.get(NAME)).toEqual(before);
});

test("EXE-66 EXE-76 a name that another schedule has refuses the whole registration", async () => {
  await using engine = await Scheduled.open();
  const spec = { type: "interval", every_seconds: 60 } as const;
  const mine = await engine.create({ name: NAME, spec });
  const registered = engine.catalog.register(file(`schedule: interval("1h")`), by);
  await expect(registered).rejects.toMatchObject({ code: "schedule_exists" });
  expect(await engine.get(NAME)).toEqual(mine);
  await expect(engine.catalog.get("shop", "report")).rejects.toMatchObject({ code: "not_found" });
  // Without a declaration somebody's schedule of that name is left alone.
  await engine.catalog.register(file(""), by);
  expect(await engine.get(NAME)).toEqual(mine);
});

test("EXE-66 a dry run saves no schedule", async () => {
  await using engine = await Scheduled.open();
  await engine.catalog.register(file(`schedule: interval("1h")`), { ...by, dryRun: true });
  await expect(engine.get(NAME)).rejects.toMatchObject({ code: "not_found" });
});

test("EXE-76 with auto_schedule_enabled false registering leaves schedules alone", async () => {
  await using engine = await Scheduled.open({ scheduling: { auto_schedule_enabled: false } });
  const { items } = await engine.catalog.register(file(`schedule: interval("1h")`), by);
  expect(items[0]?.schedule?.spec).toEqual({ type: "interval", every_seconds: 3600 });
  await expect(engine.get(NAME)).rejects.toMatchObject({ code: "not_found" });
});

test("EXE-76 an instant that has passed is completed, so that the file can be registered again", async () => {
  await using engine = await Scheduled.open();
  await engine.catalog.register(file(`schedule: once("2025-12-24T18:00:00Z")`), by);
  expect(await engine.get(NAME)).toMatchObject({ status: "completed", next_run_at: null });
});

test.each([
  [`schedule: cron("0 99 * * *")`, "invalid_option", "schedule", /hour: 99/],
  [
    `schedule: cron("0 9 * * *", { timezone: "Mars" })`,
    "invalid_option",
    "schedule.timezone",
    /Mars/,
  ],
  [
    `schedule: cron("0 9 * * *", { timezon: "UTC" })`,
    "invalid_option",
    "schedule.timezon",
    /unknown/,
  ],
  [`schedule: interval("10ms")`, "invalid_option", "schedule", /at least a second/],
  [`schedule: interval("1h", { overlap: "never" })`, "invalid_option", "schedule.overlap", /skip/],
  [`schedule: once("soon")`, "invalid_option", "schedule", /ISO 8601/],
  [`schedule: "0 9 * * *"`, "invalid_option", "schedule", /cron\(\), interval\(\) or once\(\)/],
  [`schedule: cron(process.env.WHEN)`, "not_static", "schedule", /process/],
  [`schedule: cron(...process.argv)`, "not_static", "schedule", /process/],
  [`schedule: String("0 9 * * *")`, "not_static", "schedule", /is a call/],
  [`metadata: { at: cron("0 9 * * *") }`, "not_static", "metadata.at", /is a call/],
])("EXE-61 EXE-64 %s is an issue at its place", async (schedule, rule, path, message) => {
  await using engine = await Scheduled.open();
  const refused: unknown = await engine.catalog.register(file(schedule), by).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(refused instanceof EngineError)) throw refused;
  expect(refused.details?.["issues"]).toEqual([
    expect.objectContaining({
      rule,
      path: `workflows[0].${path}`,
      message: expect.stringMatching(message),
      line: 4,
    }),
  ]);
});

test("EXE-61 builders are known by their binding, and options may lie in a const", async () => {
  await using engine = await Scheduled.open();
  const source = `import * as sdk from "@engine/sdk";
import { cron as every } from "@engine/sdk";
const options = { overlap: "allow", input: [1] } as const;
const nine = every("0 9 * * *", options);
export const a = sdk.workflow({ name: "a", schedule: nine }, async () => 1);
export const b = sdk.workflow({ name: "b", schedule: sdk.interval(60_000) }, async () => 1);
`;
  await engine.catalog.register({ source }, by);
  expect(await engine.get("default.a")).toMatchObject({ overlap: "allow", input: [1] });
  expect(await engine.get("default.b")).toMatchObject({ spec: { every_seconds: 60 } });
});

test("EXE-70 deleting its version disables a pinned schedule, deleting all of them every one", async () => {
  await using engine = await Scheduled.open();
  for (const body of ["1", "2"]) await engine.catalog.register(file("", body), by);
  const fields = { namespace: "shop", workflow: "report" };
  const spec = { type: "interval", every_seconds: 60 } as const;
  await engine.create({ name: "pinned", ...fields, spec, version: 1 });
  await engine.create({ name: "latest", ...fields, spec });
  const disabled = { status: "disabled", last_error: "workflow_deleted", next_run_at: null };
  await engine.catalog.delete("shop", "report", 1);
  expect(await engine.get("pinned")).toMatchObject(disabled);
  expect(await engine.get("latest")).toMatchObject({ status: "active" });
  await engine.catalog.delete("shop", "report");
  expect(await engine.get("latest")).toMatchObject(disabled);
});

test("EXE-70 a declared schedule goes with its workflow, and follows the version that is left", async () => {
  await using engine = await Scheduled.open();
  await engine.catalog.register(file(`schedule: interval("1h")`), by);
  await engine.catalog.register(file(`schedule: interval("2h")`), by);
  await engine.catalog.delete("shop", "report", 2);
  expect(await engine.get(NAME)).toMatchObject({ spec: { every_seconds: 3600 } });
  await engine.catalog.delete("shop", "report");
  await expect(engine.get(NAME)).rejects.toMatchObject({ code: "not_found" });
});
