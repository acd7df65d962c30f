/**
 * Random concurrent programs (races, nested branches, failing tasks, retries, pauses, timers,
 * signals, children) are run once with their tasks finishing in a random order. Then every prefix
 * of the log is replayed, with what still runs finishing in the recorded order: the rest of the log
 * must come out the same (I7). `PROPERTY_RUNS` sets how many programs each property sees.
 */
import { type Event, type History, isOutcome, parseEventTime } from "@engine/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { replayHistory } from "./replay-history.ts";
import { MemoryExecution } from "./testing/memory-execution.ts";
import {
  asRecorded,
  atRandom,
  drive,
  essence,
  fates,
  givenUp,
  isOpenAt,
} from "./testing/random-drive.ts";
import {
  GRACE_MS,
  INPUT,
  type Interpreted,
  interpreter,
  type Program,
  programs,
  Scheduler,
} from "./testing/random-program.ts";

const runs = Number(process.env["PROPERTY_RUNS"] ?? 800);
const MINUTES = Math.max(2, runs / 500) * 60_000;
const draws = fc.array(fc.nat({ max: 1000 }), { minLength: 5, maxLength: 40 });
const limits = { inline_wait: 1, sibling_grace: GRACE_MS / 1000 };

function execution({ workflow, child }: Interpreted, scheduler: Scheduler): MemoryExecution {
  const clock = () => scheduler.now;
  return new MemoryExecution(workflow, INPUT, scheduler.host, { limits, children: [child], clock });
}

test(
  "I7 replaying any prefix of the log gives the same commands and the same output",
  async () => {
    let compared = 0;
    const property = async (ast: Program, drawn: readonly number[]) => {
      let scheduler = new Scheduler();
      const interpreted = interpreter(ast, () => scheduler);
      const first = execution(interpreted, scheduler);
      await drive(first, atRandom(scheduler, drawn));
      const last = first.events.length;
      const cuts = new Set([2, last - 1, ...drawn.map((draw) => 2 + (draw % (last - 2)))]);
      for (const cut of cuts) {
        // What the server writes in one commit is there whole or not at all.
        if (first.events[cut - 1]?.type === "TASK_RESUMED") continue;
        if (first.events[cut]?.type === "WORKFLOW_RESUMING") continue;
        // Nothing can hold back a call whose last body has ended before the cut.
        const isEnding = ({ type, source_id }: Event) =>
          AFTER_BODIES.has(type) && isOpenAt(first, source_id, cut);
        if (first.events.slice(0, cut).some(isEnding)) continue;
        scheduler = new Scheduler();
        scheduler.now = parseEventTime(first.events[cut - 1]?.time ?? "");
        const again = first.fork(cut, scheduler.host, {
          limits,
          children: [interpreted.child],
          clock: () => scheduler.now,
        });
        await drive(again, asRecorded(scheduler, first, again));
        const without = [...givenUp(first), ...givenUp(again)];
        // How far calls still came that were being given up is timing that no log binds; where it
        // came out differently, what follows from it may too.
        if (without.some((id) => isOpenAt(first, id, cut))) continue;
        if (fates(first, without) !== fates(again, without)) continue;
        compared++;
        const expected = essence(first, without);
        expect(essence(again, without), `after ${cut} of ${last}`).toEqual(expected);
        const recorded = new Set(
          first.events.slice(0, cut).flatMap((e) => (isOutcome(e.type) ? [e.source_id] : [])),
        );
        const repeated = scheduler.ran.filter((id) => recorded.has(id));
        expect(repeated).toEqual([]);
      }
    };
    const asts = programs("pause", "sleep", "signal", "child", "globals", "item");
    await fc.assert(fc.asyncProperty(asts, draws, property), { numRuns: runs });
    // Most prefixes must have been compared, or the property would say little.
    expect(compared).toBeGreaterThan(runs * 3);
  },
  MINUTES,
);

const AFTER_BODIES: ReadonlySet<string> = new Set([
  "TASK_RETRY_COMPLETED",
  "TASK_RETRY_FAILED",
  "TASK_ROLLBACK_STARTED",
]);

