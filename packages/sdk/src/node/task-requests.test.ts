import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { parallel, sleep, task, workflow } from "../index.ts";
import type { Budget } from "../replay/port.ts";
import { Scene } from "./testing/scene.ts";

/** A budget whose turns the test gives, and that remembers what it is asked. */
class Turns implements Budget {
  readonly story: string[] = [];
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  reserve(call: string, requests: object): Promise<void> {
    this.story.push(`reserve ${call} ${JSON.stringify(requests)}`);
    const turn = Promise.withResolvers<void>();
    this.#waiting.set(call, turn);
    return turn.promise;
  }

  retake(call: string): void {
    this.story.push(`retake ${call}`);
  }

  release(call: string): void {
    this.story.push(`release ${call}`);
  }

  grant(call: string): void {
    this.#waiting.get(call)?.resolve();
  }

  refuse(call: string, error: Error): void {
    this.#waiting.get(call)?.reject(error);
  }

  /** What it was asked since it was looked at last. */
  next(): string[] {
    return this.story.splice(0);
  }
}

function sceneOf(budget: Turns, body: () => Promise<unknown>): Scene {
  return new Scene([workflow({ name: "w" }, body)], { budget });
}

test("RES-4 a task's function starts once there is room, and gives it back when it has ended", async () => {
  const budget = new Turns();
  let ran = 0;
  const work = task({ name: "work", requests: { cpu: 2, memory: "1KiB" } }, async () => ++ran);
  const scene = sceneOf(budget, async () => work());
  await scene.start();
  await scene.advance(60_000);
  expect(ran).toBe(0);
  expect(budget.next()).toEqual(['reserve work~1 {"cpu":2,"memory":1024}']);
  budget.grant("work~1");
  expect(await scene.toEnd()).toMatchObject({ state: "COMPLETED", output: 1 });
  expect(budget.next()).toEqual(["release work~1"]);
});

test("RES-4 a task that requests nothing asks for nothing, and a request waits nowhere but on a worker", async () => {
  const budget = new Turns();
  const plain = task({ name: "plain", requests: {} }, async () => 1);
  expect(await sceneOf(budget, async () => plain()).run()).toMatchObject({ output: 1 });
  expect(budget.story).toEqual([]);
  const huge = task({ name: "huge", requests: { cpu: 1e6, gpu: 99 } }, async () => 2);
  const local = new Scene([workflow({ name: "w" }, async () => huge())]);
  expect(await local.run()).toMatchObject({ output: 2 });
});

test("RES-4 time that is waited for room is no part of an attempt's timeout", async () => {
  const budget = new Turns();
  const work = task({ name: "work", requests: { cpu: 1 }, timeout: "1s" }, async () => "done");
  const scene = sceneOf(budget, async () => work());
  await scene.start();
  await scene.advance(10_000);
  budget.grant("work~1");
  expect(await scene.toEnd()).toMatchObject({ state: "COMPLETED", output: "done" });
});

test("RES-4 each attempt has room of its own, and none is kept between them", async () => {
  const budget = new Turns();
  const work = task(
    { name: "work", requests: { cpu: 1 }, retry: { maxAttempts: 2, delay: "10s" } },
    async (_: undefined, { attempt }) => {
      if (attempt === 1) throw new Error("no");
      return attempt;
    },
  );
  const scene = sceneOf(budget, async () => work());
  await scene.start();
  budget.grant("work~1");
  await scene.settle();
  expect(budget.next()).toEqual(['reserve work~1 {"cpu":1}', "release work~1"]);
  await scene.advance(10_000);
  expect(budget.next()).toEqual(['reserve work~1 {"cpu":1}']);
  budget.grant("work~1");
  expect(await scene.toEnd()).toMatchObject({ output: 2 });
});

test("RES-4 a function that goes on after its timeout keeps its room, and the next attempt shares it", async () => {
  const budget = new Turns();
  const ends: (() => void)[] = [];
  const work = task(
    { name: "work", requests: { gpu: 1 }, timeout: "1s", retry: { maxAttempts: 2, delay: 0 } },
    async (_: undefined, { attempt }) => {
      if (attempt === 1) await new Promise<void>((resolve) => ends.push(resolve));
      return "second";
    },
  );
  const scene = sceneOf(budget, async () => work());
  await scene.start();
  budget.grant("work~1");
  expect(await scene.toEnd()).toMatchObject({ state: "COMPLETED", output: "second" });
  expect(budget.next()).toEqual(['reserve work~1 {"gpu":1}']);
  for (const end of ends) end();
  await scene.settle();
  expect(budget.next()).toEqual(["release work~1"]);
});

