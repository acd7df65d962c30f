/** A hook, what it was told of and what it has started, as all of it should be. */

import { hash } from "node:crypto";
import { deliveryId, type ExecutionRow, hookExecutionId, type Json } from "@engine/contract";
import type { FullDelivery, HookRow } from "@engine/store";
import type { Evidence, HookWritten } from "../../evidence.ts";
import { broken, type Draft } from "./sample-evidence.ts";
import { BEGAN, claim, type Told, told } from "./told.ts";

const sha256 = (text: string) => hash("sha256", text);

const HOOK: HookRow = {
  ...{ id: "h1", name: "page", enabled: true, selectors: ["execution:*:program:completed"] },
  ...{ workflow: "default/hooked_program", principal: "somebody", max_attempts: 5 },
  ...{ owner_type: "user", owner_ref: null, created_by: null, updated_by: null },
  ...{ created_at: BEGAN, updated_at: BEGAN, revision: 1 },
};

/** As a write has left it, at a moment. */
export function written(moment: number, over: Partial<HookRow> | null): HookWritten {
  const at = BEGAN + moment;
  const row = over && { ...HOOK, ...over };
  return { at, span: { began: at, settled: at }, hook_id: "h1", name: "page", row };
}

/** When the first execution of the sample completes, and by which event. */
export const COMPLETED_AT = 64_020;
const EVENT_KEY = "e1:22";

const ID = deliveryId(
  { hook_id: "h1", event_key: EVENT_KEY, recorded_at: BEGAN + COMPLETED_AT },
  sha256,
);
export const TARGET: string = hookExecutionId(ID, sha256);

export const ENVELOPE: Json = {
  ...{ hook: "page", selector: "execution:*:program:completed", delivery_id: ID },
  ...{ event_key: EVENT_KEY, attempt: 1, hop: 0 },
  event: { domain: "execution", type: "completed", execution_id: "e1" },
};

const DELIVERY: FullDelivery = {
  ...{ id: ID, hook_id: "h1", hook: "page", event_key: EVENT_KEY, status: "delivered" },
  ...{ attempts: 1, hop: 0, selector: "execution:*:program:completed", event_type: "completed" },
  ...{ source_workflow: "default/program", source_execution_id: "e1", execution_id: TARGET },
  ...{ error: null, dead_reason: null, next_attempt_at: null },
  ...{ created_at: BEGAN + COMPLETED_AT, settled_at: BEGAN + COMPLETED_AT + 10 },
  envelope: JSON.stringify(ENVELOPE),
};

/** What the hook has started, at a moment. */
export function target(execution_id: string, over: Partial<ExecutionRow> = {}): Told {
  const created = [
    "WORKFLOW_CREATED",
    undefined,
    { version: 1, trigger: { kind: "hook" } },
  ] as const;
  const commit = { at: COMPLETED_AT + 10, state: "CLAIMED", owned: true } as const;
  return told(execution_id, ENVELOPE, {
    commits: [{ ...commit, events: [created, claim(1, "start")] }],
    over: {
      workflow: "hooked_program",
      hook: { name: "page", delivery_id: ID, hop: 0 },
      ...over,
    },
  });
}

/** The sample of a run in which the hook was made at the beginning, with something in it that must not be. */
export function hooked(edit: (evidence: Draft<Evidence>) => void = () => {}): Evidence {
  return broken((evidence) => {
    const { execution, commits } = target(TARGET);
    evidence.hooks.push(written(1, {}) as never);
    evidence.deliveries.push({ ...DELIVERY } as never);
    evidence.executions.push(execution as never);
    evidence.commits.push(...(commits as never[]));
    edit(evidence);
  });
}