test(
  "RUN-4 a copy that waited and went on has the log of one that was replayed",
  async () => {
    const warm = { woken: 0 };
    let compared = 0;
    const property = async (ast: Program, drawn: readonly number[]) => {
      let scheduler = new Scheduler();
      const interpreted = interpreter(ast, () => scheduler);
      const cold = execution(interpreted, scheduler);
      await drive(cold, atRandom(scheduler, drawn));
      scheduler = new Scheduler();
      const again = execution(
        interpreter(ast, () => scheduler),
        scheduler,
      );
      const wokenBefore = warm.woken;
      await drive(again, { ...asRecorded(scheduler, cold, again), warm });
      const without = [...givenUp(cold), ...givenUp(again)];
      if (fates(cold, without) !== fates(again, without)) return;
      if (warm.woken > wokenBefore) compared++;
      expect(essence(again, without)).toEqual(essence(cold, without));
    };
    const asts = programs("pause", "sleep", "signal", "child", "globals", "item");
    await fc.assert(fc.asyncProperty(asts, draws, property), { numRuns: runs });
    // Many must have gone on and been compared, or the property would say little.
    expect(compared).toBeGreaterThan(runs / 5);
  },
  MINUTES,
);

/** I2, I3, I4 and I5 of one finished log. */
function expectSound(of: MemoryExecution, scheduler: Scheduler): void {
  expect(scheduler.errors, of.types.join(" ")).toEqual([]);
  for (const [id, row] of of.engine.rows) {
    const events = of.engine.log(id);
    expect(
      events.map((e) => e.seq),
      "dense",
    ).toEqual(events.map((_, i) => i + 1));
    expect(row.head).toBe(events.length);
    const outcomes = events.filter((e) => isOutcome(e.type)).map((e) => e.source_id);
    const started = events.filter((e) => e.type === "TASK_STARTED").map((e) => e.source_id);
    expect(new Set(outcomes).size, "one outcome per call").toBe(outcomes.length);
    expect(new Set(started).size, "one start per call").toBe(started.length);
    expect([...outcomes].sort(), "every call has an outcome").toEqual([...started].sort());
    const ends = events.filter((e) => ENDS.has(e.type));
    expect(ends, "one end, the last event").toEqual(events.slice(-1));
  }
}

/** A finished log, however it came about, replays on the code that made it (EXE-28). */
async function expectReplays(
  { row, events }: MemoryExecution,
  { workflow }: Interpreted,
  { host }: Scheduler,
): Promise<void> {
  const history = { execution: row, seed: row.seed, events } as unknown as History;
  const verdict = await replayHistory(workflow, history, { host });
  expect(
    verdict,
    `${row.state}: ${events.map((e) => `${e.type} ${e.source_id}`).join(", ")}`,
  ).toEqual({ result: "ok" });
}

const ENDS: ReadonlySet<string> = new Set([
  "WORKFLOW_COMPLETED",
  "WORKFLOW_FAILED",
  "WORKFLOW_CANCELLED",
]);
const everything = programs(
  "pause",
  "value",
  "sleep",
  "signal",
  "child",
  "globals",
  "timer",
  "item",
);

test(
  "I2 I3 I4 I11 whatever copy is lost when, each call has one outcome and no recorded body runs",
  async () => {
    let lost = 0;
    const property = async (ast: Program, drawn: readonly number[]) => {
      const scheduler = new Scheduler();
      const interpreted = interpreter(ast, () => scheduler, { waitsInTasks: true });
      const of = execution(interpreted, scheduler);
      let deltas = 0;
      of.engine.onDelta = (id) => {
        // Another worker takes the execution over while this delta is on its way.
        const draw = drawn[deltas++ % drawn.length] ?? 0;
        if (draw % 4 !== 0 || deltas >= 60) return;
        of.engine.fence(id);
        lost++;
      };
      let turns = 0;
      // Two servers tell of what they wrote, one of them later.
      const late: (() => void)[] = [];
      of.engine.onPush = (push) => {
        if ((drawn[turns++ % drawn.length] ?? 0) % 3 === 0) late.push(push);
        else push();
      };
      const answersMeanwhile = () => {
        const draw = drawn[turns++ % drawn.length] ?? 0;
        if (draw % 5 === 0) for (const push of late.splice(0)) push();
        return draw % 7 === 0;
      };
      await drive(of, { ...atRandom(scheduler, drawn), answersMeanwhile });
      expectSound(of, scheduler);
      await expectReplays(of, interpreted, scheduler);
    };
    await fc.assert(fc.asyncProperty(everything, draws, property), { numRuns: runs });
    expect(lost).toBeGreaterThan(runs);
  },
  MINUTES,
);

