import type { Event, EventType } from "@engine/contract";
import type { Entry } from "./outbox.ts";

/** JSON null, stored: the value of an event that has none. */
export const STORED_NULL = "null";

interface EntryOf extends Omit<Entry, "type" | "head" | "meta" | "isLarge"> {
  readonly type: EventType;
  /** The part of the event that is the same in all events of its source, as JSON text. */
  readonly source: string;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  readonly isLarge?: boolean;
}

/** An event as the outbox keeps it: as text, of which only the value may still change. */
export function eventEntry({ source, meta, isLarge = false, ...rest }: EntryOf): Entry {
  return { ...rest, head: `{"type":"${rest.type}",${source},"value":`, meta, isLarge };
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
export function resumedEntry({ events, ...of }: Resumed): Entry {
  const resuming = events.findLast(({ type }) => type === "WORKFLOW_RESUMING");
  return eventEntry({
    ...of,
    type: "WORKFLOW_RESUMED",
    value: resuming ? JSON.stringify(resuming.value) : STORED_NULL,
    meta: { cause: resuming?.meta?.["cause"] ?? "recover" },
  });
}
