/** Clocks that are wrong or are set, and a server that stood still, on real processes. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecutionRecord, RecordedEvent, WorkerRecord } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { shiftedClock } from "../harness/shifted-clock.ts";
import { until } from "../harness/until.ts";

const HOUR = 3_600_000;
const QUICK = { ENGINE_WORKERS__HEARTBEAT_INTERVAL: "1", ENGINE_WORKERS__SILENCE_TIMEOUT: "3" };
const STORES = ["sqlite", "postgres"] as const;

function clockOf(name: string, ms = 0) {
  const folder = mkdtempSync(join(tmpdir(), "engine-clock-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return shiftedClock(join(folder, name), ms);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function workersOf({ http }: Engine): Promise<readonly WorkerRecord[]> {
  return (await http.get<{ items: WorkerRecord[] }>("/workers")).body.items;
}

async function untilOnline(engine: Engine, names: readonly string[]): Promise<void> {
  await until("the workers are online", async () => {
    const online = (await workersOf(engine)).filter(({ status }) => status === "online");
    return names.every((name) => online.some((worker) => worker.name === name));
  });
}

/** Executions that take some while, on both workers. */
async function startLong(engine: Engine, ms: number): Promise<readonly string[]> {
  const input = { steps: Math.ceil(ms / 250), ms: 250 };
  return Promise.all(Array.from({ length: 6 }, () => engine.start("slow", input)));
}

function claims(log: readonly RecordedEvent[]): number {
  return log.filter(({ type }) => type === "WORKFLOW_CLAIMED").length;
}

test.each(STORES)(
  "LIV-2 a server whose clock jumps an hour ahead and back keeps the workers that live, and gives up one that is silent (%s)",
  async (store) => {
    const clock = clockOf("server");
    await using engine = await startEngine({
      store,
      workers: [],
      env: { ...QUICK, ...clock.env },
    });
    const own = clockOf("workers").env;
    const one = engine.startWorker("one", own);
    engine.startWorker("two", own);
    await engine.register("slow");
    await untilOnline(engine, ["one", "two"]);
    const ids = await startLong(engine, 8_000);
    // Oftener than a worker may be silent, and not in step with heartbeats.
    for (const ms of [HOUR, 0, -HOUR, HOUR, -HOUR]) {
      clock.set(ms);
      await pause(1_700);
    }
    for (const id of ids) {
      expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED", output: 8_000 });
      expect(claims(await engine.http.log(id))).toBe(1);
    }
    expect(engine.server.output).not.toMatch(/worker lost/);
    await untilOnline(engine, ["one", "two"]);

    const { body } = await engine.http.post<ExecutionRecord>(
      "/workflows/slow/run/async",
      { steps: 12, ms: 250 },
      { "x-engine-preferred-worker": "one" },
    );
    const id = body.execution_id;
    await engine.untilIs(id, ({ worker }) => worker === "one");
    clock.set(-2 * HOUR);
    one.signal("SIGSTOP");
    expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED" });
    one.signal("SIGCONT");
    const claimants = (await engine.http.log(id)).filter(({ type }) => type === "WORKFLOW_CLAIMED");
    expect(claimants.map(({ value }) => (value as { worker: string }).worker)).toEqual([
      "one",
      "two",
    ]);
  },
  120_000,
);

test.each(STORES)(
  "LIV-2 a server that was stopped for longer than its workers may be silent hears them before it judges (%s)",
  async (store) => {
    await using engine = await startEngine({ store, workers: ["one", "two"], env: QUICK });
    await engine.register("slow");
    await untilOnline(engine, ["one", "two"]);
    const ids = await startLong(engine, 12_000);
    for (const id of ids) await engine.untilIs(id, ({ state }) => state === "RUNNING");
    engine.server.signal("SIGSTOP");
    await pause(8_000);
    engine.server.signal("SIGCONT");
    for (const id of ids) {
      expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED", output: 12_000 });
      expect(claims(await engine.http.log(id))).toBe(1);
    }
    expect(engine.server.output).toMatch(/this server stood still/);
    expect(engine.server.output).not.toMatch(/worker lost/);
  },
  120_000,
);

test.each([
  ["an hour behind", -HOUR, "1 h behind"],
  ["an hour ahead", HOUR, "1 h ahead"],
] as const)(
  "EXE-50 WMD-7 a sleep on a worker that is %s lasts as long as it should, and operators are told",
  async (_, off, shown) => {
    const clock = clockOf("worker", off);
    await using engine = await startEngine({ workers: [] });
    const worker = engine.startWorker("wrong", clock.env);
    await engine.register("nap");
    await untilOnline(engine, ["wrong"]);
    const ms = 4_000;
    const id = await engine.start("nap", ms);
    const { state, output } = await engine.untilEnded(id);
    expect(state).toBe("COMPLETED");
    const log = await engine.http.log(id);
    const at = (type: string) =>
      Date.parse(log.find((event) => event.type === type)?.recorded_at ?? "");
    const took = at("TASK_COMPLETED") - at("TASK_STARTED");
    expect(took).toBeGreaterThan(ms - 100);
    expect(took).toBeLessThan(ms + 20_000);
    // What the body takes for the time is the server's too.
    expect(Math.abs(Number(output) - ms)).toBeLessThan(20_000);
    const stamps = log.map(({ time, recorded_at }) => {
      return Math.abs(Date.parse(`${time.replace(" ", "T")}Z`) - Date.parse(recorded_at));
    });
    expect(Math.max(...stamps)).toBeLessThan(20_000);

    await worker.printed(/clock of this machine is not the server's/);
    await engine.server.printed(/clock of a worker's machine is not this server's/);
    // Lists are read from rows, which take a heartbeat up a little later than the log.
    await until("the list has the offset", async () => {
      const [record] = await workersOf(engine);
      return Math.abs(Number(record?.clock_offset_ms) - off) < 1_000;
    });
    expect((await engine.cli("worker", "list")).stdout).toMatch(/CLOCK\n.*(1 h|59 min)/);
    const { stdout } = await engine.cli("worker", "show", "wrong");
    expect(stdout).toContain(shown.split(" ").at(-1));
  },
  120_000,
);

test("EXE-50 a worker's clock that is set while an execution sleeps on it does not end the sleep", async () => {
  const clock = clockOf("worker");
  await using engine = await startEngine({
    workers: [],
    env: { ENGINE_EXECUTIONS__INLINE_WAIT: "60" },
  });
  engine.startWorker("jumpy", clock.env);
  await engine.register("nap");
  await untilOnline(engine, ["jumpy"]);
  const ms = 6_000;
  const ids = await Promise.all([0, 1].map(() => engine.start("nap", ms)));
  for (const id of ids) await engine.untilIs(id, ({ state }) => state === "RUNNING");
  await pause(1_000);
  clock.set(HOUR);
  await pause(1_500);
  // Another one begins under the clock as it is now.
  ids.push(await engine.start("nap", ms));
  clock.set(-HOUR);
  for (const id of ids) {
    await engine.untilEnded(id);
    const log = await engine.http.log(id);
    const at = (type: string) =>
      Date.parse(log.find((event) => event.type === type)?.recorded_at ?? "");
    const took = at("TASK_COMPLETED") - at("WORKFLOW_STARTED");
    expect(took).toBeGreaterThan(ms - 500);
    expect(took).toBeLessThan(ms + 20_000);
  }
}, 120_000);