test(
  "I13 after a cancel nothing starts and every rollback that must run does, wherever a copy is lost",
  async () => {
    let cancelled = 0;
    let nested = 0;
    const property = async (ast: Program, drawn: readonly number[], at: number) => {
      const scheduler = new Scheduler();
      const interpreted = interpreter(ast, () => scheduler, { nestedWait: true });
      const of = execution(interpreted, scheduler);
      let deltas = 0;
      let underWay = "";
      of.engine.onDelta = (id, delta) => {
        const draw = drawn[deltas++ % drawn.length] ?? 0;
        if (deltas === at && of.row.state !== "COMPLETED" && of.row.state !== "FAILED") {
          underWay = delta.events;
          of.engine.cancel(of.id);
        }
        if (deltas > at && draw % 3 === 0 && deltas < at + 20) of.engine.fence(id);
      };
      await drive(of, atRandom(scheduler, drawn));
      expectSound(of, scheduler);
      await expectReplays(of, interpreted, scheduler);
      const { events } = of;
      const cancelling = events.findIndex((e) => e.type === "WORKFLOW_CANCELLING");
      if (cancelling < 0 || of.row.state !== "CANCELLED") return;
      cancelled++;
      const after = events.slice(cancelling);
      // What had begun before the worker heard of the cancel is recorded behind it, at once.
      const heard = after.findIndex((e) => HEARD.has(e.type));
      const late = after.slice(heard).filter((e) => e.type === "TASK_STARTED");
      // A failed sibling's TASK_CANCELLED may be on the way already, and starts behind it.
      expect(late.filter((e) => !underWay.includes(`"${e.source_id}"`))).toEqual([]);
      for (const { type, source_id } of after) {
        if (type !== "TASK_ROLLBACK_STARTED") continue;
        const ends = after.filter(
          (e) => e.source_id === source_id && e.type === "TASK_ROLLBACK_COMPLETED",
        );
        expect(ends).toHaveLength(1);
        expect(scheduler.undone).toContain(source_id);
      }
      for (const { type, name, source_id } of after) {
        if (type !== "TASK_CANCELLED" || name !== "inner") continue;
        nested++;
        const isUndone = (e: Event) =>
          e.source_id === source_id && e.type === "TASK_ROLLBACK_COMPLETED";
        expect(after.some(isUndone), source_id).toBe(true);
      }
      for (const [id, { parent_id, state }] of of.engine.rows) {
        if (parent_id === of.id) expect(ENDED, id).toContain(state);
      }
    };
    const at = fc.integer({ min: 2, max: 12 });
    const checked = fc.asyncProperty(everything, draws, at, property);
    await fc.assert(checked, { numRuns: runs, examples: [madeBetween, givenUpBetween] });
    expect(cancelled).toBeGreaterThan(runs / 10);
    expect(nested).toBeGreaterThan(runs / 100);
  },
  MINUTES,
);

/** A task's function makes a call after the cancel has come and before it has reached the code. */
const madeBetween: [Program, number[], number] = [
  {
    kind: "race",
    parts: [
      { kind: "map", part: { kind: "value" }, times: 2, concurrency: 1 },
      {
        kind: "map",
        part: { kind: "step", fails: false, nested: 2, attempts: 1, rollback: false },
        times: 1,
        concurrency: 1,
      },
    ],
  },
  [0, 0, 0, 0, 1, 4, 0, 0, 0, 0],
  4,
];

/** The same, and the grace of its siblings is over before it learns that it never begins. */
const givenUpBetween: [Program, number[], number] = [
  {
    kind: "diamond",
    parts: [
      {
        kind: "map",
        part: {
          kind: "all",
          parts: [
            { kind: "step", fails: false, nested: 2, attempts: 1, rollback: false },
            { kind: "step", fails: false, nested: 1, attempts: 1, rollback: false },
          ],
        },
        times: 2,
        concurrency: 2,
      },
      { kind: "step", fails: false, nested: 0, attempts: 1, rollback: false },
    ],
  },
  [0, 312, 0, 3, 11, 34, 16, 0, 0, 0, 0, 0],
  4,
];

const HEARD: ReadonlySet<string> = new Set([
  "TASK_CANCELLED",
  "WORKFLOW_CLAIMED",
  "WORKFLOW_CANCELLED",
]);
const ENDED = ["COMPLETED", "FAILED", "CANCELLED", "CANCELLING"];
