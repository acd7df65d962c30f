/** Pages of a log, whose rows are segments: the events of one change as one text. */
import type { NewEvent } from "@engine/contract";
import type { EventPage, LoggedEvent, LogPage } from "./ports/log.ts";

/** Long changes, such as a fork's copy, are cut: a page reads whole segments. */
export const MAX_EVENTS_IN_SEGMENT = 1_000;

/** `seq` is that of the first event. */
export type Segment = readonly [seq: number, recorded_at: number, events: string];

export function isNewestFirst({ after, limit }: LogPage): boolean {
  return after === undefined && limit !== undefined;
}

/** A segment holds one event at least, so `limit` of them hold enough. */
export function eventsOf(segments: readonly Segment[], page: LogPage): readonly LoggedEvent[] {
  const { after = 0, before = Number.POSITIVE_INFINITY, limit } = page;
  const events = (isNewestFirst(page) ? segments.toReversed() : segments)
    .flatMap(([seq, recorded_at, text]) => {
      const parsed: NewEvent[] = JSON.parse(text);
      return parsed.map((event, i) => ({ event: { ...event, seq: seq + i }, recorded_at }));
    })
    .filter(({ event }) => event.seq > after && event.seq < before);
  if (limit === undefined) return events;
  return isNewestFirst(page)
    ? events.slice(Math.max(events.length - limit, 0))
    : events.slice(0, limit);
}

/** The answers to a count of the events that match, in all and before the page, and to the page. */
export type MatchingEvents = readonly [
  [readonly [total: number, before: number]],
  readonly (readonly [seq: number, recorded_at: number, event: string])[],
];

export function toEventPage([[[total, before]], rows]: MatchingEvents): EventPage {
  const items = rows.map(([seq, recorded_at, text]) => {
    const event: NewEvent = JSON.parse(text);
    return { event: { ...event, seq }, recorded_at };
  });
  return { items, total, before };
}
