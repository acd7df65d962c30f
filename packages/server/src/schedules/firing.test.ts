import { EngineError, type ScheduleSpec } from "@engine/contract";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { Scheduled } from "./testing/scheduled.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** ManualTime begins with the year 2026, at midnight. */
const hourly: ScheduleSpec = { type: "cron", expression: "0 * * * *", timezone: "UTC" };
const everySecond: ScheduleSpec = { type: "interval", every_seconds: 1 };

test("EXE-75 a due schedule fires at its instant and moves on", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: hourly, input: { n: 1 }, run_as: "reports" });
  await engine.jump(HOUR - 2000);
  expect(await engine.runs()).toEqual([]);
  await engine.time.advance(1000);
  const [run] = await engine.runs();
  expect(run).toMatchObject({ workflow: "hello", state: "CREATED", schedule: "nightly" });
  expect(run?.created_at).toBe(Date.UTC(2026, 0, 1, 1));
  const row = await engine.get();
  expect(row).toMatchObject({
    run_count: 1,
    last_execution_id: run?.execution_id,
    next_run_at: Date.UTC(2026, 0, 1, 2),
    status: "active",
  });
  const [created] = await engine.store.log.read(run?.execution_id ?? "", { after: 0, limit: 1 });
  expect(created?.event.value).toMatchObject({
    trigger: { kind: "schedule", id: "nightly", at: "2026-01-01T01:00:00.000Z" },
  });
  expect((await engine.store.executions.find(run?.execution_id ?? ""))?.input).toEqual({ n: 1 });
});

test("EXE-75 two servers on one store start one run per instant", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.scheduler();
  await engine.create({ spec: everySecond, overlap: "allow" });
  await engine.time.advance(20_000);
  const instants = await engine.instants();
  expect(instants).toHaveLength(20);
  expect(new Set(instants).size).toBe(20);
  expect(await engine.get()).toMatchObject({ run_count: 20, skip_count: 0 });
});

test("EXE-75 a crash between the start and the move of the plan makes no second run", async () => {
  await using engine = await Scheduled.open();
  await engine.create({ spec: hourly });
  engine.time.now += HOUR;
  engine.failing.add("schedules.change");
  const crashed = await engine.scheduler();
  crashed.stop();
  expect(await engine.runs()).toHaveLength(1);
  expect(await engine.get()).toMatchObject({ run_count: 0 });

  engine.failing.clear();
  await engine.scheduler();
  expect(await engine.runs()).toHaveLength(1);
  const next_run_at = Date.UTC(2026, 0, 1, 2);
  expect(await engine.get()).toMatchObject({ run_count: 1, skip_count: 0, next_run_at });
});

test("EXE-75 while the database is away nothing is counted, and then the schedule fires", async () => {
  await using engine = await Scheduled.open();
  await engine.create({ spec: hourly });
  await engine.scheduler();
  engine.failing.add("executions.create");
  await engine.jump(HOUR);
  expect(await engine.get()).toMatchObject({ run_count: 0, failure_count: 0 });
  engine.failing.clear();
  await engine.time.advance(2000);
  expect(await engine.get()).toMatchObject({ run_count: 1, failure_count: 0 });
});

test("EXE-72 skip: an execution that has not ended, paused too, leaves the next fire out", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: hourly });
  await engine.jump(HOUR);
  await engine.jump(HOUR);
  expect(await engine.runs()).toHaveLength(1);
  const row = await engine.get();
  expect(row).toMatchObject({
    run_count: 1,
    skip_count: 1,
    last_skipped_at: engine.time.now - 1000,
  });
  await engine.end((await engine.runs())[0]?.execution_id ?? "", "FAILED");
  await engine.jump(HOUR);
  expect(await engine.get()).toMatchObject({ run_count: 2, skip_count: 1, failure_count: 0 });
});

test("EXE-72 queue: one start waits for the end, further ones are skipped", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: hourly, overlap: "queue" });
  for (let hour = 0; hour < 3; hour++) await engine.jump(HOUR);
  expect(await engine.get()).toMatchObject({ run_count: 1, skip_count: 1 });
  await engine.end((await engine.runs())[0]?.execution_id ?? "");
  await settled();
  expect(await engine.instants()).toEqual(["2026-01-01T01:00:00.000Z", "2026-01-01T02:00:00.000Z"]);
  expect(await engine.get()).toMatchObject({ run_count: 2, skip_count: 1, held: null });
});

test("EXE-72 a start that waits is made by the server that comes after a crash", async () => {
  await using engine = await Scheduled.open();
  const first = await engine.scheduler();
  await engine.create({ spec: hourly, overlap: "queue" });
  await engine.jump(HOUR);
  await engine.jump(HOUR);
  first.stop();
  await engine.end((await engine.runs())[0]?.execution_id ?? "");
  await engine.scheduler();
  expect(await engine.runs()).toHaveLength(2);
});