test("RES-4 one that is given up while it waits gives its place up, and never starts", async () => {
  const budget = new Turns();
  let ran = 0;
  const work = task({ name: "work", requests: { cpu: 1 } }, async () => ++ran);
  const fails = task({ name: "fails" }, async () => Promise.reject(new Error("no")));
  const scene = sceneOf(budget, async () => parallel([() => work(), () => fails()]));
  expect(await scene.run()).toMatchObject({ state: "FAILED" });
  const [reserved, ...after] = budget.next();
  expect(reserved).toMatch(/^reserve .*work~1 /);
  expect(after).toEqual([reserved?.replace("reserve", "release").replace(/ \{.*/, "")]);
  budget.grant(reserved?.split(" ")[1] ?? "");
  await scene.settle();
  expect(ran).toBe(0);
});

test("RES-4 a request that can never be met fails the call with the reason", async () => {
  const budget = new Turns();
  const work = task({ name: "work", requests: { cpu: 99 } }, async () => 1);
  const scene = sceneOf(budget, async () => work());
  await scene.start();
  budget.refuse("work~1", new EngineError("invalid_input", "this worker has 2 cpu"));
  const { state, failure } = await scene.toEnd();
  expect({ state, failure }).toMatchObject({
    state: "FAILED",
    failure: { code: "invalid_input", message: "this worker has 2 cpu" },
  });
});

test("RES-4 a function that waits lends its room, and has it again when it goes on", async () => {
  const budget = new Turns();
  const work = task({ name: "work", requests: { cpu: 1 } }, async () => {
    await sleep("10s");
    return "awake";
  });
  const busy = task({ name: "busy" }, () => new Promise<void>((resolve) => ends.push(resolve)));
  const ends: (() => void)[] = [];
  const scene = sceneOf(budget, async () => (await parallel([() => work(), () => busy()]))[0]);
  await scene.start();
  const call = budget.next()[0]?.split(" ")[1] ?? "";
  budget.grant(call);
  await scene.settle();
  expect(budget.next()).toEqual([`release ${call}`]);
  await scene.advance(10_000);
  expect(budget.next()).toEqual([`retake ${call}`, `release ${call}`]);
  for (const end of ends) end();
  expect(await scene.toEnd()).toMatchObject({ output: "awake" });
});

test("RES-4 a function does not keep room from the tasks that it waits for itself", async () => {
  const budget = new Turns();
  const inner = task({ name: "inner", requests: { gpu: 2 } }, async () => "inner");
  const outer = task({ name: "outer", requests: { gpu: 1 } }, async () => [await inner()]);
  const scene = sceneOf(budget, async () => outer());
  await scene.start();
  budget.grant("outer~1");
  await scene.settle();
  expect(budget.next()).toEqual([
    'reserve outer~1 {"gpu":1}',
    "release outer~1",
    'reserve outer~1/inner~1 {"gpu":2}',
  ]);
  budget.grant("outer~1/inner~1");
  expect(await scene.toEnd()).toMatchObject({ state: "COMPLETED", output: ["inner"] });
  expect(budget.next()).toEqual(["retake outer~1", "release outer~1/inner~1", "release outer~1"]);
});

test("WRK-12 an execution whose tasks wait for room says that it has stalled, so that it can go elsewhere", async () => {
  const budget = new Turns();
  let ran = 0;
  const work = task({ name: "work", requests: { cpu: 1 } }, async () => ++ran);
  const scene = sceneOf(budget, async () => work());
  await scene.start();
  const before = scene.engine.stalled.length;
  scene.engine.copyOf("e1")?.hold(true);
  await scene.settle();
  expect(scene.engine.stalled.length).toBeGreaterThan(before);
  // Its turn is no leave to start.
  budget.grant("work~1");
  await scene.settle();
  expect(ran).toBe(0);
  scene.engine.copyOf("e1")?.hold(false);
  expect(await scene.toEnd()).toMatchObject({ output: 1 });
});

test("WRK-8 the end of a hold does not let those start that wait for room", async () => {
  const budget = new Turns();
  let ran = 0;
  const work = task({ name: "work", requests: { cpu: 1 } }, async () => ++ran);
  const scene = sceneOf(budget, async () => work());
  await scene.start();
  scene.engine.copyOf("e1")?.hold(true);
  scene.engine.copyOf("e1")?.hold(false);
  await scene.settle();
  expect(ran).toBe(0);
  budget.grant("work~1");
  expect(await scene.toEnd()).toMatchObject({ output: 1 });
});

test("RES-1 the SDK refuses wrong requests where they are written", () => {
  const body = async () => {};
  for (const [define, message] of [
    [
      () => workflow({ name: "w", requests: { memory: "16 gigs" } }, body),
      /requests\.memory .*"16 gigs"/,
    ],
    [
      () => workflow({ name: "w", requests: { packages: ["a@latest"] } }, body),
      /requests\.packages/,
    ],
    [() => task({ name: "t", requests: { cpu: 0 } }, body), /requests\.cpu .*above 0; got 0/],
    // @ts-expect-error a task has no disk to request
    [() => task({ name: "t", requests: { disk: 1 } }, body), /requests .* has no option disk/],
    [() => task({ name: "t" }, body).with({ requests: { gpu: 0.5 } }), /requests\.gpu/],
  ] as const) {
    expect(define).toThrow(
      expect.objectContaining({
        code: "invalid_definition",
        message: expect.stringMatching(message),
      }),
    );
  }
});
