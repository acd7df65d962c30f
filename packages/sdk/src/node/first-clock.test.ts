/** The first look at the clock, which nothing has been recorded before (EXE-31). */
import { expect, test } from "vitest";
import { sleep, task, workflow } from "../index.ts";
import { nodeHost } from "./host.ts";
import { replayHistory } from "./replay-history.ts";
import { MemoryExecution } from "./testing/memory-execution.ts";
import { Scene } from "./testing/scene.ts";

/** A clock that moves whenever it is looked at. */
function movingHost() {
  let now = Date.UTC(2030, 0, 1);
  return { ...nodeHost(), now: () => (now += 3) };
}

test("I9 the clock on a body's first line is the same in every pass, though it moves meanwhile", async () => {
  const seen: number[] = [];
  const wf = workflow({ name: "w" }, async () => {
    seen.push(Date.now());
    await sleep(1);
    return seen.at(-1);
  });
  const execution = new MemoryExecution(wf, null, movingHost());
  await execution.run();
  expect(execution.row).toMatchObject({ state: "COMPLETED", output: seen[0] });
  for (let seq = 2; seq < execution.events.length; seq++) await execution.cutAt(seq).run();
  expect(new Set(seen)).toEqual(new Set([seen[0]]));
});

test("I9 a first task that is killed before anything is recorded is told the same clock again", async () => {
  const told: number[] = [];
  const tells = task({ name: "tells" }, (now: number) => {
    told.push(now);
  });
  const scene = new Scene([workflow({ name: "w" }, async () => tells(Date.now()))]);
  let isLost = false;
  scene.onDelta = () => {
    if (isLost) return;
    isLost = true;
    // Its worker is gone before the log has anything of it; the next one is given it later.
    scene.engine.copyOf("e1")?.stop("lost");
    scene.engine.fence("e1");
    scene.clock.now += 40_000;
  };
  await scene.start();
  await scene.toEnd();
  expect(isLost).toBe(true);
  expect(scene.row()).toMatchObject({ state: "COMPLETED" });
  expect(told).toHaveLength(2);
  expect(told[1]).toBe(told[0]);
});

test("EXE-31 a log says by which clock its code began, also to whoever checks it later", async () => {
  const wf = workflow({ name: "w" }, async () => {
    const begun = Date.now();
    await sleep("1h");
    return begun;
  });
  const scene = new Scene([wf]);
  scene.engine.start(wf, null);
  const held = scene.clock.now;
  scene.engine.claim("e1");
  scene.clock.now += 700;
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ output: held });
  const { row, log } = { row: scene.row(), log: scene.log() };
  const verdict = await replayHistory(wf, { execution: row, seed: row.seed, events: log } as never);
  expect(verdict).toEqual({ result: "ok" });
});
