/** Drives random programs to their end, and says which part of a log must come out the same. */
import { isOutcome, isParked, isTerminal, type NewEvent, type OpenWait } from "@engine/contract";
import type { RunningExecution } from "../../replay/port.ts";
import type { MemoryExecution } from "./memory-execution.ts";
import type { Scheduler } from "./random-program.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface Drive {
  readonly scheduler: Scheduler;
  /** Asked again and again to let something happen. */
  readonly step: () => void;
  /** Which of the open waits ends next, while nothing else can happen. */
  readonly choose: (waits: readonly OpenWait[]) => OpenWait | undefined;
  /** Parked copies go on where they are rather than being replayed; counts those that did. */
  readonly warm?: { woken: number };
  /** Whether an open wait of an execution that runs is answered now. */
  readonly answersMeanwhile?: () => boolean;
}

/** Runs an execution and its children to the end, ending what they wait for. */
export async function drive(
  execution: MemoryExecution,
  { scheduler, step, choose, warm, answersMeanwhile = () => false }: Drive,
): Promise<void> {
  const { engine } = execution;
  const parked = new Map<string, RunningExecution>();
  const isOver = () => [...engine.rows.values()].every(({ state }) => isTerminal(state));
  for (let i = 0; !isOver(); i++) {
    if (i > 400) throw new Error(`does not end: ${execution.types.slice(0, 60).join(" ")}`);
    const { row } = execution;
    const child = [...engine.rows.values()].find(
      ({ execution_id, session, state }) =>
        execution_id !== execution.id && session === null && !isTerminal(state),
    );
    if (child && (isParked(row) || isTerminal(row.state))) {
      await run(child.execution_id);
      continue;
    }
    if (isParked(row)) end(choose(row.waits.filter(({ kind }) => kind !== "child")));
    const { row: now } = execution;
    if (now.session === null && !isParked(now) && !isTerminal(now.state)) await run(execution.id);
  }

  /** One copy, until it has ended. */
  async function run(execution_id: string): Promise<void> {
    let hasEnded = false;
    const copy = wake(execution_id) ?? engine.claim(execution_id);
    void copy.ended.then((how) => {
      hasEnded = true;
      if (how === "paused" || how === "parked") parked.set(execution_id, copy);
    });
    for (let turns = 0; !hasEnded; turns++) {
      if (turns > 20_000) throw new Error(`stuck: ${execution.types.join(" ")}`);
      step();
      if (execution_id === execution.id && answersMeanwhile()) answerOne();
      await turn();
    }
  }

  /** Somebody answers what an execution waits for beside what it does. */
  function answerOne(): void {
    const { row } = execution;
    const asked = row.waits.filter(({ kind }) => kind === "pause" || kind === "signal");
    if (asked.length > 0 && row.state !== "CANCELLING" && !isTerminal(row.state))
      end(choose(asked));
  }

  function wake(execution_id: string): RunningExecution | undefined {
    const waiting = warm && parked.get(execution_id);
    parked.delete(execution_id);
    const woken = waiting && engine.wake(execution_id, waiting);
    if (warm && woken) warm.woken++;
    return woken;
  }

  function end(wait: OpenWait | undefined): void {
    if (!wait) throw new Error(`waits for nothing: ${execution.types.join(" ")}`);
    if (wait.kind === "pause") execution.resume(wait.name, wait.task_call_id);
    else if (wait.kind === "signal") engine.signal(execution.id, wait.name, wait.name);
    else {
      scheduler.now = Math.max(scheduler.now, wait.until ?? 0);
      engine.wakeDue();
    }
  }
}

/** Of several times the earliest comes first, whatever else is chosen. */
function earliestFirst(
  waits: readonly OpenWait[],
  chosen: OpenWait | undefined,
): OpenWait | undefined {
  if (chosen?.until === undefined) return chosen;
  const timed = waits.filter(({ until }) => until !== undefined);
  return timed.reduce((a, b) => ((b.until ?? 0) < (a.until ?? 0) ? b : a), chosen);
}

/** Whatever is possible happens in an order drawn from `draws`. */
export function atRandom(scheduler: Scheduler, draws: readonly number[]): Drive {
  let i = 0;
  const draw = () => draws[i++ % draws.length] ?? 0;
  return {
    scheduler,
    step() {
      const drawn = draw();
      const { pending, timers } = scheduler;
      const ids = [...pending.keys()];
      // Mostly a body ends; sometimes nothing, and the grace only when nothing else can happen.
      if (drawn % 5 === 0 && i % 3 !== 0) return;
      const id = ids[drawn % ids.length];
      if (id) scheduler.finish(id);
      else if (timers.size) scheduler.fireTimers();
      else scheduler.now++;
    },
    choose: (waits) => earliestFirst(waits, waits[draw() % waits.length]),
  };
}

