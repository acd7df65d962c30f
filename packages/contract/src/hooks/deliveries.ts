/** Which deliveries a commit yields (HOOK-14). */
import type { ExecutionRow } from "../executions/execution-row.ts";
import type { Event } from "../log/event.ts";
import { deliveryId, eventKey, type Sha256 } from "./hook-ids.ts";
import type { HookIndex } from "./hook-index.ts";
import { type HookLineage, hopAfter } from "./lineage.ts";
import { eventSegment } from "./vocabulary.ts";

/** An execution whose events may fire hooks. */
export type HookedExecution = Pick<
  ExecutionRow,
  "execution_id" | "namespace" | "workflow" | "state" | "forked_from"
> & {
  /** The hook behind it, which decides the hop of its deliveries. */
  readonly hook: Pick<HookLineage, "hop"> | null;
};

/** Events of one execution that are committed together. */
export interface HookedChange {
  /** As the change leaves it. */
  readonly row: HookedExecution;
  readonly events: readonly Event[];
  /** When they are committed, milliseconds since 1970. */
  readonly recorded_at: number;
}

/** A delivery that is to be written beside its event. */
export interface DeliveryDraft {
  readonly id: string;
  readonly hook_id: string;
  /** The hook's name. */
  readonly hook: string;
  readonly event_key: string;
  /** `event.type` of the envelope: the last segment of the event's key. */
  readonly event_type: string;
  /** `<namespace>/<name>` of the workflow whose event it is. */
  readonly source_workflow: string;
  /** The selector that matched. */
  readonly selector: string;
  readonly hop: number;
  /** The event itself, for its envelope. */
  readonly event: Event;
}

/**
 * The deliveries that a change yields: of each event one for each hook that it fires, in the order of the
 * events and then of the hooks.
 */
export function deliveriesOf(
  { row, events, recorded_at }: HookedChange,
  index: HookIndex,
  sha256: Sha256,
): readonly DeliveryDraft[] {
  if (index.isEmpty) return NONE;
  const copied = copiedUpTo(row);
  const { execution_id, namespace, workflow } = row;
  let drafts: DeliveryDraft[] | undefined;
  for (const event of events) {
    if (event.seq > 1 && event.seq <= copied) continue;
    const kind = eventSegment(event.type);
    // Most events are of a kind that no hook asks for.
    if (!index.asksFor(kind)) continue;
    const names =
      kind.domain === "task" ? [namespace, workflow, event.name] : [namespace, workflow];
    const event_key = eventKey(execution_id, event.seq);
    for (const { hook, selector } of index.match({ ...kind, names })) {
      drafts ??= [];
      drafts.push({
        id: deliveryId({ hook_id: hook.id, event_key, recorded_at }, sha256),
        hook_id: hook.id,
        hook: hook.name,
        event_key,
        event_type: kind.segment,
        source_workflow: `${namespace}/${workflow}`,
        selector,
        hop: hopAfter(row.hook),
        event,
      });
    }
  }
  return drafts ?? NONE;
}

const NONE: readonly DeliveryDraft[] = [];

/**
 * The last event that a fork has from its source; its own WORKFLOW_CREATED, the first, is no copy. One
 * that no worker can ever have has failed in its first commit and copied nothing, and copies hold no end.
 */
function copiedUpTo({ forked_from, state }: HookedExecution): number {
  return forked_from === null || state === "FAILED" ? 0 : forked_from.seq;
}