test("EXE-72 cancel: the execution before is cancelled, then the next one starts", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: hourly, overlap: "cancel" });
  await engine.jump(HOUR);
  await engine.jump(HOUR);
  const runs = await engine.runs();
  expect(runs.map(({ state }) => state)).toEqual(["CANCELLED", "CREATED"]);
  expect(await engine.get()).toMatchObject({ run_count: 2, skip_count: 0 });
});

test("EXE-72 allow: executions of a schedule run beside each other", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: hourly, overlap: "allow" });
  await engine.jump(HOUR);
  await engine.jump(HOUR);
  expect((await engine.runs()).map(({ state }) => state)).toEqual(["CREATED", "CREATED"]);
});

test("EXE-72 catch_up one: three days down make one run, and the plan goes on from now", async () => {
  await using engine = await Scheduled.open();
  await engine.create({ spec: hourly, overlap: "allow" });
  engine.time.now += 3 * DAY + HOUR / 2;
  await engine.scheduler();
  expect(await engine.runs()).toHaveLength(1);
  const next_run_at = Date.UTC(2026, 0, 4, 1);
  expect(await engine.get()).toMatchObject({ run_count: 1, skip_count: 0, next_run_at });
});

test("EXE-72 catch_up none: of three days down nothing is made up for", async () => {
  await using engine = await Scheduled.open();
  await engine.create({ spec: hourly, catch_up: "none" });
  engine.time.now += 3 * DAY + HOUR / 2;
  await engine.scheduler();
  expect(await engine.runs()).toEqual([]);
  const next_run_at = Date.UTC(2026, 0, 4, 1);
  // 72 hours, from one o'clock of the first day to midnight of the fourth.
  expect(await engine.get()).toMatchObject({ skip_count: 72, next_run_at });
});

test("EXE-72 catch_up none: a fire that is late by less than a minute is made", async () => {
  await using engine = await Scheduled.open();
  await engine.create({ spec: hourly, catch_up: "none" });
  engine.time.now += DAY + 59_000;
  await engine.scheduler();
  expect(await engine.instants()).toEqual(["2026-01-02T00:00:00.000Z"]);
});

test("EXE-72 catch_up all: three days down make every run, the oldest first", async () => {
  await using engine = await Scheduled.open();
  await engine.create({ spec: hourly, catch_up: "all", overlap: "allow" });
  engine.time.now += 3 * DAY + HOUR / 2;
  await engine.scheduler();
  const instants = await engine.instants();
  expect(instants).toHaveLength(72);
  expect(instants[0]).toBe("2026-01-01T01:00:00.000Z");
  expect(instants).toEqual(instants.toSorted());
  expect(await engine.get()).toMatchObject({ run_count: 72, skip_count: 0 });
});

test("EXE-72 catch_up all: no more than a hundred are made up for, the rest is left out", async () => {
  await using engine = await Scheduled.open();
  const spec: ScheduleSpec = { type: "cron", expression: "*/10 * * * *", timezone: "UTC" };
  await engine.create({ spec, catch_up: "all", overlap: "allow" });
  engine.time.now += 3 * DAY + 60_000;
  await engine.scheduler();
  const instants = await engine.instants();
  expect(instants).toHaveLength(100);
  expect([instants[0], instants[99]]).toEqual([
    "2026-01-01T00:10:00.000Z",
    "2026-01-01T16:40:00.000Z",
  ]);
  const next_run_at = Date.UTC(2026, 0, 4, 0, 10);
  expect(await engine.get()).toMatchObject({ run_count: 100, skip_count: 332, next_run_at });
});

test("EXE-72 catch_up all: without overlap the missed runs follow each other", async () => {
  await using engine = await Scheduled.open();
  await engine.create({ spec: hourly, catch_up: "all" });
  engine.time.now += 3 * HOUR + HOUR / 2;
  await engine.scheduler();
  for (let run = 0; run < 3; run++) {
    const runs = await engine.runs();
    expect(runs).toHaveLength(run + 1);
    await engine.end(runs.at(-1)?.execution_id ?? "");
    await settled();
  }
  expect(await engine.get()).toMatchObject({ run_count: 3, skip_count: 0 });
  expect(await engine.runs()).toHaveLength(3);
});

test("EXE-73 EXE-75 a clock that is set forward fires at once what it jumped over", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: hourly, overlap: "allow" });
  await engine.jump(5 * HOUR + 60_000);
  expect(await engine.instants()).toEqual(["2026-01-01T01:00:00.000Z"]);
  expect(await engine.get()).toMatchObject({ next_run_at: Date.UTC(2026, 0, 1, 6) });
});

