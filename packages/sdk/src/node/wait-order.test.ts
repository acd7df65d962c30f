import { NO_SIGNALS } from "@engine/contract";
/** Waits end in the order of their instants, whatever kept the thread from looking at the clock. */
import { expect, test } from "vitest";
import { pause, signal, sleep, task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

/** Time passes during which the thread computes: nothing fires until it is over, the server goes on. */
async function compute(scene: Scene, ms: number): Promise<void> {
  scene.clock.now += ms;
  scene.engine.wakeDue();
  await scene.clock.fire();
  await scene.settle();
}

const busy = task({ name: "busy" }, () => new Promise<never>(() => {}));

type Named = readonly [string, () => Promise<unknown>];

async function orderOf(waits: readonly Named[]): Promise<string[]> {
  const order: string[] = [];
  const body = async () => {
    busy().catch(() => {});
    await Promise.all(waits.map(([name, wait]) => wait().then(() => order.push(name))));
    return order;
  };
  const scene = new Scene([workflow({ name: "w" }, body)], { limits: { sibling_grace: 0.1 } });
  await scene.start();
  await compute(scene, 5_000);
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: order });
  return order;
}

test.each<[string, readonly Named[]]>([
  [
    "a long sleep and a short one",
    [
      ["1100", () => sleep(1_100)],
      ["900", () => sleep(900)],
    ],
  ],
  [
    "short ones",
    [
      ["30", () => sleep(30)],
      ["20", () => sleep(20)],
      ["10", () => sleep(10)],
    ],
  ],
  [
    "long ones",
    [
      ["3000", () => sleep(3_000)],
      ["2000", () => sleep(2_000)],
    ],
  ],
  [
    "a timeout and sleeps around it",
    [
      ["1300", () => sleep(1_300)],
      ["1200 signal", () => signal("s", { timeout: 1_200 })],
      ["1100 pause", () => pause("p", { after: 1_100 })],
      ["900", () => sleep(900)],
    ],
  ],
])("EXE-50 %s end in order after a long computation", async (_, waits) => {
  const sorted = [...waits].map(([name]) => name).sort((a, b) => parseInt(a, 10) - parseInt(b, 10));
  expect(await orderOf(waits)).toEqual(sorted);
});

test("EXE-51 a pause that a running copy ends by its time says so", async () => {
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      busy().catch(() => {});
      return [await pause("p", { after: "2s", output: new Map([["a", 1]]) })];
    }),
  ]);
  await scene.start();
  await scene.advance(2_500);
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", waits: [] });
  const resumed = scene.log().find(({ type }) => type === "TASK_RESUMED");
  expect(JSON.stringify(resumed?.value)).toContain("timer");
  expect(scene.story().filter((line) => line === "TASK_COMPLETED pause~1")).toHaveLength(1);
});

test("I11 an answer that is under way when a running copy's time is over wins, and is the only one", async () => {
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      busy().catch(() => {});
      return [await pause("p", { after: "2s" }), await signal("s", { timeout: "2s" })];
    }),
  ]);
  await scene.start();
  scene.onDelta = (_, { events }) => {
    if (!events.includes("TASK_RESUMED")) return;
    scene.onDelta = () => {};
    scene.engine.resume("e1", "answer");
  };
  await scene.advance(2_500);
  scene.engine.signal("e1", "s", "signalled");
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ output: ["answer", "signalled"] });
  const ends = scene.story().filter((line) => /(RESUMED|COMPLETED) pause~1/.test(line));
  expect(ends).toEqual(["TASK_RESUMED pause~1", "TASK_COMPLETED pause~1"]);
});

