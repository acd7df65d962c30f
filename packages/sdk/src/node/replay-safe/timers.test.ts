import { AsyncLocalStorage } from "node:async_hooks";
import * as timers from "node:timers";
import * as timerPromises from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { FakeBody } from "../testing/fake-body.ts";
import { DurableTimer } from "./durable-timer.ts";
import { installReplaySafeGlobals } from "./install.ts";
import { realClock } from "./real.ts";

const native = { setTimeout: globalThis.setTimeout, setInterval: globalThis.setInterval };
installReplaySafeGlobals();

/** Every microtask of now has run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

const sources = [
  ["the global", globalThis],
  ["node:timers'", timers],
] as const;

test.each(sources)("EXE-31 %s setTimeout in a body is a durable sleep", (_, source) => {
  const body = new FakeBody();
  const got: unknown[] = [];
  body.inBody(() => source.setTimeout((...args) => got.push(args, Date.now()), 2500, "a", 1));
  expect(body.timers).toMatchObject([{ ms: 2500 }]);
  expect(got).toEqual([]);
  body.fire();
  // The callback is the body's code as well.
  expect(got).toEqual([["a", 1], body.now]);
  expect(body.timers).toEqual([]);
});

test.each(sources)("EXE-31 %s timers in a task or outside are the real ones", async (_, source) => {
  const body = new FakeBody();
  for (const within of [<T>(run: () => T) => body.inTask(run), <T>(run: () => T) => run()]) {
    await within(
      () =>
        new Promise((resolve) => {
          const timer = source.setTimeout(resolve, 1, "x");
          expect(timer).not.toBeInstanceOf(DurableTimer);
        }),
    ).then((value) => expect(value).toBe("x"));
    await within(
      () =>
        new Promise<void>((resolve) => {
          const timer = source.setInterval(() => {
            source.clearInterval(timer);
            resolve();
          }, 1);
        }),
    );
  }
  expect(body.timers).toEqual([]);
});

test.each(sources)("EXE-31 %s clearTimeout and clearInterval cancel the sleep", (_, source) => {
  const body = new FakeBody();
  let calls = 0;
  const count = () => {
    calls++;
  };
  body.inBody(() => {
    const timeout = source.setTimeout(count, 10);
    const interval = source.setInterval(count, 10);
    const swapped = source.setTimeout(count, 10);
    source.clearTimeout(timeout);
    source.clearTimeout(timeout);
    source.clearInterval(interval);
    source.clearInterval(swapped);
    source.clearTimeout(undefined);
    source.clearTimeout(null as never);
  });
  expect(body.timers).toEqual([]);
  expect(calls).toBe(0);
});

test("EXE-31 setInterval in a body sleeps again after each firing until it is cleared", () => {
  const body = new FakeBody();
  const got: number[] = [];
  const timer = body.inBody(() => setInterval((n: number) => got.push(n), 100, 7));
  for (let i = 0; i < 3; i++) body.fire();
  expect(got).toEqual([7, 7, 7]);
  expect(body.timers).toMatchObject([{ ms: 100 }]);
  body.inBody(() => clearInterval(timer));
  expect(body.timers).toEqual([]);
});

test("EXE-31 an interval that its own callback clears makes no further sleep", () => {
  const body = new FakeBody();
  body.inBody(() => {
    const timer = setInterval(() => clearInterval(timer), 100);
  });
  body.fire();
  expect(body.timers).toEqual([]);
});

test("EXE-31 a callback that throws is not swallowed and does not stop its interval", () => {
  const body = new FakeBody();
  body.inBody(() =>
    setInterval(() => {
      throw new RangeError("no");
    }, 100),
  );
  expect(() => body.fire()).toThrow(RangeError);
  expect(body.timers).toHaveLength(1);
});

test("EXE-31 a body's timer has the methods of Node's", () => {
  const body = new FakeBody();
  const timer = body.inBody(() => setTimeout(() => {}, 100));
  const nodes = native.setTimeout(() => {}, 1);
  clearTimeout(nodes);
  const names = Reflect.ownKeys(Object.getPrototypeOf(nodes));
  for (const name of names) {
    if (typeof name === "symbol" && name.description?.includes("inspect")) continue;
    expect(name in timer, String(name)).toBe(true);
  }
  expect(timer.unref().hasRef()).toBe(false);
  expect(timer.ref().hasRef()).toBe(true);
  expect(timer.close()).toBe(timer);
  expect(body.timers).toEqual([]);
});

test("EXE-31 using gives a body's timer up at the end of its block", () => {
  const body = new FakeBody();
  body.inBody(() => {
    using timer = setTimeout(() => {}, 100);
    expect(timer.hasRef()).toBe(true);
    expect(body.timers).toHaveLength(1);
  });
  expect(body.timers).toEqual([]);
});

test("EXE-31 refresh begins the sleep anew, only in the body, and never after a clear", () => {
  const body = new FakeBody();
  const timer = body.inBody(() => setTimeout(() => {}, 100));
  const [first] = body.timers;
  expect(body.inBody(() => timer.refresh())).toBe(timer);
  expect(body.timers).toHaveLength(1);
  expect(body.timers[0]).not.toBe(first);
  expect(() => body.inTask(() => timer.refresh())).toThrow(TypeError);
  expect(() => new FakeBody().inBody(() => timer.refresh())).toThrow(/outside that body/);
  body.fire();
  body.inBody(() => timer.refresh());
  expect(body.timers).toHaveLength(1);
  clearTimeout(timer);
  body.inBody(() => timer.refresh());
  expect(body.timers).toEqual([]);
});

test("EXE-31 a timer's number clears it in its own execution, and replays as it was", () => {
  const [body, replay] = [new FakeBody(), new FakeBody()];
  const numbers = [body, replay].map((each) => each.inBody(() => +setTimeout(() => {}, 100)));
  expect(numbers[1]).toBe(numbers[0]);
  body.inBody(() => clearTimeout(numbers[0]));
  expect(body.timers).toEqual([]);
  expect(replay.timers).toHaveLength(1);
  replay.inBody(() => clearTimeout(String(numbers[1])));
  expect(replay.timers).toEqual([]);
});

test("EXE-31 a timer can be cleared from anywhere, whoever made it", async () => {
  const body = new FakeBody();
  const durable = body.inBody(() => [setTimeout(() => {}, 9), setTimeout(() => {}, 9)]);
  body.inTask(() => clearTimeout(durable[0]));
  clearTimeout(durable[1]);
  expect(body.timers).toEqual([]);

  let hasFired = false;
  const fire = () => {
    hasFired = true;
  };
  const nodes = [setTimeout(fire, 1), setTimeout(fire, 1), native.setTimeout(fire, 1)] as const;
  body.inBody(() => {
    clearTimeout(nodes[0]);
    clearTimeout(+nodes[1]);
    clearInterval(nodes[2]);
  });
  await new Promise((resolve) => native.setTimeout(resolve, 5));
  expect(hasFired).toBe(false);
});

test.each([
  [undefined, 1],
  [-5, 1],
  [Number.NaN, 1],
  [0, 1],
  [1.9, 1],
  ["250", 250],
  [40 * 86_400_000, 40 * 86_400_000],
])("EXE-31 a delay of %s is a sleep of %s ms", (delay, ms) => {
  const body = new FakeBody();
  body.inBody(() => setTimeout(() => {}, delay as number));
  expect(body.timers).toMatchObject([{ ms }]);
});

test("EXE-31 a string of code or an endless delay is refused and no sleep begins", () => {
  const body = new FakeBody();
  body.inBody(() => {
    expect(() => setTimeout("alert()" as never, 1)).toThrow(
      expect.objectContaining({
        code: "ERR_INVALID_ARG_TYPE",
        message: expect.stringContaining("needs a function"),
      }),
    );
    expect(() => setInterval(undefined as never, 1)).toThrow(TypeError);
    expect(() => setTimeout(() => {}, Number.POSITIVE_INFINITY)).toThrow(/finite delay/);
  });
  expect(body.timers).toEqual([]);
});

test("EXE-31 a callback finds the async context it was set in", () => {
  const body = new FakeBody();
  const tenant = new AsyncLocalStorage<string>();
  const got: unknown[] = [];
  body.inBody(() => tenant.run("t1", () => setTimeout(() => got.push(tenant.getStore()), 1)));
  body.fire();
  expect(got).toEqual(["t1"]);
});

test.each([
  ["setTimeout of node:timers/promises", (ms: number) => timerPromises.setTimeout(ms, "v")],
  ["util.promisify(setTimeout)", (ms: number) => promisify(setTimeout)(ms, "v")],
  ["scheduler.wait", (ms: number) => timerPromises.scheduler.wait(ms).then(() => "v")],
])("EXE-31 %s is a durable sleep in a body, elsewhere the real one", async (_, wait) => {
  const body = new FakeBody();
  const waiting = body.inBody(async () => [await wait(2500), Date.now()]);
  expect(body.timers).toMatchObject([{ ms: 2500 }]);
  body.fire();
  expect(await waiting).toEqual(["v", body.now]);

  expect(await body.inTask(() => wait(1))).toBe("v");
  expect(await wait(1)).toBe("v");
  expect(body.timers).toEqual([]);
});

test("EXE-31 a signal gives a body's promised sleep up, as Node does", async () => {
  const body = new FakeBody();
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = body.inBody(() => timerPromises.setTimeout(50, "v", { signal }));
  controller.abort("enough");
  const error = { name: "AbortError", code: "ABORT_ERR", cause: "enough" };
  await expect(waiting).rejects.toMatchObject(error);
  expect(body.timers).toEqual([]);
  const late = body.inBody(() => timerPromises.setTimeout(50, "v", { signal }));
  await expect(late).rejects.toMatchObject(error);
  await expect(timerPromises.setTimeout(50, "v", { signal })).rejects.toMatchObject(error);
  expect(body.timers).toEqual([]);
});

test("EXE-31 setInterval of node:timers/promises sleeps once per turn of the loop", async () => {
  const body = new FakeBody();
  const turns = body.inBody(async () => {
    const got: string[] = [];
    for await (const value of timerPromises.setInterval(100, "tick")) {
      if (got.push(value) === 2) break;
    }
    return got;
  });
  for (let i = 0; i < 2; i++) {
    await turn();
    expect(body.timers).toMatchObject([{ ms: 100 }]);
    body.fire();
  }
  expect(await turns).toEqual(["tick", "tick"]);
  expect(body.timers).toEqual([]);
});

test("EXE-31 the replacements look like the functions they replace, also to the engine", () => {
  expect([setTimeout.name, setTimeout.length]).toEqual(["setTimeout", native.setTimeout.length]);
  expect(timers.setTimeout).toBe(setTimeout);
  expect(promisify(setTimeout)).toBe(timerPromises.setTimeout);
  expect(realClock.setTimeout).toBe(native.setTimeout);
  expect(setTimeout).not.toBe(native.setTimeout);
});
