/**
 * Executions that live by the contract's rules alone: they sleep, wait for signals, call and cancel
 * one another, fork, and are taken from their workers at any time.
 */
import {
  type CallResolutions,
  type Change,
  type CheckpointSender,
  callStarts,
  decideCancel,
  decideCheckpoint,
  decideClaim,
  decideResume,
  decideSignal,
  decideWake,
  EngineError,
  type ExecutionRow,
  encode,
  forkHistory,
  formatEventTime,
  handOver,
  isQueued,
  isTerminal,
  type NewEvent,
  stateAfter,
} from "@engine/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Decide } from "../../ports/executions.ts";
import type { Store } from "../../store.ts";
import type { Open } from "../opened.ts";
import { event, executionId, NOW, newExecution } from "../sample.ts";
import type { Command } from "./command.ts";
import { expected, expectSame, send, settled } from "./compared.ts";
import { MemoryModel } from "./memory-model.ts";

export function randomLivesConformance(open: Open): void {
  test("I2 I3 whatever executions do to one another, the store holds what the model does", async () => {
    await fc.assert(
      fc.asyncProperty(lives, async (rounds) => {
        const store = await open();
        try {
          const model = new MemoryModel();
          for (const n of [1, 2]) {
            const fresh = newExecution(n, n === 2 ? { timeout_ms: 25, park_ttl_ms: 20 } : {});
            const command: Command = { kind: "create", fresh };
            expect(await settled(send(store, command))).toEqual(expected(model, command));
          }
          for (const batch of rounds) {
            const before = model.rows();
            const commands = batch.map((intent) => commandOf(intent, model));
            const answers = await Promise.all(
              commands.map((command) => settled(send(store, command))),
            );
            expect(answers).toEqual(commands.map((command) => expected(model, command)));
            await expectSane(store, before);
          }
          await expectSame(store, model, []);
        } finally {
          await store.close();
        }
      }),
      { numRuns: 25 },
    );
  }, 240_000);
}

/** What holds of any store at any time, whatever a model says. */
async function expectSane(store: Store, before: readonly ExecutionRow[]): Promise<void> {
  const { items } = await store.executions.list({ order: "created_asc", limit: 1_000, offset: 0 });
  const rows = new Map(items.map((row) => [row.execution_id, row]));
  for (const row of items) {
    const log = (await store.log.read(row.execution_id)).map((line) => line.event);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1));
    expect(log).toHaveLength(row.head);
    const ends = log.filter(({ type }) => ENDS.has(type));
    expect(ends).toHaveLength(isTerminal(row.state) ? 1 : 0);
    if (ends.length > 0) expect(ends[0]).toBe(log.at(-1));
    if (row.state === "CANCELLING") continue;
    for (const { kind, execution_id } of row.waits) {
      const child = kind === "child" && rows.get(execution_id ?? "");
      if (child) expect(isTerminal(child.state), "a child ended, its parent waits").toBe(false);
    }
  }
  for (const row of before.filter(({ state }) => isTerminal(state))) {
    expect(rows.get(row.execution_id)).toEqual({ ...row, input: null, output: null });
  }
}

const ENDS: ReadonlySet<string> = new Set([
  "WORKFLOW_COMPLETED",
  "WORKFLOW_FAILED",
  "WORKFLOW_CANCELLED",
]);

interface Intent {
  /** Which of the executions, and which of the deeds that fit it; any of them where it is astray. */
  readonly of: number;
  readonly which: number;
  readonly astray: boolean;
  readonly at: number;
  readonly name: "a" | "b";
  readonly ms: number;
  readonly yes: boolean;
}

const BODY = ["sleep", "signal()", "call", "call", "pause", "task", "complete", "fail"] as const;
/** The more often a deed is named, the likelier it is. */
const DEEDS = [
  ...(["claim", "claim", "claim", "begin", "begin", "begin", "unwound", ...BODY] as const),
  ...(["signal", "resume", "resume", "cancel", "wake", "wake", "hand over", "fork"] as const),
  ...(["lose", "lose", "begin late"] as const),
];

interface Deed extends Intent {
  readonly what: (typeof DEEDS)[number];
}

const intent: fc.Arbitrary<Intent> = fc.record({
  of: fc.nat(20),
  which: fc.nat(100),
  astray: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  at: fc.integer({ min: NOW, max: NOW + 40 }),
  name: fc.constantFrom("a", "b"),
  ms: fc.integer({ min: 1, max: 30 }),
  yes: fc.boolean(),
});

const lives = fc.array(fc.array(intent, { minLength: 1, maxLength: 4 }), {
  minLength: 10,
  maxLength: 40,
});

function fits(what: Deed["what"], row: ExecutionRow): boolean {
  const { state, session, waits, wake_at, not_before } = row;
  switch (what) {
    case "claim":
      return isQueued(row);
    case "begin":
      return state === "CLAIMED";
    case "unwound":
      return state === "CANCELLING" && session !== null;
    case "resume":
      return waits.some(({ kind }) => kind === "pause");
    case "wake":
      return wake_at !== null;
    case "signal":
      return state === "RUNNING" || waits.some(({ kind }) => kind === "signal");
    case "cancel":
      return state === "RUNNING" || waits.length > 0;
    case "fork":
      return row.head > 4;
    case "hand over":
    case "lose":
      return session !== null;
    case "begin late":
      return not_before !== null;
    default:
      return state === "RUNNING" && session !== null;
  }
}

