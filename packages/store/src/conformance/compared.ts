/** The same commands for a store and for the model, and what both answer. */
import { type Claimant, EngineError, type NewExecution } from "@engine/contract";
import { expect } from "vitest";
import type { MemoryModel } from "../memory-model.ts";
import type { Changed, Decide, LogPage, Store } from "../store.ts";
import { NOW } from "./sample.ts";

export type Command =
  | { readonly kind: "create"; readonly fresh: NewExecution; readonly claimant?: Claimant }
  | {
      readonly kind: "change";
      readonly execution_id: string;
      readonly decide: Decide;
      readonly above?: number;
    };

export async function expectSame(
  store: Store,
  model: MemoryModel,
  lookups: readonly LogPage[],
): Promise<void> {
  const rows = model.rows();
  for (const row of rows) {
    expect(await store.findExecution(row.execution_id)).toEqual(row);
    for (const page of [{}, ...lookups]) {
      const log = await store.readLog(row.execution_id, page);
      expect(log.map((line) => line.event)).toEqual(model.log(row.execution_id, page));
    }
  }
  const [due] = model.due({ until: NOW + 1_000, limit: 1 });
  const duePages = [
    { until: NOW + 1_000, limit: 1_000 },
    { until: NOW + 20, limit: 2 },
    { until: NOW + 1_000, limit: 3, after: due },
  ];
  expect(await store.listQueued(1_000)).toEqual(model.queued());
  for (const page of duePages) expect(await store.listDue(page)).toEqual(model.due(page));
  for (const session of ["s1", "s2"]) {
    expect(await store.listOwned(session)).toEqual(
      rows
        .filter((row) => row.session === session)
        .map(({ execution_id, generation, state, head }) => ({
          execution_id,
          generation,
          state,
          head,
        })),
    );
  }
  for (const parent_id of new Set(rows.map((row) => row.parent_id))) {
    const of = parent_id === null ? { root: true } : { parent_id };
    const filter = { order: "created_asc", limit: 1_000, offset: 0, ...of } as const;
    const { items, total } = await store.listExecutions(filter);
    const children = rows.filter((row) => row.parent_id === parent_id);
    expect(items).toEqual(children.map((row) => ({ ...row, input: null, output: null })));
    expect(total).toBe(children.length);
  }
  const all = await store.listExecutions({ order: "created_asc", limit: 1_000, offset: 0 });
  expect(all.items).toEqual(rows.map((row) => ({ ...row, input: null, output: null })));
}

export function send(store: Store, command: Command): Promise<Changed> {
  if (command.kind === "create") return store.createExecution(command.fresh, command.claimant);
  const { execution_id, decide, above } = command;
  return store.changeExecution(execution_id, decide, above === undefined ? {} : { above });
}

export async function settled(promise: Promise<Changed>): Promise<unknown> {
  try {
    const { row, events, others } = await promise;
    return { row, events, others: others.map(({ row, events }) => ({ row, events })) };
  } catch (error) {
    return error instanceof EngineError ? error.code : error;
  }
}

export function expected(model: MemoryModel, command: Command): unknown {
  try {
    return command.kind === "create"
      ? model.create(command.fresh, command.claimant)
      : model.change(command.execution_id, command.decide, command.above);
  } catch (error) {
    return error instanceof EngineError ? error.code : error;
  }
}
