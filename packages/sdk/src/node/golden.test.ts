/**
 * Histories that earlier releases recorded, replayed on the code they were recorded with. They stand
 * for what lies in the databases of engines in use: a change of the replay core that they do not
 * survive would fail running executions.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { History, isOutcome } from "@engine/contract";
import { expect, test } from "vitest";
import { type AnyWorkflow, parallel, pause, task, workflow } from "../index.ts";
import { type TestEngine, type TestEngineOptions, testEngine } from "../testing/index.ts";
import { replayHistory } from "./replay-history.ts";

interface Golden {
  readonly name: string;
  readonly workflow: AnyWorkflow;
  readonly crashes: readonly string[];
  record(options?: TestEngineOptions, prepare?: (engine: TestEngine) => void): Promise<TestEngine>;
}

const folder = join(import.meta.dirname, "../../test/histories");
// Outside this project: its code is no part of the package.
const { goldens } = (await import(pathToFileURL(join(folder, "workflows.ts")).href)) as {
  goldens: readonly Golden[];
};

function historyOf(name: string): History {
  return History.parse(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));
}

test("every recorded history has its workflow, and every workflow its history", () => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  expect(files.sort()).toEqual(goldens.map(({ name }) => `${name}.json`).sort());
});

test.each(goldens)("EXE-27 EXE-88 the recorded history $name still replays", async (golden) => {
  const history = historyOf(golden.name);
  const expected = history.execution.transient
    ? { result: "unverifiable", reason: expect.stringContaining("transient") }
    : { result: "ok" };
  expect(await replayHistory(golden.workflow, history)).toEqual(expected);
});

test("EXE-28 a history whose workflow was changed is reported with position, expected and found", async () => {
  const charge = task({ name: "charge" }, async (cents: number) => cents);
  const shop = (first: typeof charge) =>
    workflow({ name: "shop", namespace: "golden" }, async (cents: number) => {
      const paid = await first(cents);
      const { ok } = await pause<{ ok: boolean }>("review");
      return ok ? charge(paid) : null;
    });
  const engine = testEngine();
  const before = shop(charge);
  await engine.run(before, 5);
  const open = engine.history("e1");
  await engine.resume("e1", { ok: true });
  const ended = engine.history("e1");
  const renamed = shop(task({ name: "debit" }, async (cents: number) => cents));
  for (const history of [open, ended]) {
    expect(await replayHistory(before, history)).toEqual({ result: "ok" });
    const verdict = await replayHistory(renamed, history);
    expect(verdict).toMatchObject({
      result: "diverged",
      failure: {
        type: "NondeterminismError",
        details: {
          position: 0,
          expected: { task_call_id: "charge~1", name: "charge", label: null },
          found: { task_call_id: "debit~1", name: "debit", label: null },
          at: expect.stringMatching(/^golden\.test\.ts:\d+:\d+$/),
        },
      },
    });
  }
});

test.each([
  ["a task", "charge~1", (charge: () => Promise<number>) => charge()],
  ["branches", "parallel~1", (charge: () => Promise<number>) => parallel([charge])],
])(
  "EXE-28 a history without calls is left by code that comes to %s a moment later",
  async (_, id, goOn) => {
    const charge = task({ name: "charge" }, async () => 1);
    const shop = (last: () => unknown) =>
      workflow({ name: "shop", namespace: "golden" }, async () => {
        await Promise.resolve();
        return last();
      });
    const engine = testEngine();
    const before = shop(() => 1);
    await engine.run(before);
    const history = engine.history("e1");
    expect(await replayHistory(before, history)).toEqual({ result: "ok" });
    expect(
      await replayHistory(
        shop(() => goOn(() => charge())),
        history,
      ),
    ).toMatchObject({
      result: "diverged",
      failure: { details: { found: { task_call_id: id } } },
    });
  },
);

/** How an execution ended and what its calls came to; by which worker and when does not count. */
function essenceOf(engine: TestEngine) {
  const { state, output, failure, events } = engine.get("e1");
  const outcomes = events.filter(({ type }) => isOutcome(type));
  const calls = outcomes.map(({ type, source_id, value }) => {
    // Whether a call that is given up says so itself or is written off is a matter of timing.
    const isGivenUp = type === "TASK_CANCELLED" || JSON.stringify(value).includes("CancelledError");
    return [source_id, isGivenUp ? "given up" : [type, value]];
  });
  return { state, output, failure, calls: Object.fromEntries(calls) as Record<string, unknown> };
}

/** One decides by a global on purpose, and one cannot survive the loss of its copy. */
const steady = goldens.filter(({ name }) => name !== "argument-changed" && name !== "transient");

test.each(steady)(
  "EXE-6 $name comes out the same in an engine that replays after every step",
  async (golden) => {
    const expected = essenceOf(await golden.record());
    expect(essenceOf(await golden.record({ alwaysReplay: true }))).toEqual(expected);
  },
);

test.each(steady)(
  "EXE-6 I2 $name comes out the same when everything arrives twice",
  async (golden) => {
    const [once, twice] = [await golden.record(), await golden.record({ duplicateDelivery: true })];
    expect(twice.events("e1")).toEqual(once.events("e1"));
  },
);

test.each(steady)(
  "EXE-20 I3 $name comes out the same wherever its copy is lost",
  async (golden) => {
    const expected = essenceOf(await golden.record());
    const others = Object.keys(expected.calls).filter((id) => !golden.crashes.includes(id));
    for (const id of others) {
      const engine = await golden.record({}, (fresh) => fresh.crashAfter(id));
      expect(essenceOf(engine), `lost after ${id}`).toEqual(expected);
    }
  },
);
