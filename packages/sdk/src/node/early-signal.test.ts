/** A signal that was sent before its call is there: however short the call's timeout, it is taken. */
import { expect, test } from "vitest";
import { signal, task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

test("I11 EXE-53 a signal that was there before the call is what the call gets, however short its timeout", async () => {
  for (let due = 0; due < 12; due++) {
    const step = task({ name: "step" }, (given: unknown) => given);
    const body = async () => [await step(1), await signal("s", { timeout: 1 })];
    const scene = new Scene([workflow({ name: "w" }, body)]);
    atTurn(scene, 0, () => void scene.engine.signal("e1", "s", "news"));
    atTurn(scene, due, () => {
      scene.clock.now += 2;
      void scene.clock.fire();
    });
    await scene.start();
    await scene.toEnd();
    expect(scene.row(), `due in turn ${due}: ${scene.story().join(", ")}`).toMatchObject({
      state: "COMPLETED",
      output: [1, "news"],
    });
  }
});

function atTurn(scene: Scene, turn: number, then: () => void): void {
  const { host } = scene.clock;
  const { drain } = host;
  let turns = 0;
  Object.assign(host, {
    drain: (go: () => void) =>
      drain(() => {
        if (turns++ === turn) then();
        go();
      }),
  });
}
