/**
 * Random concurrent programs (races, nested branches, failing tasks, pauses) are run once with
 * their tasks finishing in a random order. Then every prefix of the log is replayed, with the tasks
 * that still run finishing in the recorded order: the rest of the log must come out the same (I7).
 */
import { isOutcome, isTerminal, type NewEvent } from "@engine/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { map, parallel, pause, pipeline, random, task, uuid, workflow } from "../index.ts";
import type { Host } from "../replay/port.ts";
import { nodeHost } from "./host.ts";
import { MemoryExecution } from "./memory-execution.ts";

type Program =
  | { kind: "step"; fails: boolean; nested: number }
  | { kind: "value" | "pause" }
  | { kind: "sequence" | "parallel" | "settled" | "all" | "race" | "pipeline"; parts: Program[] }
  | { kind: "map"; part: Program; times: number; concurrency: number }
  | { kind: "attempt" | "forgotten"; part: Program };

/** Values are taken at once, so nothing can hold them to a recorded order: leaves says if they occur. */
const programs = (...leaves: ("value" | "pause")[]) =>
  fc.letrec<{ program: Program }>((tie) => {
    const part = tie("program");
    const parts = fc.array(part, { minLength: 1, maxLength: 3 });
    const step = fc.record({
      kind: fc.constant("step" as const),
      fails: fc.boolean(),
      nested: fc.integer({ min: 0, max: 2 }),
    });
    return {
      program: fc.oneof(
        { maxDepth: 3, depthSize: "small", withCrossShrink: true },
        step,
        fc.record({ kind: fc.constantFrom(...leaves) }),
        fc.record({
          kind: fc.constantFrom(
            "sequence" as const,
            "parallel" as const,
            "settled" as const,
            "all" as const,
            "race" as const,
            "pipeline" as const,
          ),
          parts,
        }),
        fc.record({
          kind: fc.constant("map" as const),
          part,
          times: fc.integer({ min: 0, max: 3 }),
          concurrency: fc.integer({ min: 1, max: 3 }),
        }),
        fc.record({ kind: fc.constantFrom("attempt" as const, "forgotten" as const), part }),
      ),
    };
  }).program;

/** Decides when running task bodies end and when graces are over. */
class Scheduler {
  readonly pending: Map<string, () => void> = new Map();
  readonly timers: Set<() => void> = new Set();
  readonly ran: string[] = [];
  readonly errors: string[] = [];
  readonly host: Host = {
    ...nodeHost({
      log: (level, message, details) => {
        if (level === "error") this.errors.push(`${message} ${JSON.stringify(details)}`);
      },
    }),
    random: () => 0.5,
    uuid: () => "00000000-0000-4000-8000-000000000000",
    setTimer: (then, ms) => {
      // Only the grace of siblings is under control; starts that linger go at once.
      if (ms !== GRACE_MS) {
        const immediate = setImmediate(then);
        return () => clearImmediate(immediate);
      }
      this.timers.add(then);
      return () => this.timers.delete(then);
    },
  };

  body(id: string): Promise<void> {
    this.ran.push(id);
    return new Promise((resolve) => this.pending.set(id, resolve));
  }

  finish(id: string): boolean {
    const resolve = this.pending.get(id);
    this.pending.delete(id);
    resolve?.();
    return resolve !== undefined;
  }

  fireTimers(): boolean {
    const due = [...this.timers];
    this.timers.clear();
    for (const then of due) then();
    return due.length > 0;
  }
}

const GRACE_MS = 50;

