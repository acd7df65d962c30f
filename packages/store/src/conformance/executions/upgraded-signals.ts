/** Databases of engines that kept signals in the execution's row: what an upgrade makes of them. */
import { decideCheckpoint, encode, type Json, NO_SIGNALS } from "@engine/contract";
import { expect } from "vitest";
import type { Store } from "../../store.ts";
import { event, executionId } from "../sample.ts";

/** What the column of execution 1 held. */
export const OLD_SIGNALS: readonly { readonly name: string; readonly payload: Json }[] = [
  { name: "b", payload: { text: 'é "quoted"', list: [1, null, 1.5] } },
  { name: "a", payload: "text" },
  { name: "b", payload: null },
  { name: "b", payload: true },
];

/** Of execution 2; the third one had none. */
export const MANY_NAMES: readonly { readonly name: string; readonly payload: Json }[] = Array.from(
  { length: 25 },
  (_, i) => ({ name: `n${i}`, payload: i }),
);

export async function upgradedSignals(store: Store): Promise<void> {
  const [first, second, third] = await Promise.all(
    [1, 2, 3].map((n) => store.executions.find(executionId(n))),
  );
  expect(first?.signals).toEqual({
    count: 4,
    bytes: expect.any(Number),
    names: [
      { name: "b", count: 3 },
      { name: "a", count: 1 },
    ],
  });
  expect(second?.signals).toMatchObject({ count: 25, bytes: 40 });
  expect(second?.signals.names).toHaveLength(20);
  expect(third?.signals).toEqual(NO_SIGNALS);
  expect(await taken(store, 1, ["b", "b", "a", "b"])).toEqual([
    OLD_SIGNALS[0]?.payload,
    null,
    "text",
    true,
  ]);
  expect(await taken(store, 2, ["n24", "n0"])).toEqual([24, 0]);
  expect(await taken(store, 3, ["a"])).toEqual([]);
}

/** What calls get that wait for these names, one after the other. */
async function taken(store: Store, n: number, names: readonly string[]): Promise<Json[]> {
  const { events } = await store.executions.change(executionId(n), (row, _, findKept) => {
    const calls = names.map((name, i) => ({
      ...event("TASK_STARTED", `signal~${i}`, encode({ name }, "value")),
      kind: "signal" as const,
    }));
    const { generation, head } = row;
    const item = { generation, base_seq: head, state: "RUNNING" as const, events: calls };
    const sender = { session: "s1", now: 2, calls: new Map(), cancel_timeout_ms: 1, findKept };
    const verdict = decideCheckpoint(row, item, sender, []);
    if (verdict.kind !== "append") throw new Error(`a checkpoint was not taken: ${verdict.kind}`);
    return verdict;
  });
  return events.filter(({ type }) => type === "TASK_COMPLETED").map(({ value }) => value);
}
