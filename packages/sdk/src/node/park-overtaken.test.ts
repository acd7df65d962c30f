/** What comes between a copy's saying that it waits and the sending of that. */
import { expect, test } from "vitest";
import { pause, sleep, task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

test("I17 a pause becomes PAUSED though a signal comes between its event and its sending", async () => {
  const step = task({ name: "step" }, () => "stepped");
  for (let turn = 0; turn < 24; turn++) {
    const body = async () => Promise.all([pause("p"), step()]);
    const scene = new Scene([workflow({ name: "w" }, body)]);
    sendAtTurn(scene, turn);
    await scene.start();
    await scene.advance(60_000);
    expect(scene.row(), `a signal at turn ${turn}`).toMatchObject({
      state: "PAUSED",
      session: null,
    });
    scene.engine.resume("e1", "answer");
    await scene.toEnd();
    expect(scene.row()).toMatchObject({ state: "COMPLETED", output: ["answer", "stepped"] });
  }
});

/** A signal that nobody waits for, in the n-th turn after the copy began. */
function sendAtTurn(scene: Scene, turn: number): void {
  const { host } = scene.clock;
  const { drain } = host;
  let turns = 0;
  Object.assign(host, {
    drain: (go: () => void) =>
      drain(() => {
        const isRunning = scene.row().session !== null;
        if (turns++ === turn && isRunning) scene.engine.signal("e1", "news", turn);
        go();
      }),
  });
}

test("I4 an attempt that comes due between a copy's saying that it waits and the sending runs once", async () => {
  for (let turn = 0; turn < 16; turn++) {
    const ran: number[] = [];
    const flaky = task({ name: "flaky", retry: { maxAttempts: 2, delay: 1_500 } }, (_, ctx) => {
      ran.push(ctx.attempt);
      if (ctx.attempt === 1) throw new Error("not yet");
      return "done";
    });
    const scene = new Scene([
      workflow({ name: "w" }, async () => Promise.all([flaky(), sleep(1_000)])),
    ]);
    await scene.start();
    // The sibling ends, and the attempt is due some turns later: in one of them before the sending.
    dueAtTurn(scene, { turn, at: scene.clock.now + 1_500 });
    await scene.advance(1_200);
    await scene.toEnd();
    expect(scene.row()).toMatchObject({ state: "COMPLETED" });
    expect(ran, `due at turn ${turn}`).toEqual([1, 2]);
  }
});

/** From the n-th turn on the clock shows `at` or later, and what is due rings before that turn goes on. */
function dueAtTurn(scene: Scene, { turn, at }: { turn: number; at: number }): void {
  const { clock } = scene;
  const { drain } = clock.host;
  let turns = 0;
  Object.assign(clock.host, {
    drain: (go: () => void) =>
      drain(() => {
        if (turns++ === turn && clock.now < at) {
          clock.now = at;
          void clock.fire();
        }
        go();
      }),
  });
}
