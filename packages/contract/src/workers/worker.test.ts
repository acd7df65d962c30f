import { expect, test } from "vitest";
import { Checkpoint, CheckpointItem } from "./checkpoint.ts";
import { Labels, WorkerRegistration } from "./worker.ts";

const registration = {
  name: "w1",
  instance_id: "0190f5b0-7e5c-7aaa-8bbb-123456789abc",
  protocol: 2,
  engine_version: "0.1.0",
  host: "h",
  pid: 1,
  runtime: { os: "linux", arch: "x64", node: "24" },
};

test("WRK-2 a registration has defaults for what a worker need not say", () => {
  expect(WorkerRegistration.parse(registration)).toMatchObject({
    labels: {},
    slots: 64,
    runners: ["thread", "process"],
    default_runner: "thread",
  });
});

test("WRK-2 a reserved name, an unknown field, a broken id are refused", () => {
  const bad = [
    { name: "local" },
    { name: "join-tokens" },
    { name: "a b" },
    { instance_id: "1" },
    { instance_id: "9b2f1c0e-6d1a-4c3b-8f00-0123456789ab" },
    { slots: -1 },
    { runners: [] },
    { colour: "red" },
  ];
  for (const change of bad) {
    const { success } = WorkerRegistration.safeParse({ ...registration, ...change });
    expect(success, JSON.stringify(change)).toBe(false);
  }
});

test("WRK-2 labels are short text under plain keys, 64 at most", () => {
  const good = [{ region: "eu" }, { "a.b-c_d": "x y" }, { a: "ü".repeat(256) }];
  for (const labels of good) expect(Labels.safeParse(labels).success).toBe(true);
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, "v"]));
  const bad = [{ "": "x" }, { "-a": "x" }, { "a ": "x" }, { a: "" }, { a: "x\n" }, { a: 1 }, many];
  for (const labels of [...bad, { a: "x".repeat(257) }, { ["k".repeat(129)]: "x" }]) {
    expect(Labels.safeParse(labels).success, JSON.stringify(labels).slice(0, 40)).toBe(false);
  }
});

test("CKP-1 a checkpoint keeps its values as they are, whatever they are called", () => {
  const value = JSON.parse('{"__proto__": {"a": 1}, "list": [1, null]}');
  const event = {
    type: "TASK_COMPLETED",
    source_id: "a~1",
    name: "a",
    kind: null,
    value,
    time: "2026-01-01 00:00:00.000",
    meta: null,
  };
  const item = { execution_id: "e", generation: 1, base_seq: 0, state: "RUNNING", events: [event] };
  expect(JSON.stringify(CheckpointItem.parse(item).events[0]?.value)).toBe(JSON.stringify(value));
  const { value: _, ...without } = event;
  expect(CheckpointItem.safeParse({ ...item, events: [without] }).success).toBe(false);
  expect(CheckpointItem.safeParse({ ...item, generation: 0 }).success).toBe(false);
});

test("SEC-9 what a worker sends as sealed is not taken: only the server says what is", () => {
  const event = {
    ...{ type: "TASK_STARTED", source_id: "t~1", name: "t", kind: null, value: "shown" },
    ...{ time: "2030-01-01 00:00:00.000", meta: null, hidden: "real", sealed: "engine-sealed:1:x" },
  };
  const { events } = Checkpoint.parse({
    generation: 1,
    base_seq: 2,
    state: "RUNNING",
    events: [event],
  });
  const { sealed: _, ...taken } = event;
  expect(events).toEqual([taken]);
});
