import type { Event, EventType } from "@engine/contract";
import type { Entry } from "./outbox.ts";

/** JSON null, stored: the value of an event that has none. */
export const STORED_NULL = "null";

/**
 * The text of an event up to its value.
 *
 * @param source The part that is the same in all events of its source.
 */
export function headOf(type: EventType, source: string): string {
  return `{"type":"${type}",${source},"value":`;
}

/** No event: it says that the execution is parked, and for what beside the waits of its log. */
export function parkedEntry(of: Pick<Entry, "source_id" | "waiting" | "onDurable">): Entry {
  const nothing = { type: undefined, head: "", value: "", time: "", meta: undefined };
  return { ...of, ...nothing, isLarge: false, state: "RUNNING" };
}

interface Resumed {
  readonly source: string;
  readonly source_id: string;
  readonly time: string;
  /** What gave the copy its new claim. */
  readonly events: readonly Event[];
}

/** WORKFLOW_RESUMED of a copy that goes on under a new claim. */
export function resumedEntry({ events, source, source_id, time }: Resumed): Entry {
  const resuming = events.findLast(({ type }) => type === "WORKFLOW_RESUMING");
  const type = "WORKFLOW_RESUMED";
  return {
    type,
    source_id,
    head: headOf(type, source),
    value: JSON.stringify(resuming?.value ?? null),
    time,
    meta: { cause: resuming?.meta?.["cause"] ?? "recover" },
    isLarge: false,
  };
}