/** What an event says has ended: a call, or an attempt that another follows. */
function endOf({ type, source_id }: Pick<NewEvent, "type" | "source_id">): string | undefined {
  if (isOutcome(type)) return source_id;
  return type === "TASK_RETRY_STARTED" ? `${source_id} attempt` : undefined;
}

const COMBINATORS: ReadonlySet<unknown> = new Set(["parallel", "map", "pipeline", "graph"]);

/** Bodies and waits end in the order in which a finished log says they ended. */
export function asRecorded(
  scheduler: Scheduler,
  recorded: MemoryExecution,
  again: MemoryExecution,
): Drive {
  const order = recorded.events
    .filter((e) => endOf(e) !== undefined && e.name !== "inner" && !COMBINATORS.has(e.kind))
    .map((e) => ({ source_id: e.source_id, type: e.type, kind: e.kind, end: endOf(e) }));
  const sent = new Set(again.events.map(endOf));
  const isRecorded = (end: string | undefined) =>
    sent.has(end) || again.events.some((e) => endOf(e) === end);
  // A body may have ended after another outcome was sent and before the code received it.
  again.onDelta = async (delta) => {
    for (const event of JSON.parse(delta.events) as NewEvent[]) sent.add(endOf(event));
    step();
    await turn();
  };
  let idleTurns = 0;
  const step = () => {
    // What children run is their own business.
    for (const id of scheduler.pending.keys()) {
      if (!order.some((next) => next.source_id === id)) scheduler.finish(id);
    }
    for (let next = order[0]; next; next = order[0]) {
      // A call that was given up makes no further attempt.
      if (isRecorded(next.end) || isRecorded(next.source_id)) {
        order.shift();
        idleTurns = 0;
        continue;
      }
      // What has ended may have a rollback before it: the next one waits until it is on its way.
      if (scheduler.finish(next.source_id)) idleTurns = 0;
      // A call caught open may never get as far as it did: then its grace is what ends it.
      if (next.type === "TASK_CANCELLED" || ++idleTurns > 50) scheduler.fireTimers();
      if (next.kind === "sleep" || idleTurns > 50) scheduler.now++;
      return;
    }
    scheduler.now++;
    if (++idleTurns > 50) scheduler.fireTimers();
  };
  return {
    scheduler,
    step,
    choose(waits) {
      const next = order.find(({ source_id }) => waits.some((w) => w.task_call_id === source_id));
      const chosen = waits.find(({ task_call_id }) => task_call_id === next?.source_id);
      return earliestFirst(waits, chosen ?? waits[0]);
    },
  };
}

/**
 * Calls that a failing sibling or the end of the body caught open. How far those still come is a
 * matter of timing that no log binds, and nobody sees it: they and what is in them are left out.
 */
export function givenUp(execution: MemoryExecution): string[] {
  return execution.events
    .filter((event) => isOutcome(event.type))
    .filter(
      (e) => e.type === "TASK_CANCELLED" || JSON.stringify(e.value).includes("CancelledError"),
    )
    .map((event) => event.source_id);
}

/** How calls that were given up ended, in order, and between which of the others. */
export function fates({ events }: MemoryExecution, ids: readonly string[]): string {
  let others = 0;
  const fates: string[] = [];
  for (const { type, source_id, kind, name } of events) {
    if (!isOutcome(type) || COMBINATORS.has(kind) || name === "inner") continue;
    if (ids.includes(source_id)) fates.push(`${type} ${source_id} after ${others}`);
    else others++;
  }
  return fates.join();
}

export function isOpenAt({ events }: MemoryExecution, id: string, cut: number): boolean {
  const own = events.slice(0, cut).filter((event) => event.source_id === id);
  return own.length > 0 && !own.some((event) => isOutcome(event.type));
}

export interface Essence {
  readonly started: readonly string[];
  readonly outcomes: readonly string[];
  readonly terminal: string | undefined;
  readonly output: string;
  readonly failure: string | undefined;
}

/** What a log says was commanded and what came of it, without who ran it when. */
export function essence(execution: MemoryExecution, without: readonly string[]): Essence {
  const isKept = (id: string) => !without.some((out) => id === out || id.startsWith(`${out}/`));
  const events = execution.events.filter((e) => isKept(e.source_id));
  return {
    started: events
      .filter((e) => e.type === "TASK_STARTED")
      // A sleep is begun with an instant, which no other run meets.
      .map((e) => `${e.source_id} ${e.kind} ${e.kind === "sleep" ? "" : JSON.stringify(e.value)}`)
      .sort(),
    // Combinators follow from their branches; inside a task nothing binds the order.
    outcomes: events
      .filter((e) => isOutcome(e.type) && !COMBINATORS.has(e.kind) && e.name !== "inner")
      .map((e) => `${e.type} ${e.source_id} ${JSON.stringify(e.value)}`),
    terminal: execution.events.at(-1)?.type,
    output: JSON.stringify(execution.row.output),
    failure: execution.row.failure?.message,
  };
}
