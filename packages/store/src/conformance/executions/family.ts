/** Executions that call one another, made by the rules as a worker and a server would. */
import {
  type Checkpoint,
  decideCheckpoint,
  decideClaim,
  type ExecutionRow,
  encode,
  type Json,
  type NewEvent,
} from "@engine/contract";
import type { Changed } from "../../ports/executions.ts";
import type { Store } from "../../store.ts";
import { claimant, event, executionId, NOW, newExecution } from "../sample.ts";

/** Writes what the owner of an execution sends. */
export function checkpoint(
  store: Store,
  execution_id: string,
  sent: (row: ExecutionRow) => Pick<Checkpoint, "events" | "state" | "waiting">,
  childOf?: (row: ExecutionRow) => Parameters<typeof newExecution>,
): Promise<Changed> {
  return store.executions.change(execution_id, (row, _, findKept) => {
    const { session, generation, head } = row;
    const item = { generation, base_seq: head, ...sent(row) };
    const calls = new Map(
      childOf ? [[CALL, { kind: "child", fresh: newExecution(...childOf(row)) }] as const] : [],
    );
    const sender = { session: session ?? "", now: NOW, cancel_timeout_ms: 30_000, calls, findKept };
    const verdict = decideCheckpoint(row, item, sender, []);
    if (verdict.kind === "refuse") throw verdict.error;
    return verdict.kind === "append" ? verdict : undefined;
  });
}

/** The `task_call_id` of every parent's call. */
export const CALL = "call~1";

/** Claims an execution and begins it, or goes on with it. */
export async function run(store: Store, execution_id: string): Promise<Changed> {
  await store.executions.change(execution_id, (row) => decideClaim(row, claimant));
  return checkpoint(store, execution_id, (row) => ({
    state: "RUNNING",
    events: [event(row.resuming ? "WORKFLOW_RESUMED" : "WORKFLOW_STARTED", row.execution_id)],
  }));
}

export async function startRunning(store: Store, n: number): Promise<string> {
  await store.executions.create(newExecution(n));
  await run(store, executionId(n));
  return executionId(n);
}

/** A running execution calls a new one and parks until that has ended. */
export function callChild(
  store: Store,
  parent_id: string,
  n: number,
  { detach = false }: { readonly detach?: boolean } = {},
): Promise<Changed> {
  const waiting = [{ kind: "child" as const, task_call_id: CALL, name: "default/hello" }];
  return checkpoint(
    store,
    parent_id,
    () => ({ state: "RUNNING", events: [callStart(detach)], waiting }),
    ({ execution_id, depth }) => [
      n,
      { parent: { execution_id, depth, call_id: CALL, detached: detach } },
    ],
  );
}

export function callStart(detach: boolean): NewEvent {
  const value = encode({ workflow: "default/hello", wait: true, detach }, "value");
  return { ...event("TASK_STARTED", CALL, value), name: "call", kind: "call" };
}

export function complete(store: Store, execution_id: string, output: Json): Promise<Changed> {
  return checkpoint(store, execution_id, () => ({
    state: "COMPLETED",
    events: [event("WORKFLOW_COMPLETED", execution_id, output)],
  }));
}
