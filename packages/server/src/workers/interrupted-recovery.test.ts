import type { StoreMethod } from "@engine/store";
import { expect, test } from "vitest";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";

/** What recovery asks the store for, in the order in which it may be cut off. */
const STEPS: readonly StoreMethod[] = [
  "sessions.lose",
  "queue.listOwned",
  "executions.change",
  "sessions.listLive",
  "queue.listOrphaned",
  "sessions.find",
  "queue.list",
];

/** Time goes by, and who lives says so and what it has. */
async function pass(t: TestEngine, other: ScriptedWorker, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 5) {
    const held = other.frames.flatMap((frame) => (frame.event === "assign" ? [frame.data] : []));
    await other.beat(
      held.map(({ execution_id, generation, head: seq }) => ({ execution_id, generation, seq })),
    );
    await t.time.advance(5_000);
  }
}

test.each(STEPS)(
  "I17 LIV-2 a database that is away when recovery asks for %s strands nothing",
  async (step) => {
    await using t = await TestEngine.start();
    const lost = await t.worker("lost");
    const runs = [await t.run(1), await t.run(2), await t.run(3)];
    for (const _ of runs) await lost.started(await lost.next("assign"));
    const other = await t.worker("other");
    t.failing.add(step);
    lost.connection?.close();
    await pass(t, other, 40);
    t.failing.clear();
    await pass(t, other, 30);
    for (const { execution_id } of runs) {
      expect(await t.row(execution_id), step).toMatchObject({ worker: "other", generation: 2 });
    }
  },
);

test.each(STEPS)(
  "I17 LIV-2 a server that restarts with the database away when it asks for %s strands nothing",
  async (step) => {
    await using t = await TestEngine.start();
    const lost = await t.worker("lost");
    const { execution_id } = await t.run(1);
    await lost.started(await lost.next("assign"));
    await t.restart();
    const other = await t.worker("other");
    t.failing.add(step);
    await pass(t, other, 60);
    t.failing.clear();
    await pass(t, other, 60);
    expect(await t.row(execution_id), step).toMatchObject({ worker: "other", generation: 2 });
  },
);