function commandOf(intent: Intent, model: MemoryModel): Command {
  const rows = model.rows();
  const live = rows.filter(({ state }) => !isTerminal(state));
  const among = intent.astray || live.length === 0 ? rows : live;
  const row = among[intent.of % among.length] as ExecutionRow;
  const fitting = intent.astray ? [] : DEEDS.filter((what) => fits(what, row));
  const deeds = fitting.length > 0 ? fitting : DEEDS;
  const deed: Deed = { ...intent, what: deeds[intent.which % deeds.length] as Deed["what"] };
  const { execution_id } = row;
  if (deed.what !== "fork") return { kind: "change", execution_id, decide: decideOf(deed) };
  const { seq, history } = forkHistory(row, model.log(execution_id), {
    from_seq: 1 + (deed.ms % row.head),
  });
  const copy = { ...row, execution_id: executionId(900 + rows.length), depth: 0 };
  const fork = { from: { execution_id, seq }, history, calls: callsOf(copy, history) };
  return { kind: "create", fresh: newExecution(900 + rows.length, { fork, now: deed.at }) };
}

/** Small, so that lives come to them. */
const limits = { max_kept_signals: 5, max_kept_signal_bytes: 1_000, max_events: 60 };

function decideOf(deed: Deed): Decide {
  const { what, at: now, name, yes, ms } = deed;
  const cancel = { by: null, cancel_timeout_ms: ms, hasWorker: () => yes, now };
  switch (what) {
    case "claim":
      return (row) => decideClaim(row, { worker: "w", session: yes ? "s1" : "s2", now });
    case "signal":
      return (row) => agreed(decideSignal(row, { name, payload: ms, by: null, now, limits }));
    case "resume":
      return (row) => agreed(decideResume(row, { input: ms, by: null, now }));
    case "cancel":
      return (row) => agreed(decideCancel(row, { ...cancel, cause: "request" }));
    case "wake":
      return (row) => decideWake(row, cancel);
    case "hand over":
      return (row) => (row.session ? handOver(row, { now, cancel_timeout_ms: ms }) : undefined);
    case "lose": {
      const loss = { reason: yes ? "stuck" : "session_lost", max_crashes: 3 } as const;
      const how = { now, cancel_timeout_ms: ms, loss };
      return (row) => (row.session ? handOver(row, how) : undefined);
    }
    case "begin late":
      return (row) => decideWake(row, { ...cancel, now: now + 2_000 });
    default:
      return (row, _, findKept) =>
        row.session ? checkpoint(row, { session: row.session, findKept }, deed) : undefined;
  }
}

function agreed(verdict: Change | EngineError | undefined): Change | undefined {
  if (verdict instanceof EngineError) throw verdict;
  return verdict;
}

function checkpoint(
  row: ExecutionRow,
  by: Pick<CheckpointSender, "session" | "findKept">,
  deed: Deed,
): Change | undefined {
  const events = eventsOf(row, deed);
  const { state, generation, head } = row;
  const parks = deed.yes && PARKING.has(deed.what) && state === "RUNNING";
  const item = {
    generation,
    base_seq: head,
    events,
    state: stateAfter(state, events) ?? state,
    ...(parks && { waiting: [] }),
  };
  const sender = { ...by, now: deed.at, cancel_timeout_ms: deed.ms, calls: callsOf(row, events) };
  const verdict = decideCheckpoint(row, item, sender, []);
  if (verdict.kind === "refuse") throw verdict.error;
  return verdict.kind === "append" ? verdict : undefined;
}

const PARKING: ReadonlySet<string> = new Set(["sleep", "signal()", "call"]);

function eventsOf(row: ExecutionRow, { what, at, name, ms, yes }: Deed): NewEvent[] {
  const { execution_id, resuming, state } = row;
  const until = new Date(at + ms).toISOString();
  const id = `${what.replace("()", "")}~${row.head}`;
  const builtIn = (kind: "sleep" | "signal" | "call", value: unknown): NewEvent => ({
    ...event("TASK_STARTED", id, encode(value, "value")),
    time: formatEventTime(at),
    kind,
  });
  switch (what) {
    case "begin":
      return [event(resuming ? "WORKFLOW_RESUMED" : "WORKFLOW_STARTED", execution_id)];
    case "sleep":
      return [builtIn("sleep", { until })];
    case "signal()":
      return [builtIn("signal", yes ? { name, until } : { name })];
    case "call":
      return [builtIn("call", { workflow: "default/hello", wait: name === "a", detach: yes })];
    case "pause": {
      const on_complete = executionId((ms % 3) + 1);
      const value = encode(yes ? { name, until } : { name, on_complete }, "value");
      const paused = event("WORKFLOW_PAUSED", execution_id);
      return [event("TASK_STARTED", id), event("TASK_PAUSED", id, value), paused];
    }
    case "complete":
      return [event("WORKFLOW_COMPLETED", execution_id, ms)];
    case "fail":
      return [event("WORKFLOW_FAILED", execution_id, { message: "no" })];
    case "unwound":
      return [event("WORKFLOW_CANCELLED", execution_id)];
    default:
      return [event("TASK_STARTED", id), event("TASK_COMPLETED", id, state)];
  }
}

/** Ids of children follow from their parent's, and may turn out to be taken. */
function callsOf(
  { execution_id, depth, head }: ExecutionRow,
  events: readonly NewEvent[],
): CallResolutions {
  const n = (10 * Number(execution_id.slice(-6)) + head) % 800;
  return new Map(
    callStarts(events).map(({ task_call_id: call_id, start }, i) => {
      const parent = { execution_id, depth, call_id, detached: start.detach };
      return [call_id, { kind: "child", fresh: newExecution(n + i, { parent }) }];
    }),
  );
}
