import { forkHistory } from "@engine/contract";
import { expect, test } from "vitest";
import { call, parallel, pause, sleep, type TaskContext, task, workflow } from "../index.ts";
import { currentScope } from "../replay/calls/scope.ts";
import { Scene } from "./testing/scene.ts";

const ran: string[] = [];
const step = task({ name: "step" }, async (n: number, { executionId, taskCallId }: TaskContext) => {
  ran.push(`${executionId}:${taskCallId}`);
  return n + 1;
});
const leaf = workflow({ name: "leaf" }, async (n: number) => {
  await sleep("1h");
  return step(n);
});

/** Resumes whatever is paused. */
const answer = ({ engine }: Scene): boolean => {
  const open = [...engine.rows.values()].find(({ state }) => state === "PAUSED");
  if (open) engine.resume(open.execution_id, "yes");
  return open !== undefined;
};

function fork(scene: Scene, from_seq: number): string {
  const source = scene.row();
  const { seq, history } = forkHistory(source, scene.log(), { from_seq });
  return scene.engine.fork(source, { from: { execution_id: "e1", seq }, history }).execution_id;
}

test("EXE-87 a fork at every seq comes to the same output, and runs no recorded body again", async () => {
  const wf = workflow({ name: "w" }, async (n: number) => {
    const first = await step(n);
    const [child, slept] = await parallel([
      () => call(leaf, first),
      async () => {
        await sleep("2h");
        return step(first);
      },
    ]);
    const answered = await pause("p");
    return [first, child, slept, answered, await step(child)];
  });
  const scene = new Scene([wf, leaf], { answer });
  await scene.run(1);
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [2, 3, 3, "yes", 4] });
  const before = JSON.stringify([scene.row(), scene.log()]);

  for (let seq = 1; seq <= scene.log().length; seq++) {
    ran.length = 0;
    const id = fork(scene, seq);
    expect(scene.row(id).state, `at ${seq}`).toBe("RESUMING");
    await scene.toEnd();
    expect(scene.row(id), `at ${seq}`).toMatchObject({
      state: "COMPLETED",
      output: [2, 3, 3, "yes", 4],
    });
    const recorded = scene
      .log()
      .slice(0, seq)
      .filter(({ type }) => type === "TASK_COMPLETED")
      .map(({ source_id }) => `${id}:${source_id}`);
    expect(
      ran.filter((body) => recorded.includes(body)),
      `at ${seq}`,
    ).toEqual([]);
  }
  expect(JSON.stringify([scene.row(), scene.log()]), "the source is untouched").toBe(before);
});

test("EXE-87 a failed execution goes on from before the call that failed it", async () => {
  let broken = true;
  const charge = task({ name: "charge" }, async (n: number) => {
    if (broken) throw new Error("down");
    return n * 10;
  });
  const wf = workflow({ name: "w" }, async (n: number) => charge(await step(n)));
  const scene = new Scene([wf]);
  await scene.run(1);
  expect(scene.row().state).toBe("FAILED");
  broken = false;
  ran.length = 0;
  const { seq, history } = forkHistory(scene.row(), scene.log(), { from_call: "charge~1" });
  scene.engine.fork(scene.row(), { from: { execution_id: "e1", seq }, history });
  await scene.toEnd();
  expect(scene.row("e2")).toMatchObject({ state: "COMPLETED", output: 20 });
  expect(ran, "step is not run again").toEqual([]);
});

test("EXE-87 a fork onto code that diverges fails, its source stays as it was", async () => {
  let isNew = false;
  const other = task({ name: "other" }, async () => 0);
  const wf = workflow({ name: "w" }, async (n: number) => {
    await (isNew ? other() : step(n));
    return "done";
  });
  const scene = new Scene([wf]);
  await scene.run(1);
  isNew = true;
  const id = fork(scene, 5);
  await scene.toEnd();
  expect(scene.row(id).failure).toMatchObject({
    type: "NondeterminismError",
    code: "nondeterminism",
  });
  expect(scene.row().state).toBe("COMPLETED");
});

test("EXE-31 a fork inherits the seed: its body draws the same numbers", async () => {
  const drawn: number[][] = [];
  const wf = workflow({ name: "w" }, async () => {
    const world = currentScope()?.runtime.world;
    const numbers = [world?.random() ?? 0, world?.random() ?? 0];
    drawn.push(numbers);
    await step(1);
    numbers.push(world?.random() ?? 0);
    return numbers;
  });
  const scene = new Scene([wf]);
  await scene.run();
  fork(scene, 5);
  await scene.toEnd();
  expect(drawn[1]).toEqual(drawn[0]);
  expect(new Set(drawn[0]).size).toBe(3);
});
