import { isOutcome, isTerminal } from "@engine/contract";
import { expect, test } from "vitest";
import {
  call,
  graph,
  map,
  parallel,
  pause,
  signal,
  sleep,
  type TaskContext,
  task,
  workflow,
} from "../index.ts";
import { crashEverywhere } from "./testing/crash-sweep.ts";
import { Scene } from "./testing/scene.ts";

const undone: string[] = [];
const rollback = (_: unknown, { executionId, taskCallId }: TaskContext) =>
  void undone.push(`${executionId}:${taskCallId}`);
const ran: string[] = [];
const step = task({ name: "step", rollback }, async (n: number, { executionId, taskCallId }) => {
  ran.push(`${executionId}:${taskCallId}`);
  return n + 1;
});
const flaky = task(
  { name: "flaky", rollback, retry: { maxAttempts: 3, delay: "1m" } },
  async (_: unknown, { attempt }) => {
    if (attempt < 3) throw new Error("not yet");
    return attempt;
  },
);
const saved = task({ name: "saved", rollback, fallback: async () => 7 }, async (_: unknown) => {
  throw new Error("never");
});
const outer = task({ name: "outer" }, async (n: number) => {
  await sleep(200);
  return parallel([() => step(n), () => pause("inner", { after: "1h" })]);
});
const leaf = workflow({ name: "leaf" }, async (n: number) => {
  await sleep("1h");
  return step(n);
});
const etl = graph("etl", {
  a: { run: step },
  b: { after: ["a"], run: flaky },
  c: { after: ["a"], run: saved },
});
const everything = workflow({ name: "everything" }, async () => {
  const first = await step(1);
  const results = await parallel([
    () => call(leaf, first),
    () => outer(first),
    () => etl(first),
    async () => [await signal("s", { timeout: "2h" }), await step(5)],
    () => map([1, 2, 3], (n) => (n === 2 ? sleep(700) : step(n)), { concurrency: 2 }),
  ]);
  const answer = await Promise.race([pause("p", { after: "1h" }), sleep("30m")]);
  try {
    await step(9);
  } finally {
    await sleep(5);
  }
  return [first, results.length, answer];
});

/** What must hold of every log, whatever became of its execution. */
function expectSound(scene: Scene, at: string): void {
  for (const { execution_id, state } of scene.engine.rows.values()) {
    const where = `${execution_id} ${at}`;
    expect(isTerminal(state), `${where} is ${state}`).toBe(true);
    const log = scene.log(execution_id);
    expect(
      log.map(({ seq }) => seq),
      where,
    ).toEqual(log.map((_, i) => i + 1));
    const started = log.filter(({ type }) => type === "TASK_STARTED").map((e) => e.source_id);
    const outcomes = log.filter(({ type }) => isOutcome(type)).map((e) => e.source_id);
    expect(new Set(started).size, `${where}: one start per call`).toBe(started.length);
    expect(outcomes.toSorted(), `${where}: one outcome per call`).toEqual(started.toSorted());
    const ends = log.filter(({ type }) => /^WORKFLOW_(COMPLETED|FAILED|CANCELLED)$/.test(type));
    expect(ends, `${where}: one end`).toHaveLength(1);
    expect(log.at(-1)?.seq, `${where}: nothing after its end`).toBe(ends[0]?.seq);
  }
}

/** Calls that a cancel interrupted and that declare a rollback. */
function expectUndone(scene: Scene, at: string): void {
  for (const { execution_id } of scene.engine.rows.values()) {
    const log = scene.log(execution_id);
    const cancelling = log.findIndex(({ type }) => type === "WORKFLOW_CANCELLING");
    if (cancelling < 0) continue;
    const interrupted = log
      .slice(cancelling)
      .filter(
        ({ type, name }) => type === "TASK_CANCELLED" && ["step", "flaky", "saved"].includes(name),
      )
      // Rolled back already, by its own failure.
      .filter(
        ({ source_id }) =>
          !log
            .slice(0, cancelling)
            .some((e) => e.source_id === source_id && e.type === "TASK_ROLLBACK_COMPLETED"),
      )
      .map(({ source_id }) => `${execution_id}:${source_id}`);
    for (const id of interrupted) {
      expect(
        undone.filter((done) => done === id),
        `${id} ${at}`,
      ).toHaveLength(1);
    }
  }
}

const workflows = [everything, leaf];

test("I2 I4 I13 a cancel that arrives with any commit leaves a sound log, and rollbacks run once", async () => {
  const whole = new Scene(workflows);
  await whole.run();
  expect(whole.row()).toMatchObject({ state: "COMPLETED" });
  expectSound(whole, "without a cancel");
  const commits = whole.crashPoints.length;
  expect(commits).toBeGreaterThan(20);
  for (let k = 0; k < commits; k++) {
    undone.length = 0;
    const scene = new Scene(workflows);
    let n = 0;
    let at = "";
    scene.onDelta = () => {
      if (n++ !== k) return;
      at = `cancelled ${scene.crashPoints.at(-1)?.at}`;
      scene.engine.cancel("e1");
    };
    await scene.run();
    expectSound(scene, at);
    expectUndone(scene, at);
    const cancelling = scene.types().indexOf("WORKFLOW_CANCELLING");
    const after = scene.log().slice(cancelling);
    const attempts = after.filter(({ type }) => /RETRY_STARTED|FALLBACK_STARTED/.test(type));
    // What was on its way when the cancel came was begun before it.
    expect(attempts.length, at).toBeLessThanOrEqual(1);
  }
}, 60_000);

test("I4 I5 I7 wherever all workers are lost, everything comes to the same end", async () => {
  const whole = new Scene(workflows);
  await whole.run();
  await crashEverywhere(whole, ran);
}, 60_000);

test("I2 I3 wherever all workers are lost, a cancel then ends everything soundly", async () => {
  const whole = new Scene(workflows);
  await whole.run();
  for (const crash of whole.crashPoints) {
    if (isTerminal(crash.rows.get("e1")?.state ?? "FAILED")) continue;
    undone.length = 0;
    const scene = whole.after(crash);
    scene.engine.cancel("e1");
    await scene.toEnd();
    // Row 15: what the log holds may have brought the body to its end already.
    const hadEnded = crash.logs
      .get("e1")
      ?.some(({ source_id, type }) => source_id === "sleep~2" && isOutcome(type));
    expect(scene.row().state, crash.at).toBe(hadEnded ? "COMPLETED" : "CANCELLED");
    expectSound(scene, crash.at);
    expectUndone(scene, crash.at);
    const cancelling = scene.types().indexOf("WORKFLOW_CANCELLING");
    const started = scene
      .log()
      .slice(cancelling)
      .filter(({ type }) => type === "TASK_STARTED");
    expect(started, `I13: nothing starts, ${crash.at}`).toEqual([]);
  }
}, 60_000);
