/** Clocks that are set, and a server that stood still: who is lost is judged by neither (LIV-2). */
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";

const HOUR = 3_600_000;

/** A connected worker with one execution that has begun. */
async function busy(t: TestEngine, name = "w") {
  const worker = await t.worker(name);
  const { execution_id } = await t.run();
  await worker.started(await worker.next("assign"));
  const running = [{ execution_id, generation: 1, seq: 3 }];
  return { worker, execution_id, running };
}

test.each([HOUR, -HOUR])(
  "LIV-2 a server whose clock is set by %i ms keeps the workers that it hears",
  async (ms) => {
    await using t = await TestEngine.start();
    const { worker, execution_id, running } = await busy(t);
    await t.time.advance(20_000);
    await worker.beat(running);
    await t.time.advance(9_000);
    t.time.set(ms);
    for (let s = 0; s < 60; s += 10) {
      await t.time.advance(1_000);
      await worker.beat(running);
      await t.time.advance(9_000);
    }
    expect(await t.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
    expect(await t.engine.fleet.show("w")).toMatchObject({ status: "online" });
  },
);

test("LIV-2 a worker that is silent is lost after its time though the server's clock was set back", async () => {
  await using t = await TestEngine.start();
  const { execution_id } = await busy(t);
  t.time.set(-HOUR);
  await t.time.advance(30_000);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED", worker: null });
});

test("LIV-2 a closed stream has its grace though the server's clock is set meanwhile", async () => {
  await using t = await TestEngine.start();
  const { worker, execution_id } = await busy(t);
  worker.connection?.close();
  await t.time.advance(500);
  t.time.set(HOUR);
  await t.time.advance(400);
  expect(await t.row(execution_id)).toMatchObject({ worker: "w" });
  t.time.set(-2 * HOUR);
  await t.time.advance(100);
  expect(await t.row(execution_id)).toMatchObject({ worker: null });
});

test("LIV-2 a server that stood still hears its workers before it judges them", async () => {
  await using t = await TestEngine.start();
  const { worker, execution_id, running } = await busy(t);
  const leaving = await busy(t, "leaving");
  await t.time.advance(10_000);
  leaving.worker.connection?.close();
  // Stopped: no timer fires, and what workers send waits to be read.
  t.time.now += 40_000;
  await t.time.advance(0);
  expect(await t.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
  expect(await t.row(leaving.execution_id)).toMatchObject({ worker: "leaving" });
  await worker.beat(running);
  await leaving.worker.connect(leaving.running);
  await t.time.advance(29_000);
  expect(await t.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
  expect(await t.row(leaving.execution_id)).toMatchObject({ worker: "leaving", generation: 1 });
});

test("LIV-2 a worker that stays silent after a standstill of its server has one more grace, not more", async () => {
  await using t = await TestEngine.start();
  const { execution_id } = await busy(t);
  t.time.now += 40_000;
  await t.time.advance(29_000);
  expect(await t.row(execution_id)).toMatchObject({ worker: "w" });
  await t.time.advance(1_000);
  expect(await t.row(execution_id)).toMatchObject({ worker: null });
});

test("LIV-1 an assignment that no heartbeat lists goes back after its time, whatever the clock was set to", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.next("assign");
  t.time.set(HOUR);
  await worker.beat();
  await worker.beat();
  expect(await t.row(execution_id)).toMatchObject({ state: "CLAIMED", generation: 1 });
  t.time.set(-2 * HOUR);
  await t.time.advance(10_000);
  await worker.beat();
  await worker.beat();
  await settled();
  expect(await t.row(execution_id)).toMatchObject({ generation: 2 });
});

test.each([HOUR, -HOUR])(
  "LIV-3 a leader whose clock is set by %i ms leaves a worker to the server that holds it",
  async (ms) => {
    await using t = await TwoServers.start();
    const { worker, execution_id, running } = await busy(t.b);
    await t.time.advance(25_000);
    await worker.beat(running);
    t.time.set(ms);
    for (let s = 0; s < 120; s += 10) {
      await worker.beat(running);
      await t.time.advance(10_000);
    }
    expect(await t.b.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
  },
);

test("LIV-3 a leader that stood still leaves a worker to the server that holds it", async () => {
  await using t = await TwoServers.start();
  const { worker, execution_id, running } = await busy(t.b);
  await t.time.advance(25_000);
  await worker.beat(running);
  await t.time.advance(10_000);
  await worker.beat(running);
  // Of two that stood still: neither has noted its life meanwhile.
  t.time.now += 40_000;
  await t.time.advance(2_000);
  await worker.beat(running);
  await t.time.advance(20_000);
  expect(await t.b.row(execution_id)).toMatchObject({ worker: "w", generation: 1 });
});

test("LIV-3 what a worker without a server ran goes back though the clocks were set back", async () => {
  await using t = await TwoServers.start();
  const { execution_id } = await busy(t.b);
  await t.time.advance(25_000);
  t.kill(t.b);
  t.time.set(-HOUR);
  await t.time.advance(30_000);
  expect(await t.a.row(execution_id)).toMatchObject({ worker: null, state: "CREATED" });
});

test("WMD-7 a worker whose clock is off is shown with it, and told of once per change", async () => {
  const told: unknown[] = [];
  const log = {
    ...silent,
    warn: (details: object, message: string) => void told.push({ ...details, message }),
    info: (details: object, message: string) => void told.push({ ...details, message }),
  };
  await using t = await TestEngine.start({}, { ports: { log } });
  const worker = await t.worker();
  expect(await t.engine.fleet.show("w")).toMatchObject({ clock_offset_ms: null });
  for (const clock_offset_ms of [12, HOUR, HOUR + 300, -HOUR, -40, 3]) {
    await worker.beat([], { clock_offset_ms });
  }
  expect(told).toEqual([
    { worker: "w", offset_ms: HOUR, message: expect.stringContaining("is not this server's") },
    { worker: "w", offset_ms: -HOUR, message: expect.stringContaining("is not this server's") },
    { worker: "w", offset_ms: -40, message: expect.stringContaining("right again") },
  ]);
  await worker.beat([], { clock_offset_ms: -HOUR });
  await t.time.advance(5_000);
  expect(await t.engine.fleet.show("w")).toMatchObject({ clock_offset_ms: -HOUR });
});