test("EXE-75 a clock that is set back repeats no instant", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: hourly, overlap: "allow" });
  await engine.jump(2 * HOUR);
  const before = await engine.instants();
  engine.time.set(-2 * HOUR);
  await engine.time.advance(5000);
  await engine.jump(HOUR);
  expect(await engine.instants()).toEqual(before);
  await engine.jump(2 * HOUR);
  expect(await engine.instants()).toEqual([...before, "2026-01-01T03:00:00.000Z"]);
});

test("EXE-75 a start that fails is tried again after 1, 2, 4 … seconds, and ten in a row disable", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: { type: "cron", expression: "0 0 * * *", timezone: "UTC" } });
  engine.refusal = new EngineError("permission_denied", "reports may not run default/hello");
  await engine.jump(DAY - 1000);
  const failures = [await engine.get()];
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128]) {
    await engine.time.advance(seconds * 1000 - 1);
    expect(await engine.get()).toEqual(failures.at(-1));
    await engine.time.advance(1);
    failures.push(await engine.get());
  }
  expect(failures.map((row) => row.failure_count)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(failures.at(-1)).toMatchObject({
    status: "active",
    last_error: "permission_denied: reports may not run default/hello",
  });
  await engine.time.advance(256_000);
  expect(await engine.get()).toMatchObject({
    status: "disabled",
    failure_count: 10,
    consecutive_failures: 10,
    next_run_at: null,
  });
  expect(await engine.runs()).toEqual([]);
});

test("EXE-75 a start that succeeds ends the count in a row, and the next instant ends the attempts", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  const spec: ScheduleSpec = { type: "interval", every_seconds: 10 };
  await engine.create({ spec, overlap: "allow" });
  engine.refusal = new EngineError("not_found", "no workflow default/hello");
  // At 10, 11, 13 and 17 seconds; the fifth attempt would come after the next instant.
  await engine.time.advance(19_000);
  expect(await engine.get()).toMatchObject({ failure_count: 4, consecutive_failures: 4 });
  engine.refusal = undefined;
  await engine.time.advance(1000);
  const row = await engine.get();
  expect(row).toMatchObject({ failure_count: 4, consecutive_failures: 0, last_error: null });
  expect(await engine.instants()).toEqual(["2026-01-01T00:00:20.000Z"]);
});

test("EXE-75 missed starts that fail wait between attempts as well", async () => {
  await using engine = await Scheduled.open();
  await engine.create({ spec: hourly, catch_up: "all", overlap: "allow" });
  engine.time.now += DAY;
  engine.refusal = new EngineError("permission_denied", "no");
  const scheduler = await engine.scheduler();
  expect(await engine.get()).toMatchObject({ failure_count: 1, status: "active" });
  engine.refusal = undefined;
  engine.time.now += 1000;
  await scheduler.wake();
  expect(await engine.runs()).toHaveLength(24);
});

test("EXE-72 a schedule for one instant is completed once it has fired", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: { type: "once", at: "2026-01-01T01:00:00Z" } });
  await engine.jump(HOUR - 1000);
  expect(await engine.runs()).toHaveLength(1);
  expect(await engine.get()).toMatchObject({ status: "completed", next_run_at: null });
});

test("EXE-72 an interval is completed after its last instant", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  const spec: ScheduleSpec = {
    type: "interval",
    every_seconds: 60,
    end_at: "2026-01-01T00:02:00Z",
  };
  await engine.create({ spec, overlap: "allow" });
  await engine.time.advance(180_000);
  expect(await engine.instants()).toEqual(["2026-01-01T00:01:00.000Z", "2026-01-01T00:02:00.000Z"]);
  expect(await engine.get()).toMatchObject({ status: "completed", run_count: 2 });
});

test("EXE-75 what another server wrote is seen within the poll interval", async () => {
  await using engine = await Scheduled.open({ scheduling: { poll_interval: 30 } });
  const scheduler = await engine.scheduler();
  const row = await engine.create({ spec: everySecond });
  await settled();
  await engine.store.schedules.delete("nightly");
  await scheduler.wake();
  // Written past this server.
  await engine.store.schedules.create({ ...row, id: "another", name: "remote" });
  await engine.time.advance(31_000);
  expect(await engine.runs("remote")).toHaveLength(1);
});

test("a schedule that is deleted while it fires does not come back", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  await engine.create({ spec: hourly });
  engine.time.now += HOUR;
  await Promise.all([engine.schedules.delete("nightly"), engine.time.advance(1000)]);
  await expect(engine.get()).rejects.toMatchObject({ code: "not_found" });
});

test("a hundred schedules and more fire at one instant", async () => {
  await using engine = await Scheduled.open();
  await engine.scheduler();
  for (let n = 0; n < 230; n++) await engine.create({ name: `s${n}`, spec: hourly });
  await engine.jump(HOUR - 1000);
  const runs = await engine.store.executions.list({ order: "created_asc", limit: 1, offset: 0 });
  expect(runs.total).toBe(230);
});
