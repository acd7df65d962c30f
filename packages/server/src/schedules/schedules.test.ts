import { EngineError, type ScheduleSpec } from "@engine/contract";
import { expect, test } from "vitest";
import { toSchedule, toScheduleRun } from "./schedule-record.ts";
import { Scheduled } from "./testing/scheduled.ts";

const HOUR = 3_600_000;
const hourly: ScheduleSpec = { type: "cron", expression: "0 * * * *", timezone: "UTC" };

/** Code and paths of a refusal. */
async function refusal(call: Promise<unknown>): Promise<unknown[]> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof EngineError)) throw error;
  const issues = (error.details?.["issues"] ?? []) as { path: string }[];
  return [error.code, ...issues.map(({ path }) => path)];
}

test("EXE-72 a schedule is read back with its next five instants, its routing input never", async () => {
  await using engine = await Scheduled.open();
  const row = await engine.create({
    spec: { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Berlin" },
    input: { day: "today" },
    routing_input: { gpu: "a100" },
    run_as: "reports",
    description: "the report",
  });
  const shown = toSchedule(row);
  expect(shown).toEqual({
    id: row.id,
    name: "nightly",
    namespace: "default",
    workflow: "hello",
    version: null,
    description: "the report",
    spec: { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Berlin" },
    overlap: "skip",
    catch_up: "one",
    input: { day: "today" },
    routing_input_set: true,
    run_as: "reports",
    status: "active",
    source: "api",
    next_run_at: "2026-01-01T08:00:00.000Z",
    upcoming: [
      "2026-01-01T08:00:00.000Z",
      "2026-01-02T08:00:00.000Z",
      "2026-01-05T08:00:00.000Z",
      "2026-01-06T08:00:00.000Z",
      "2026-01-07T08:00:00.000Z",
    ],
    last_run_at: null,
    last_execution_id: null,
    run_count: 0,
    failure_count: 0,
    consecutive_failures: 0,
    skip_count: 0,
    last_skipped_at: null,
    last_error: null,
    created_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-01T00:00:00.000Z",
  });
  expect(JSON.stringify(shown)).not.toContain("a100");
});

test.each<[string, ScheduleSpec, string, RegExp]>([
  ["minute 61", { ...hourly, expression: "61 * * * *" }, "expression", /minute: 61/],
  ["three fields", { ...hourly, expression: "* * *" }, "expression", /has 3 fields; write 5/],
  ["seven fields", { ...hourly, expression: "0 0 0 1 1 * 2030" }, "expression", /has 7 fields/],
  ["no field", { ...hourly, expression: "" }, "expression", /has 0 fields; write 5/],
  ["a nickname", { ...hourly, expression: "@daily" }, "expression", /5 fields/],
  ["the 30th of February", { ...hourly, expression: "0 0 30 2 *" }, "expression", /never fires/],
  ["an unknown zone", { ...hourly, timezone: "Europe/Atlantis" }, "timezone", /IANA/],
  ["local", { ...hourly, timezone: "Local" }, "timezone", /IANA/],
  ["no zone", { ...hourly, timezone: "" }, "timezone", /IANA/],
  ["the past", { type: "once", at: "2025-12-31T23:59:59Z" }, "at", /is in the past/],
  ["now", { type: "once", at: "2026-01-01T01:00:00+01:00" }, "at", /is in the past/],
  ["no instant", { type: "once", at: "tomorrow" }, "at", /ISO 8601/],
  ["a day that is none", { type: "once", at: "2027-02-29" }, "at", /ISO 8601/],
  ["an hour that is none", { type: "once", at: "2027-02-28T24:30" }, "at", /ISO 8601/],
  [
    "an end before its start",
    { type: "interval", every_seconds: 60, start_at: "2026-02-02", end_at: "2026-02-02" },
    "end_at",
    /after start_at/,
  ],
  [
    "an end before now",
    { type: "interval", every_seconds: 60, start_at: "2025-01-01", end_at: "2025-02-02" },
    "end_at",
    /is in the past/,
  ],
  [
    "an end before the first",
    { type: "interval", every_seconds: 7200, end_at: "2026-01-01T01:00:00Z" },
    "end_at",
    /never fires/,
  ],
  ["no start", { type: "interval", every_seconds: 60, start_at: "x" }, "start_at", /ISO 8601/],
])(
  "EXE-74 %s is refused with the field, and nothing is saved",
  async (_what, spec, field, text) => {
    await using engine = await Scheduled.open();
    const create = engine.create({ spec });
    await expect(create).rejects.toMatchObject({ message: expect.stringMatching(text) });
    expect(await refusal(create)).toEqual(["invalid_schedule", `body.spec.${field}`]);
    expect((await engine.schedules.list({ limit: 1, offset: 0 })).total).toBe(0);
  },
);

test("EXE-74 every wrong field of a spec is told at once", async () => {
  await using engine = await Scheduled.open();
  const create = engine.create({ spec: { type: "cron", expression: "x", timezone: "y" } });
  expect(await refusal(create)).toEqual([
    "invalid_schedule",
    "body.spec.expression",
    "body.spec.timezone",
  ]);
});

test("EXE-74 an unknown workflow or version, a taken name and an input that does not fit are refused", async () => {
  await using engine = await Scheduled.open();
  const typed = `import { workflow } from "@engine/sdk";
export const typed = workflow({ name: "typed" }, async (input: { n: number }) => input.n);
`;
  await engine.catalog.register({ source: typed }, { by: null });
  const spec = hourly;
  const unknown = engine.create({ spec, workflow: "bye" });
  await expect(unknown).rejects.toMatchObject({
    code: "not_found",
    details: { resource: "workflow" },
  });
  const version = engine.create({ spec, version: 7 });
  await expect(version).rejects.toMatchObject({
    code: "not_found",
    details: { resource: "version" },
  });
  const input = engine.create({ spec, workflow: "typed", input: { n: "one" } });
  expect(await refusal(input)).toEqual(["invalid_input", "body.input.n"]);
  engine.refusal = new EngineError("permission_denied", "no such account");
  expect(await refusal(engine.create({ spec, run_as: "ghost" }))).toEqual(["permission_denied"]);
  engine.refusal = undefined;
  await engine.create({ spec });
  expect(await refusal(engine.create({ spec }))).toEqual(["schedule_exists"]);
});

test("EXE-72 a change leaves out what it does not name, and plans anew when the spec is another", async () => {
  await using engine = await Scheduled.open();
  await engine.create({ spec: hourly, input: 1, routing_input: { a: "b" }, description: "x" });
  const described = await engine.schedules.change("nightly", { description: null });
  expect(described).toMatchObject({ description: null, input: 1, routing_input: { a: "b" } });
  const cleared = await engine.schedules.change("nightly", { routing_input: {}, overlap: "queue" });
  expect(toSchedule(cleared)).toMatchObject({ routing_input_set: false, overlap: "queue" });
  const spec: ScheduleSpec = { ...hourly, timezone: "Asia/Kolkata" };
  const moved = await engine.schedules.change("nightly", { spec });
  expect(moved).toMatchObject({ next_run_at: Date.UTC(2026, 0, 1, 0, 30), revision: 4 });
});

test("EXE-74 a change is checked like a creation, and changes nothing when it is refused", async () => {
  await using engine = await Scheduled.open();
  const before = await engine.create({ spec: hourly });
  const change = (fields: object) => refusal(engine.schedules.change("nightly", fields));
  expect(await change({ spec: { type: "once", at: "2020-01-01" } })).toEqual([
    "invalid_schedule",
    "body.spec.at",
  ]);
  expect(await change({ version: 3 })).toEqual(["not_found"]);
  expect(await engine.get()).toEqual(before);
  expect(await refusal(engine.schedules.change("weekly", {}))).toEqual(["not_found"]);
});

test("AUTH-46 what is sent as it was changes nothing, also when its time is over", async () => {
  await using engine = await Scheduled.open();
  const spec: ScheduleSpec = { type: "once", at: "2026-01-01T01:00:00.000Z" };
  const before = await engine.create({ spec, input: { a: 1, b: 2 } });
  engine.time.now += 2 * HOUR;
  const changes = { spec: { ...spec }, input: { b: 2, a: 1 }, overlap: "skip" } as const;
  expect(await engine.schedules.change("nightly", changes)).toEqual(before);
});

test("EXE-75 a pause stops it, and a resume goes on from now without catching up", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: hourly, catch_up: "all" });
  const paused = await engine.schedules.pause("nightly");
  expect(toSchedule(paused)).toMatchObject({ status: "paused", next_run_at: null, upcoming: [] });
  expect(await engine.schedules.pause("nightly")).toEqual(paused);
  await engine.jump(5 * HOUR);
  expect(await engine.runs()).toEqual([]);
  const resumed = await engine.schedules.resume("nightly");
  expect(resumed).toMatchObject({ status: "active", next_run_at: Date.UTC(2026, 0, 1, 6) });
  expect(await engine.schedules.resume("nightly")).toEqual(resumed);
  await engine.jump(HOUR);
  expect(await engine.instants()).toEqual(["2026-01-01T06:00:00.000Z"]);
});

