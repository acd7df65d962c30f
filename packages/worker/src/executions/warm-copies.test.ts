import { expect, test } from "vitest";
import type { ToRunner } from "../runners/messages.ts";
import type { Runner } from "../runners/runner.ts";
import { WarmCopies, type WarmCopy } from "./warm-copies.ts";

function createRunner() {
  const forgotten: number[] = [];
  const runner: Runner = {
    load: 0,
    isReady: true,
    isShared: true,
    entered: 0,
    culprit: 0,
    loaded: new Set(),
    post(messages: readonly ToRunner[]) {
      for (const message of messages) if (message.kind === "forget") forgotten.push(message.copy);
    },
    close: () => Promise.resolve(),
  };
  let number = 0;
  const copy = (execution_id: string): WarmCopy => ({
    number: ++number,
    execution_id,
    module_hash: "m1",
    name: null,
    seq: 5,
    runner,
  });
  return { runner, forgotten, copy };
}

const grown = { module_hash: "m1", name: null, seq: 8 };

test.each([
  ["its workflow has other code", { ...grown, module_hash: "m2" }],
  ["an operator has renamed it", { ...grown, name: "urgent" }],
  ["its log has not grown", { ...grown, seq: 5 }],
])("RUN-4 a copy that waits is dropped when %s", (_, assigned) => {
  const { forgotten, copy } = createRunner();
  const warm = new WarmCopies(2);
  warm.keep(copy("a"));

  expect(warm.take({ execution_id: "a", ...assigned })).toBeUndefined();
  expect(forgotten).toEqual([1]);
  expect(warm.size).toBe(0);
});

test("RUN-4 who wakes and waits again counts as used last", () => {
  const { forgotten, copy } = createRunner();
  const warm = new WarmCopies(2);
  warm.keep(copy("a"));
  warm.keep(copy("b"));
  const woken = warm.take({ execution_id: "a", ...grown });
  if (woken) warm.keep(woken);
  warm.keep(copy("c"));

  expect(forgotten).toEqual([2]);
  expect(warm.take({ execution_id: "a", ...grown })?.number).toBe(1);
});

test("RUN-2 what waited on a runner that died is forgotten, what waits elsewhere is not", () => {
  const dead = createRunner();
  const alive = createRunner();
  const warm = new WarmCopies(4);
  warm.keep(dead.copy("a"));
  warm.keep(alive.copy("b"));
  warm.runnerDied(dead.runner);

  expect(warm.take({ execution_id: "a", ...grown })).toBeUndefined();
  expect(warm.take({ execution_id: "b", ...grown })).toMatchObject({ runner: alive.runner });
  expect(dead.forgotten).toEqual([]);
});
