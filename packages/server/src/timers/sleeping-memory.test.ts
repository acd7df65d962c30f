import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Assignment, type CheckpointItem, formatInstant } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

const BATCH = 250;

/** Bytes that this process really uses. */
async function heapUsed(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  await settled();
  for (let i = 0; i < 3; i++) gc();
  return process.memoryUsage().heapUsed;
}

/** Starts executions of a worker that lets each of them sleep, and has no slot to spare. */
async function sleepers(t: TestEngine, count: number, ms: number): Promise<void> {
  const worker = await t.worker("w", { slots: BATCH });
  const until = formatInstant(t.time.now + ms);
  for (let done = 0; done < count; done += BATCH) {
    const starts = Array.from({ length: BATCH }, () => t.engine.executions.start(hello()));
    await Promise.all(starts);
    const items: CheckpointItem[] = [];
    for (let i = 0; i < BATCH; i++) items.push(parked(worker, await worker.next("assign"), until));
    await t.engine.workers.checkpoints(worker.ref, items);
    // What the worker remembers is not the server's.
    worker.frames.length = 0;
    await worker.connect();
  }
}

function parked(worker: ScriptedWorker, assigned: Assignment, until: string): CheckpointItem {
  const { execution_id, generation, head: base_seq } = assigned;
  const sleep = worker.callEvent("TASK_STARTED", "sleep~1", { until });
  const events = [worker.begin(assigned), sleep];
  return { execution_id, generation, base_seq, state: "RUNNING", events, waiting: [] };
}

test.each([
  ["a day, which the store remembers", 86_400_000],
  ["half a minute, which is near enough to be kept in memory", 30_000],
])(
  "EXE-50 10,000 executions that sleep for %s take less than 1 KiB of memory each and no slot",
  async (_, ms) => {
    const folder = mkdtempSync(join(tmpdir(), "engine-sleepers-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    await using t = await TestEngine.start({}, { path: join(folder, "engine.db") });
    // Whatever is made once is made before.
    await sleepers(t, BATCH, ms);
    const before = await heapUsed();
    await sleepers(t, 10_000, ms);
    const bytes = ((await heapUsed()) - before) / 10_000;
    expect(bytes).toBeLessThan(1024);
    const sleeping = { states: ["RUNNING"], order: "created_asc", limit: 1, offset: 0 } as const;
    const { items, total } = await t.store.executions.list(sleeping);
    expect(total).toBe(10_000 + BATCH);
    expect(items).toMatchObject([{ worker: null, waits: [{ kind: "sleep" }] }]);
  },
  60_000,
);