/** The workflow that interprets a program; `gate` is where its task bodies wait. */
function interpreter(program: Program, gate: () => Scheduler) {
  const inner = task({ name: "inner" }, async (n: number) => n);
  const step = task(
    { name: "step" },
    async (input: { fails: boolean; nested: number }, { taskCallId }) => {
      for (let i = 0; i < input.nested; i++) await inner(i);
      await gate().body(taskCallId);
      if (input.fails) throw new Error(`failed ${taskCallId}`);
      return taskCallId;
    },
  );
  const go = async (p: Program): Promise<unknown> => {
    switch (p.kind) {
      case "step":
        return step({ fails: p.fails, nested: p.nested });
      case "value":
        return [await random(), await uuid()];
      case "pause":
        return pause(`p${pauses++}`);
      case "sequence": {
        const results = [];
        for (const part of p.parts) results.push(await go(part));
        return results;
      }
      case "parallel":
        return parallel(p.parts.map((part) => () => go(part)));
      case "settled":
        return parallel(
          p.parts.map((part) => () => go(part)),
          { settle: true },
        );
      case "all":
        return Promise.all(p.parts.map(go));
      case "race":
        return Promise.race(p.parts.map(go));
      case "pipeline":
        return pipeline(0, ...p.parts.map((part) => () => go(part)));
      case "map":
        return map(Array.from({ length: p.times }).keys(), () => go(p.part), {
          concurrency: p.concurrency,
        });
      case "attempt":
        return go(p.part).catch((error: Error) => `caught ${error.message}`);
      case "forgotten":
        go(p.part).catch(() => {});
        return "forgotten";
    }
  };
  let pauses = 0;
  return workflow({ name: "random" }, async () => {
    pauses = 0;
    return go(program);
  });
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Runs to the end, resuming pauses; `step` is asked again and again to let something happen. */
async function drive(execution: MemoryExecution, step: () => void): Promise<void> {
  for (let i = 0; !isTerminal(execution.row.state); i++) {
    if (i > 200) throw new Error(`does not end: ${execution.types.slice(0, 40).join(" ")}`);
    const [open] = execution.row.waits;
    if (execution.row.state === "PAUSED" && open) execution.resume(open.name, open.task_call_id);
    let isOver = false;
    void execution.claim().ended.then(() => {
      isOver = true;
    });
    for (let turns = 0; !isOver; turns++) {
      if (turns > 20_000) throw new Error(`stuck: ${execution.types.join(" ")}`);
      step();
      await turn();
    }
  }
}

/** Whatever is possible happens in an order drawn from `draws`. */
function atRandom(scheduler: () => Scheduler, draws: readonly number[]): () => void {
  let i = 0;
  return () => {
    const draw = draws[i++ % draws.length] ?? 0;
    const { pending, timers } = scheduler();
    const ids = [...pending.keys()];
    // Mostly a body ends; sometimes nothing, and the grace only when nothing else can happen.
    if (draw % 5 === 0 && i % 3 !== 0) return;
    const id = ids[draw % ids.length];
    if (id) scheduler().finish(id);
    else if (timers.size) scheduler().fireTimers();
  };
}

/** Bodies end in the order in which a finished log says they ended. */
function asRecorded(
  scheduler: Scheduler,
  recorded: MemoryExecution,
  again: MemoryExecution,
): () => void {
  const order = recorded.events.filter((e) => isOutcome(e.type) && e.name !== "inner");
  const sent = new Set(again.events.filter((e) => isOutcome(e.type)).map((e) => e.source_id));
  const isRecorded = (id: string) =>
    sent.has(id) || again.events.some((e) => e.source_id === id && isOutcome(e.type));
  // A body may have ended after another outcome was sent and before the code received it.
  again.onDelta = async (delta) => {
    for (const event of JSON.parse(delta.events) as NewEvent[]) {
      if (isOutcome(event.type)) sent.add(event.source_id);
    }
    step();
    await turn();
  };
  let idleTurns = 0;
  const step = () => {
    for (let next = order[0]; next; next = order[0]) {
      if (isRecorded(next.source_id) || scheduler.finish(next.source_id)) {
        order.shift();
        idleTurns = 0;
        continue;
      }
      // A call caught open may never get as far as it did: then its grace is what ends it.
      if (next.type === "TASK_CANCELLED" || ++idleTurns > 50) scheduler.fireTimers();
      return;
    }
    if (++idleTurns > 50) scheduler.fireTimers();
  };
  return step;
}

/**
 * Calls that a failing sibling or the end of the body caught open. How far those still come is a
 * matter of timing that no log binds, and nobody sees it: they and what is in them are left out.
 */
function givenUp(execution: MemoryExecution): string[] {
  return execution.events
    .filter((event) => isOutcome(event.type))
    .filter(
      (e) => e.type === "TASK_CANCELLED" || JSON.stringify(e.value).includes("CancelledError"),
    )
    .map((event) => event.source_id);
}

/** How calls ended, in order. */
function fates({ events }: MemoryExecution, ids: readonly string[]): string {
  const outcomes = events.filter((e) => isOutcome(e.type) && ids.includes(e.source_id));
  return outcomes.map((e) => `${e.type} ${e.source_id}`).join();
}

function isOpenAt({ events }: MemoryExecution, id: string, cut: number): boolean {
  const own = events.slice(0, cut).filter((event) => event.source_id === id);
  return own.length > 0 && !own.some((event) => isOutcome(event.type));
}

/** What a log says was commanded and what came of it, without who ran it when. */
function essence(execution: MemoryExecution, without: readonly string[]) {
  const isKept = (id: string) => !without.some((out) => id === out || id.startsWith(`${out}/`));
  const events = execution.events.filter((e) => isKept(e.source_id));
  const isCombinator = (kind: unknown) => ["parallel", "map", "pipeline"].includes(String(kind));
  return {
    started: events
      .filter((e) => e.type === "TASK_STARTED")
      .map((e) => `${e.source_id} ${e.kind} ${JSON.stringify(e.value)}`)
      .sort(),
    // Combinators follow from their branches; inside a task nothing binds the order.
    outcomes: events
      .filter((e) => isOutcome(e.type) && !isCombinator(e.kind) && e.name !== "inner")
      .map((e) => `${e.type} ${e.source_id} ${JSON.stringify(e.value)}`),
    terminal: execution.events.at(-1)?.type,
    output: JSON.stringify(execution.row.output),
    failure: execution.row.failure?.message,
  };
}

const runs = Number(process.env["PROPERTY_RUNS"] ?? 400);

test("I7 replaying any prefix of the log gives the same commands and the same output", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(
      programs("pause"),
      fc.array(fc.nat({ max: 1000 }), { minLength: 5, maxLength: 40 }),
      async (ast, draws) => {
        let scheduler = new Scheduler();
        const wf = interpreter(ast, () => scheduler);
        const first = new MemoryExecution(wf, null, scheduler.host);
        await drive(
          first,
          atRandom(() => scheduler, draws),
        );
        const last = first.events.length;
        const cuts = new Set([2, last - 1, ...draws.map((draw) => 2 + (draw % (last - 2)))]);
        for (const cut of cuts) {
          // A resume is one commit: no log ends inside it.
          if (first.events[cut - 1]?.type === "TASK_RESUMED") continue;
          if (first.events[cut]?.type === "WORKFLOW_RESUMING") continue;
          scheduler = new Scheduler();
          const again = first.cutAt(cut, scheduler.host);
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
          expect(scheduler.ran.filter((id) => recorded.has(id))).toEqual([]);
        }
      },
    ),
    { numRuns: runs },
  );
  // Most prefixes must have been compared, or the property would say little.
  expect(compared).toBeGreaterThan(runs * 3);
}, 120_000);

