/** Deliveries of hooks, as rows that belong to events (HOOK-14). */
import { hash } from "node:crypto";
import {
  deliveriesOf,
  type EnvelopeOptions,
  envelopeTexts,
  type HookIndex,
} from "@engine/contract";
import type { EventRecord, EventRecords } from "../event-records.ts";

/**
 * Only hooks that are there and enabled in the transaction have one: to disable or to delete a hook takes
 * effect at once, however old the index is (HOOK-12).
 */
const INSERT = `
  INSERT INTO hook_deliveries (
    id, hook_id, hook, event_key, status, attempts, hop, selector, event_type, source_workflow,
    due_at, created_at, envelope)
  SELECT
    r.id, h.id, h.name, r.event_key, 'pending', 0, r.hop, r.selector, r.event_type,
    r.source_workflow, 0, r.created_at, r.envelope
  FROM records AS r JOIN hooks AS h ON h.id = r.hook_id AND h.enabled = 1
  WHERE true ON CONFLICT DO NOTHING`;

const NONE: readonly EventRecord[] = [];

/** @param index Asked for each change: the enabled hooks as they are known then. */
export function deliveryRecords(index: () => HookIndex, options: EnvelopeOptions): EventRecords {
  return {
    columns: {
      ...({ id: "text", hook_id: "text", hook: "text", event_key: "text" } as const),
      ...({ hop: "integer", selector: "text", event_type: "text" } as const),
      ...({ source_workflow: "text", created_at: "bigint", envelope: "text" } as const),
    },
    of: (change) => {
      const hooks = index();
      if (hooks.isEmpty) return NONE;
      const deliveries = deliveriesOf(change, hooks, sha256);
      if (deliveries.length === 0) return NONE;
      const envelopes = envelopeTexts(change, deliveries, options);
      return deliveries.map(({ event: _, ...delivery }, i): EventRecord => {
        const envelope = envelopes[i] ?? null;
        return { ...delivery, created_at: change.recorded_at, envelope };
      });
    },
    insert: INSERT,
  };
}

function sha256(text: string): string {
  return hash("sha256", text);
}
