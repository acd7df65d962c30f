import { expect, test } from "vitest";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";
import { timers } from "./timers.ts";

test("I10 a sleep that ended in time is right", () => {
  expect(timers(sampleEvidence())).toEqual([]);
});

test("I10 a sleep that ended early by the clock of its server is found", () => {
  const evidence = broken(({ commits }) => {
    commits[8].clock -= 1;
    commits[8].decided_clock -= 1;
  });
  expect(timers(evidence)).toMatchObject([
    { execution_id: "e1", message: expect.stringContaining("sleep~1 was to last until") },
  ]);
});

test("I10 a sleep that ended long after it was due is found, unless something was broken so long", () => {
  const late = (calm: number) =>
    broken((evidence) => {
      evidence.calm_at = BEGAN + calm;
      evidence.commits[8].at += 300_000;
      evidence.commits[8].clock += 300_000;
    });
  expect(timers(late(5_000))).toMatchObject([
    { message: expect.stringContaining("nothing broken") },
  ]);
  expect(timers(late(360_000))).toEqual([]);
});

test("I10 a sleep that its worker ended is judged by the clock of that one, unless somebody set it", () => {
  const early = (isSet: boolean) =>
    broken(({ executions: [of], writes, faults }) => {
      const end = of?.log[17];
      if (end) end.event.time = "2029-01-01 00:00:00.000";
      writes.push({ ...writes[0], kind: "checkpoint", base_seq: 17, count: 1, times: [] });
      const at = BEGAN + 10_000;
      if (isSet) faults.push({ kind: "clock_jump", at, until: null, worker: "w1", server: null });
    });
  expect(timers(early(false))).toMatchObject([{ message: expect.stringContaining("ended at") }]);
  expect(timers(early(true))).toEqual([]);
});

test("I10 what a worker wrote is known by its time where nobody was told that it was written", () => {
  const unsure = (isSame: boolean) =>
    broken(({ executions: [of], writes, commits }) => {
      commits[8].clock -= 60_000;
      commits[8].decided_clock -= 60_000;
      const time = of?.log[17]?.event.time ?? "";
      const times = [isSame ? time : "2029-01-01 00:00:00.000"];
      const write = { ...writes[0], kind: "checkpoint" as const, base_seq: 17, count: 1, times };
      writes.push({ ...write, accepted: false });
    });
  expect(timers(unsure(true))).toEqual([]);
  expect(timers(unsure(false))).toMatchObject([
    { message: expect.stringContaining("the server's clock") },
  ]);
});

test("I10 a sleep that its worker ended late is right where no worker had it before", () => {
  const late = (claimed: number) =>
    broken((evidence) => {
      evidence.calm_at = BEGAN + 5_000;
      evidence.commits[8].at += 300_000;
      evidence.commits[8].clock += 300_000;
      const claim = evidence.commits.findLast(
        ({ execution_id, events }) =>
          execution_id === "e1" &&
          events.some(({ type, seq }) => type === "WORKFLOW_CLAIMED" && seq < 18),
      );
      if (claim) claim.clock = BEGAN + claimed;
      const [write] = evidence.writes;
      evidence.writes.push({ ...write, kind: "checkpoint", base_seq: 17, count: 1, times: [] });
    });
  expect(timers(late(355_000))).toEqual([]);
  expect(timers(late(10_000))).toMatchObject([
    { message: expect.stringContaining("nothing broken") },
  ]);
});

test("I10 an attempt that began before its delay was over is found, by server and by worker", () => {
  const retried = (clock: number, { isWoken = false, latest = clock } = {}) =>
    broken(({ executions: [of], bodies, commits }) => {
      const start = of?.log[3];
      const not_before = new Date(BEGAN + 10_000).toISOString();
      const value = { attempt: 2, max_attempts: 2, delay_ms: 1, not_before };
      if (start)
        of?.log.splice(4, 0, {
          ...start,
          event: { ...start.event, type: "TASK_RETRY_STARTED", value },
        });
      const latest_clock = BEGAN + latest;
      const clocks = { clock: BEGAN + clock, latest_clock };
      bodies.push({ ...bodies[0], attempt: 2, at: BEGAN + 70_000, ...clocks });
      const resuming = commits[8].events[1];
      if (isWoken && resuming) resuming.meta = { cause: "timer", task_call_id: "undoable~1" };
    });
  expect(timers(retried(9_999))).toMatchObject([{ message: expect.stringContaining("attempt 2") }]);
  expect(timers(retried(10_000))).toEqual([]);
  expect(timers(retried(9_999, { isWoken: true }))).toEqual([]);
  expect(timers(retried(9_998, { latest: 9_999 }))).toHaveLength(1);
  expect(timers(retried(9_999, { latest: 10_000 }))).toEqual([]);
});

test("I10 a workflow's timeout that came early is found", () => {
  const evidence = broken(({ executions: [, of] }) => {
    const begun = of?.log[4];
    if (begun) begun.event.meta = { cause: "timeout" };
    if (of) of.row.timeout_ms = 20_000;
  });
  expect(timers(evidence)).toMatchObject([
    { execution_id: "e2", message: expect.stringContaining("timeout") },
  ]);
});
