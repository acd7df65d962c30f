import { testEngine } from "@engine/sdk/testing";
import { afterAll, expect, test } from "vitest";
import { rootOf } from "../invariants/engine-ends.ts";
import { Random } from "../random.ts";
import { program } from "./interpreter.ts";
import { possibleEnds } from "./possible-ends.ts";
import { type Program, ROOT_PATH } from "./program.ts";
import { installProgramPort } from "./program-port.ts";
import { randomProgram } from "./random-program.ts";
import { smallerPrograms } from "./smaller-programs.ts";

const SEEDS = Array.from({ length: 250 }, (_, i) => i);

function programOf(seed: number): Program {
  const random = new Random(`program ${seed}`);
  return randomProgram({ random: () => random.next(), unattended: true });
}

// Without a port programs would take real time.
const quiet = { wait: async () => {}, returned() {}, threw() {} };
const removePort = installProgramPort({ enter: () => quiet, saw() {} });
afterAll(removePort);

test("the same draws give the same program, and others give others", () => {
  const texts = SEEDS.map((seed) => JSON.stringify(programOf(seed)));
  expect(SEEDS.map((seed) => JSON.stringify(programOf(seed)))).toEqual(texts);
  expect(new Set(texts).size).toBeGreaterThan(SEEDS.length * 0.9);
});

test("every kind of step and call comes up", () => {
  const all = SEEDS.map((seed) => JSON.stringify(programOf(seed))).join();
  const kinds =
    "sequence parallel settled all race pipeline graph map attempt finally forgotten child spawn";
  const leaves =
    "step sleep timer pause signal recorded globals queue inbox naps refused history both";
  for (const kind of `${kinds} ${leaves}`.split(" ")) expect(all).toContain(`"kind":"${kind}"`);
  const tasks = "plain retried patient undoable rescued timed late picky doubtful checked cached";
  for (const task of tasks.split(" ")) expect(all).toContain(`"task":"${task}"`);
});

/** Runs it to its end in an engine without faults; waits that nobody answers end by their time. */
async function run(of: Program) {
  const engine = testEngine({ skipTime: true, log: () => {} });
  await engine.run(program, { program: of, path: ROOT_PATH });
  for (let i = 0; i < 20 && !engine.get("e1").finished; i++) await engine.advance("30s");
  return engine.get("e1");
}

test("a program ends as the oracle says", async () => {
  const ends = { COMPLETED: 0, FAILED: 0 };
  for (const seed of SEEDS) {
    const of = programOf(seed);
    const possible = possibleEnds(of, ROOT_PATH);
    const { state, output, failure } = await run(of);
    const what = `${seed}: ${JSON.stringify(of)} ${state} ${JSON.stringify(failure)}`;
    if (state === "COMPLETED")
      expect(possible.canReturn && possible.returns(output), what).toBe(true);
    else {
      expect(state, what).toBe("FAILED");
      expect(failure && possible.canFail && possible.fails(rootOf(failure)), what).toBe(true);
    }
    ends[state === "COMPLETED" ? "COMPLETED" : "FAILED"]++;
  }
  expect(Math.min(ends.COMPLETED, ends.FAILED)).toBeGreaterThan(20);
}, 60_000);

const step = (over: object = {}): Program =>
  ({
    kind: "step",
    task: "plain",
    fails: 0,
    takes_ms: 0,
    nested: 0,
    progress: 0,
    flavour: "text",
    deaf: false,
    ...over,
  }) as Program;

test("the oracle knows what cannot be", () => {
  const list = possibleEnds({ kind: "sequence", parts: [step(), step()] }, "r");
  expect(list.returns(["result of r.0", "result of r.1"])).toBe(true);
  expect(list.returns(["result of r.1", "result of r.0"])).toBe(false);
  expect(list.returns(["result of r.0"])).toBe(false);
  expect(list.canFail).toBe(false);

  const stopped = possibleEnds(
    { kind: "sequence", parts: [step({ fails: 9 }), step({ fails: 9 })] },
    "r",
  );
  expect(stopped.canReturn).toBe(false);
  expect(stopped.fails("failed at r.0")).toBe(true);
  expect(stopped.fails("failed at r.1")).toBe(false);

  const race = possibleEnds({ kind: "race", parts: [step(), step({ fails: 9 })] }, "r");
  expect(race.returns("result of r.0")).toBe(true);
  expect(race.returns("result of r.1")).toBe(false);
  expect(race.fails("failed at r.1")).toBe(true);

  const retried = possibleEnds(step({ task: "retried", fails: 1 }), "r");
  expect([retried.canReturn, retried.canFail]).toEqual([true, false]);
  expect(
    possibleEnds({ kind: "pause", after_ms: null }, "r").returns(["nobody answered", "r"]),
  ).toBe(false);
});

test("smaller programs are others, and whichever is taken it comes to an end", () => {
  const random = new Random("which");
  for (const seed of SEEDS.slice(0, 30)) {
    let of = programOf(seed);
    for (let steps = 0; ; steps++) {
      const smaller = [...smallerPrograms(of)];
      const next = smaller[random.below(smaller.length)];
      if (!next) break;
      expect(next).not.toEqual(of);
      expect(steps).toBeLessThan(500);
      of = next;
    }
  }
  expect([...smallerPrograms(step())]).toEqual([]);
});
