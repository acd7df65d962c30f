import { resolveConfig } from "@engine/contract";
import { expect, test } from "vitest";
import { setTimer } from "../testing/set-timer.ts";
import type { ToRunner } from "./messages.ts";
import type { Runner, RunnerEvents } from "./runner.ts";
import { RunnerPool } from "./runner-pool.ts";

/** A pool of one runner at a time that remembers what it was told, and can be made to die. */
function createPool() {
  const workers = { runners: ["inline"], default_runner: "inline" };
  const { config } = resolveConfig({ flags: { workers } });
  if (!config) throw new Error("the test's configuration is wrong");
  const started: { told: ToRunner[]; die: () => void }[] = [];
  const inline = (events: RunnerEvents): Runner => {
    const told: ToRunner[] = [];
    const runner: Runner = {
      isShared: true,
      load: 0,
      isReady: true,
      entered: 0,
      culprit: 0,
      loaded: new Set(),
      post: (messages) => void told.push(...messages),
      close: async () => {},
    };
    started.push({ told, die: () => events.died(runner, "killed") });
    return runner;
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const events = { said() {}, died() {}, stalled() {}, stuck() {} };
  const world = { log, setTimer, random: Math.random };
  const pool = new RunnerPool({
    ...world,
    config: config.workers,
    folder: "/",
    env: {},
    events,
    inline,
  });
  return { pool, started };
}

test("WRK-8 a runner that has nothing left to do when the server is back goes on, too", async () => {
  const { pool, started } = createPool();
  pool.hold(true);
  pool.hold(false);
  expect(started.map(({ told }) => told)).toEqual([
    [
      { kind: "hold", on: true },
      { kind: "hold", on: false },
    ],
  ]);
  await pool.close();
});

test("WRK-8 a runner that has ended is told nothing any more", async () => {
  const { pool, started } = createPool();
  pool.hold(true);
  started[0]?.die();
  pool.hold(false);
  pool.setClock(5);
  expect(started.map(({ told }) => told)).toEqual([
    [{ kind: "hold", on: true }],
    [
      { kind: "hold", on: false },
      { kind: "clock", server_at_zero: 5 },
    ],
  ]);
  await pool.close();
});