test.each<[string, () => Promise<unknown>]>([
  ["signal", () => signal("s", { timeout: 900 })],
  ["pause", () => pause("p", { after: 900 })],
])(
  "I11 an answer in any turn around the instant at which a %s times out is taken once, or not at all",
  async (kind, wait) => {
    const outcomes = new Set<unknown>();
    for (let turn = 0; turn < 24; turn++) {
      const hold = task({ name: "hold" }, () => new Promise((resolve) => gates.push(resolve)));
      const gates: ((value: unknown) => void)[] = [];
      const body = async () => {
        const [answer] = await Promise.all([wait(), hold()]);
        const alone = await wait();
        return [answer ?? null, alone ?? null];
      };
      const scene = new Scene([workflow({ name: "w" }, body)]);
      await scene.start();
      const sent: string[] = [];
      for (const round of ["first", "second"]) {
        answerAtTurn(scene, turn, () => {
          const { waits, session } = scene.row();
          if (session === null || !waits.some((open) => open.kind === kind)) return;
          if (kind === "signal") scene.engine.signal("e1", "s", round);
          else scene.engine.resume("e1", round);
          sent.push(round);
        });
        await scene.advance(900);
        for (const open of gates.splice(0)) open(null);
        await scene.settle();
      }
      await scene.toEnd();
      expect(scene.row(), `turn ${turn}`).toMatchObject({ state: "COMPLETED" });
      const output = scene.row().output as unknown[];
      const taken = output.filter((value) => value !== null);
      outcomes.add(JSON.stringify(output));
      expect(taken, `turn ${turn}: ${scene.story().join(", ")}`).toEqual(
        sent.slice(0, taken.length),
      );
      expect(scene.row().signals).toEqual(NO_SIGNALS);
    }
    expect(outcomes.size, "turns differ in what they come to").toBeGreaterThan(1);
  },
);

test("I11 I17 a wait that is over almost at once and is answered meanwhile: one of the two counts", async () => {
  const outcomes = new Set<string>();
  for (let due = 0; due < 10; due++) {
    for (let answered = 0; answered < 10; answered++) {
      const step = task({ name: "step" }, (given: unknown) => given);
      const body = async () => [await step(1), await signal("s", { timeout: 1 }), await step(2)];
      const scene = new Scene([workflow({ name: "w" }, body)]);
      let taken = 0;
      answerAtTurn(scene, answered, () => {
        const { waits, session } = scene.row();
        if (session === null || waits.length === 0) return;
        scene.engine.signal("e1", "s", "news");
        taken++;
      });
      answerAtTurn(scene, due, () => {
        scene.clock.now += 2;
        void scene.clock.fire();
      });
      await scene.start();
      await scene.toEnd();
      const place = `due in turn ${due}, answered in ${answered}: ${scene.story().join(", ")}`;
      expect(scene.row(), place).toMatchObject({ state: "COMPLETED" });
      const ends = scene.story().filter((line) => line === "TASK_COMPLETED signal~1");
      expect(ends, place).toHaveLength(1);
      outcomes.add(`${taken} ${JSON.stringify(scene.row().output)}`);
    }
  }
  expect(outcomes.size).toBeGreaterThan(1);
});

/** Does something in the n-th turn from now on, before what is due in that turn goes on. */
function answerAtTurn(scene: Scene, turn: number, then: () => void): void {
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

test("EXE-50 what fell due while nobody ran it ends in order too", async () => {
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      const order: number[] = [];
      await Promise.all([7_000, 5_000, 6_000].map((ms) => sleep(ms).then(() => order.push(ms))));
      return order;
    }),
  ]);
  await scene.start();
  scene.clock.now += 60_000;
  scene.engine.wakeDue();
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ output: [5_000, 6_000, 7_000] });
});

test("EXE-50 I9 sleeps that fell due while nobody had the execution end in the order of their instants", async () => {
  const order: number[] = [];
  const body = async () => {
    order.length = 0;
    const sleeper = (ms: number) => sleep(ms).then(() => order.push(ms));
    await Promise.all([sleeper(900), sleeper(100), sleeper(500)]);
    return [...order];
  };
  const scene = new Scene([workflow({ name: "w" }, body)]);
  await scene.start();
  // Its worker is lost, and nobody takes it before all of them are over.
  scene.clock.now += 5_000;
  await scene.crash();
  await scene.toEnd();
  expect(order).toEqual([100, 500, 900]);
});
