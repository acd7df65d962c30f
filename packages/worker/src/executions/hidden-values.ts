import { revealed, type SentEvent } from "@engine/contract";

/** Servers before it know of no values that are hidden. */
const FIRST_WITH_HIDDEN = 2;

/** Whether a server keeps what nobody may read apart from what is shown (SEC-9). */
export function canHide(protocol: number): boolean {
  return protocol >= FIRST_WITH_HIDDEN;
}

/**
 * The events of a delta as a server takes them. One that is too old would drop what is hidden, and a
 * replay would give code the marker: it gets the values as they are, and keeps them as it always did.
 */
export function eventsFor(protocol: number, events: string): string {
  if (canHide(protocol) || !events.includes('"hidden":')) return events;
  return JSON.stringify((JSON.parse(events) as SentEvent[]).map(revealed));
}