test("I2 I3 I4 whatever copy is lost when, each call has one outcome and no recorded body runs", async () => {
  await fc.assert(
    fc.asyncProperty(
      programs("pause", "value"),
      fc.array(fc.nat({ max: 1000 }), { minLength: 5, maxLength: 40 }),
      async (ast, draws) => {
        const scheduler = new Scheduler();
        const wf = interpreter(ast, () => scheduler);
        const execution = new MemoryExecution(wf, null, scheduler.host);
        let deltas = 0;
        execution.onDelta = () => {
          // Another worker takes the execution over while this delta is on its way.
          const draw = draws[deltas++ % draws.length] ?? 0;
          if (draw % 4 === 0 && deltas < 60) execution.fence();
        };
        await drive(
          execution,
          atRandom(() => scheduler, draws),
        );

        expect(scheduler.errors, execution.types.join(" ")).toEqual([]);
        const { events } = execution;
        expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => i + 1));
        const outcomes = events.filter((e) => isOutcome(e.type)).map((e) => e.source_id);
        const started = events.filter((e) => e.type === "TASK_STARTED").map((e) => e.source_id);
        expect(new Set(outcomes).size, "one outcome per call").toBe(outcomes.length);
        expect(new Set(started).size, "one start per call").toBe(started.length);
        expect([...outcomes].sort(), "every call has an outcome").toEqual([...started].sort());
      },
    ),
    { numRuns: runs },
  );
}, 120_000);