test("EXE-75 a disabled schedule is resumed with its count in a row at zero", async () => {
  await using engine = await Scheduled.open();
  await engine.create({ spec: hourly });
  await engine.store.schedules.change("nightly", () => ({
    status: "disabled",
    next_run_at: null,
    consecutive_failures: 10,
    failure_count: 10,
    last_error: "not_found: no workflow",
  }));
  expect(await refusal(engine.schedules.pause("nightly"))).toEqual(["conflict"]);
  expect(await engine.schedules.resume("nightly")).toMatchObject({
    status: "active",
    consecutive_failures: 0,
    failure_count: 10,
    last_error: null,
  });
});

test("EXE-72 a completed schedule has nothing to resume, and begins again with another spec", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: { type: "once", at: "2026-01-01T01:00:00Z" } });
  await engine.jump(HOUR);
  expect(await refusal(engine.schedules.resume("nightly"))).toEqual(["conflict"]);
  const again: ScheduleSpec = { type: "once", at: "2026-01-01T05:00:00Z" };
  expect(await engine.schedules.change("nightly", { spec: again })).toMatchObject({
    status: "active",
    next_run_at: Date.UTC(2026, 0, 1, 5),
  });
});

test("EXE-75 trigger starts a run whatever the status and the other runs", async () => {
  await using engine = await Scheduled.open();
  await engine.create({ spec: hourly, input: "now" });
  await engine.schedules.pause("nightly");
  const first = await engine.schedules.trigger("nightly");
  await engine.schedules.trigger("nightly");
  expect(first.row).toMatchObject({ schedule: "nightly", scheduled_for: null, input: "now" });
  expect(await engine.runs()).toHaveLength(2);
  expect(await engine.get()).toMatchObject({ status: "paused", run_count: 2, next_run_at: null });
  engine.refusal = new EngineError("permission_denied", "no");
  expect(await refusal(engine.schedules.trigger("nightly"))).toEqual(["permission_denied"]);
  expect(await engine.get()).toMatchObject({ run_count: 2, failure_count: 0 });
});

test("EXE-77 the history has the runs, newest first, with what was due and how they ended", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: hourly });
  await engine.jump(HOUR - 1000);
  const [first] = await engine.runs();
  await engine.end(first?.execution_id ?? "", "FAILED");
  await engine.time.advance(1);
  const { row: second } = await engine.schedules.trigger("nightly");
  const page = await engine.schedules.history("nightly", { limit: 1, offset: 1 });
  expect(page.total).toBe(2);
  expect(page.items.map(toScheduleRun)).toMatchObject([
    {
      execution_id: first?.execution_id,
      state: "FAILED",
      scheduled_for: "2026-01-01T01:00:00.000Z",
      finished_at: "2026-01-01T01:00:00.000Z",
      error: { code: "workflow_failed", message: "its worker is lost" },
    },
  ]);
  const [newest] = (await engine.schedules.history("nightly", { limit: 1, offset: 0 })).items;
  expect(newest && toScheduleRun(newest)).toEqual({
    execution_id: second.execution_id,
    state: "CREATED",
    scheduled_for: null,
    started_at: null,
    finished_at: null,
    error: null,
  });
  const unknown = engine.schedules.history("weekly", { limit: 1, offset: 0 });
  expect(await refusal(unknown)).toEqual(["not_found"]);
});
