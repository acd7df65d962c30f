/** A call that is given what has no stored form fails; code that catches that goes on, in every pass. */
import { expect, test } from "vitest";
import { call, pause, signal, task, workflow } from "../index.ts";
import { replayHistory } from "./replay-history.ts";
import { crashEverywhere } from "./testing/crash-sweep.ts";
import { Scene } from "./testing/scene.ts";

const child = workflow({ name: "child" }, async (input: unknown) => input);
const plain = task({ name: "plain" }, (input: unknown) => input);
const unstorable = () => 1;

test.each<[string, () => Promise<unknown>]>([
  ["a child", () => call(child, unstorable)],
  ["a child named by text", () => call("default/child", { deep: [unstorable] })],
  ["a pause", () => pause("shown", { output: unstorable })],
  ["a task", () => plain(unstorable)],
  ["a graph or map of such", () => Promise.all([call(child, unstorable), plain(unstorable)])],
])("EXE-47 %s that is refused what it is given can be caught, and replays", async (_, make) => {
  const wf = workflow({ name: "w" }, async () => {
    let caught = "nothing";
    try {
      await make();
    } catch (error) {
      caught = (error as Error).name;
    }
    return [caught, await pause("p")];
  });
  const scene = new Scene([wf, child], {
    answer: ({ engine }) => {
      if (engine.row("e1").state !== "PAUSED") return false;
      engine.resume("e1", "answer", "p");
      return true;
    },
  });
  await scene.run();
  expect(scene.row()).toMatchObject({
    state: "COMPLETED",
    output: ["UnencodableValueError", "answer"],
  });
  await crashEverywhere(scene, []);
  const history = { execution: scene.row(), seed: scene.row().seed, events: scene.log() };
  expect(await replayHistory(wf, history as never)).toEqual({ result: "ok" });
  const other = workflow({ name: "w" }, async () => {
    await signal("p").catch(() => {});
  });
  expect(await replayHistory(other, history as never)).toMatchObject({ result: "diverged" });
});

test("EXE-28 a log from before refused calls kept their label replays too", async () => {
  const wf = workflow({ name: "w" }, async () => {
    await call(child, unstorable).catch(() => {});
    return pause("p");
  });
  const scene = new Scene([wf, child]);
  await scene.start();
  for (const event of scene.log()) {
    if (event.value === null && event.type === "TASK_STARTED") Object.assign(event, { meta: null });
  }
  scene.engine.resume("e1", "answer", "p");
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "answer" });
});
