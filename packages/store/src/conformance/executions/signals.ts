import {
  decideCancel,
  decideSignal,
  EngineError,
  encode,
  type Json,
  type NewEvent,
  NO_SIGNALS,
} from "@engine/contract";
import { expect, test } from "vitest";
import type { Changed } from "../../ports/executions.ts";
import type { Store } from "../../store.ts";
import { type Open, opened } from "../opened.ts";
import { event, NOW } from "../sample.ts";
import { checkpoint, complete, startRunning } from "./family.ts";

const limits = { max_kept_signals: 1_000, max_kept_signal_bytes: 1_000_000, max_events: 10_000 };

function send(store: Store, id: string, name: string, payload: Json): Promise<Changed> {
  return store.executions.change(id, (row) => {
    const verdict = decideSignal(row, { name, payload, by: null, now: NOW, limits });
    if (verdict instanceof EngineError) throw verdict;
    return verdict;
  });
}

/** What a call of `signal(name)` writes as it begins. */
function waits(name: string, n: number): NewEvent {
  return {
    ...event("TASK_STARTED", `signal~${n}`, encode({ name }, "value")),
    name: "signal",
    kind: "signal",
  };
}

/** Calls begin, and say what they got at once. */
async function receive(store: Store, id: string, ...calls: NewEvent[]): Promise<readonly Json[]> {
  const { events } = await checkpoint(store, id, () => ({ state: "RUNNING", events: calls }));
  return events.filter(({ type }) => type === "TASK_COMPLETED").map(({ value }) => value);
}

/** Signals that come before anybody waits for them. */
export function signalConformance(open: Open): void {
  test("EXE-53 kept signals are given to calls by name, the oldest first, each once", async () => {
    const store = await opened(open);
    const id = await startRunning(store, 1);
    // More than a store reads at a time.
    const payloads = Array.from({ length: 40 }, (_, i) => ({ i, text: "é" }));
    await Promise.all(payloads.map((payload) => send(store, id, "paid", payload)));
    await send(store, id, "other", null);
    expect(await receive(store, id, waits("paid", 1))).toEqual([payloads[0]]);
    const calls = payloads.slice(1, 36).map((_, i) => waits("paid", i + 2));
    expect(await receive(store, id, ...calls)).toEqual(payloads.slice(1, 36));
    expect(await receive(store, id, waits("nobody", 90))).toEqual([]);
    expect(await receive(store, id, waits("other", 91))).toEqual([null]);
    expect((await store.executions.find(id))?.signals).toMatchObject({
      count: 4,
      names: [{ name: "paid", count: 4 }],
    });
    const rest = [1, 2, 3, 4, 5].map((i) => waits("paid", 91 + i));
    expect(await receive(store, id, ...rest)).toEqual(payloads.slice(36));
    expect((await store.executions.find(id))?.signals).toEqual(NO_SIGNALS);
  });

  test("EXE-53 signals and the calls that take them may be asked for at the same moment", async () => {
    const store = await opened(open);
    const id = await startRunning(store, 1);
    await send(store, id, "a", 1);
    const [, first, second, , third] = await Promise.all([
      send(store, id, "a", 2),
      receive(store, id, waits("a", 1)),
      receive(store, id, waits("a", 2)),
      send(store, id, "a", 3),
      receive(store, id, waits("a", 3), waits("a", 4)),
    ]);
    expect([first, second, third]).toEqual([[1], [2], [3]]);
    expect((await store.executions.find(id))?.signals).toEqual(NO_SIGNALS);
    const { row } = await send(store, id, "a", 4);
    expect(row).toMatchObject({ signals: NO_SIGNALS, waits: [] });
  });

  test("EXE-53 an end leaves no signal behind, whoever ends it", async () => {
    const store = await opened(open);
    const [done, cancelled] = [await startRunning(store, 1), await startRunning(store, 2)];
    for (const id of [done, cancelled]) await send(store, id, "a", "left");
    const { row } = await complete(store, done, null);
    expect(row.signals).toEqual(NO_SIGNALS);
    await store.executions.change(cancelled, (row) => {
      const terms = { cancel_timeout_ms: 1, hasWorker: () => false, now: NOW };
      const verdict = decideCancel(
        { ...row, session: null, started_at: null },
        { cause: "request", by: null, ...terms },
      );
      if (verdict instanceof EngineError) throw verdict;
      return verdict;
    });
    const events = await store.log.read(cancelled);
    expect(events.map(({ event: { value } }) => value)).toContainEqual({
      code: "signal_dropped",
      message: "signals that no call waited for: a",
    });
  });

  test("EXE-53 a refused change takes no signal", async () => {
    const store = await opened(open);
    const id = await startRunning(store, 1);
    await send(store, id, "a", 1);
    const taken = store.executions.change(id, (_, __, findKept) => {
      expect(findKept("a", 0)).toMatchObject({ name: "a", payload: 1 });
      expect(findKept("b", 0)).toBeUndefined();
      throw new EngineError("conflict", "no");
    });
    await expect(taken).rejects.toMatchObject({ code: "conflict" });
    expect(await receive(store, id, waits("a", 1))).toEqual([1]);
  });
}
