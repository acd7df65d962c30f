/** The same commands for a store and for the model, and what both answer. */
import { EngineError } from "@engine/contract";
import { expect } from "vitest";
import type { LimitDefinition } from "../../limits/claim-limits.ts";
import type { Changed } from "../../ports/executions.ts";
import type { LogPage } from "../../ports/log.ts";
import type { QueuePage } from "../../ports/queue.ts";
import type { Store } from "../../store.ts";
import { NOW, newSession } from "../sample.ts";
import type { Command } from "./command.ts";
import { expectSameOutbox } from "./compared-outbox.ts";
import type { MemoryModel } from "./memory-model.ts";

/** What becomes of a session between two commits. */
export interface SessionDeed {
  readonly session: string;
  readonly what: "connect" | "lose" | "end" | "pause" | "activate" | "describe";
}

/** Sessions of both that commands may be guarded by. */
export async function openSessions(
  store: Store,
  model: MemoryModel,
  session_ids: readonly string[],
): Promise<void> {
  for (const id of session_ids) {
    const { session } = await store.sessions.open(newSession(id));
    model.setSession(id, { epoch: session.epoch, isActive: true, hasEnded: false });
  }
}

export async function changeSession(
  store: Store,
  model: MemoryModel,
  { session, what }: SessionDeed,
): Promise<void> {
  const { epoch, isLost, hasEnded, revision } = model.session(session);
  switch (what) {
    case "connect": {
      const connected = await store.sessions.connect(session, "a replica");
      expect(connected === undefined).toBe(hasEnded);
      if (connected) model.setSession(session, { epoch: epoch + 1, isLost: false });
      return;
    }
    case "lose": {
      const lost = await store.sessions.lose(session, epoch);
      expect(lost === undefined).toBe(isLost || hasEnded);
      if (lost) model.setSession(session, { epoch: epoch + 1, isLost: true });
      return;
    }
    case "end":
      await store.sessions.end(session, "disconnected");
      model.setSession(session, { hasEnded: true });
      return;
    case "describe": {
      const metadata = { step: revision + 1 };
      await store.workers.changeAttributes(`worker-${session}`, (held) => ({ ...held, metadata }));
      model.setSession(session, { revision: revision + 1 });
      return;
    }
    default: {
      const isActive = what === "activate";
      await store.workers.desire(`worker-${session}`, isActive ? "active" : "paused");
      model.setSession(session, { isActive });
    }
  }
}

/** What operators do to a limit between two commits. */
export interface LimitDeed {
  readonly name: string;
  /** Null: they delete it. */
  readonly allowed: LimitDefinition | null;
}

export async function changeLimit(
  store: Store,
  model: MemoryModel,
  { name, allowed }: LimitDeed,
): Promise<void> {
  if (allowed) await store.limits.set(name, allowed);
  else await store.limits.delete(name);
  model.limits.set(name, allowed);
}

export async function expectSame(
  store: Store,
  model: MemoryModel,
  lookups: readonly LogPage[],
): Promise<void> {
  const rows = model.rows();
  for (const row of rows) {
    expect(await store.executions.find(row.execution_id)).toEqual(row);
    for (const page of [{}, ...lookups]) {
      const log = await store.log.read(row.execution_id, page);
      expect(log.map((line) => line.event)).toEqual(model.log(row.execution_id, page));
    }
  }
  const [due] = model.due({ until: NOW + 1_000, limit: 1 });
  const duePages = [
    { until: NOW + 1_000, limit: 1_000 },
    { until: NOW + 20, limit: 2 },
    { until: NOW + 1_000, limit: 3, after: due },
  ];
  const queued = model.queued({ limit: 1_000 });
  const [after] = queued;
  const queuePages: QueuePage[] = [
    { limit: 1_000 },
    { limit: 2 },
    { limit: 2, fromEnd: true },
    { limit: 2, after },
    { limit: 2, after, fromEnd: true },
  ];
  for (const page of queuePages) expect(await store.queue.list(page)).toEqual(model.queued(page));
  const byId = queued.toSorted((a, b) => (a.execution_id < b.execution_id ? -1 : 1));
  expect(await store.queue.find(rows.map(({ execution_id }) => execution_id))).toEqual(byId);
  for (const limit of [2, 1_000]) {
    expect(await store.queue.listOrphaned(limit)).toEqual(model.orphaned(limit));
  }
  for (const page of duePages) expect(await store.queue.listDue(page)).toEqual(model.due(page));
  for (const session of new Set(rows.flatMap((row) => row.session ?? []))) {
    expect(await store.queue.listOwned(session)).toEqual(model.owned(session));
  }
  for (const parent_id of new Set(rows.map((row) => row.parent_id))) {
    const of = parent_id === null ? { root: true } : { parent_id };
    const filter = { order: "created_asc", limit: 1_000, offset: 0, ...of } as const;
    const { items, total } = await store.executions.list(filter);
    const children = rows.filter((row) => row.parent_id === parent_id);
    expect(items).toEqual(children.map((row) => ({ ...row, input: null, output: null })));
    expect(total).toBe(children.length);
  }
  await expectSameOutbox(store, model);
  const all = await store.executions.list({ order: "created_asc", limit: 1_000, offset: 0 });
  expect(all.items).toEqual(rows.map((row) => ({ ...row, input: null, output: null })));
}

export function send(store: Store, command: Command): Promise<Changed> {
  if (command.kind === "create") return store.executions.create(command.fresh, command.claimant);
  return store.executions.change(command.execution_id, command.decide, command.options);
}

export async function settled(promise: Promise<Changed>): Promise<unknown> {
  try {
    const { recorded_at: _, limited, ...changed } = await promise;
    const others = changed.others.map(({ row, events }) => ({ row, events }));
    return { ...changed, others, ...(limited && { limited: limited.reason }) };
  } catch (error) {
    return error instanceof EngineError ? error.code : error;
  }
}

export function expected(model: MemoryModel, command: Command): unknown {
  try {
    return command.kind === "create"
      ? model.create(command.fresh, command.claimant)
      : model.change(command.execution_id, command.decide, command.options);
  } catch (error) {
    return error instanceof EngineError ? error.code : error;
  }
}
