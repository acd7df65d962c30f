import type { DetailedWorkerRecord } from "@engine/contract";
import { expect, test } from "vitest";
import type { Screen } from "./paint.ts";
import { workerTable, workerView } from "./worker-view.ts";

const NOON = Date.parse("2026-01-01T12:00:00.000Z");
const HOUR = 3_600_000;
const screen: Screen = { paint: (_role, text) => text, now: NOON, columns: undefined };

function worker(name: string, clock_offset_ms: number | null): DetailedWorkerRecord {
  return {
    name,
    status: "online",
    desired_state: "active",
    healthy: true,
    labels: {},
    metadata: {},
    services: { offered: [], granted: [] },
    runners: ["thread"],
    default_runner: "thread",
    slots: 4,
    load: 0,
    slots_free: 4,
    resources: null,
    reserved: { cpu: 0, memory: 0, disk: 0, gpu: 0 },
    packages: [],
    metrics: {},
    stuck_threads: 0,
    clock_offset_ms,
    runtime: null,
    engine_version: null,
    host: null,
    pid: null,
    dispatch: "event",
    registered_at: "2026-01-01T12:00:00.000Z",
    connected_at: "2026-01-01T12:00:00.000Z",
    last_seen_at: "2026-01-01T12:00:00.000Z",
    executions: [],
  };
}

const rows = (text: string) => text.split("\n").map((line) => line.trim().split(/ {2,}/));

test("WMD-7 the list shows whose clock is off, and by how much", () => {
  const fleet = [
    worker("a", HOUR),
    worker("b", -90_000),
    worker("new", null),
    worker("right", 900),
  ];
  const clocks = rows(workerTable(fleet, screen)).map((cells) =>
    cells.filter((cell) => /CLOCK|ahead$|behind$/.test(cell)),
  );
  expect(clocks).toEqual([["CLOCK"], ["1 h ahead"], ["1 min 30 s behind"], [], [], []]);
});

test("WMD-7 where every clock is right the list does not mention clocks", () => {
  expect(workerTable([worker("right", -1_000)], screen)).not.toMatch(/CLOCK|behind/);
});

test("WMD-7 a worker shows by how much its clock is off", () => {
  const shown = (offset: number | null) => rows(workerView(worker("w", offset), screen, false));
  expect(shown(-HOUR)).toContainEqual(["clock", "1 h behind"]);
  expect(shown(12).flat()).not.toContain("clock");
});
