import type { NewEvent } from "@engine/contract";
import { MAX_EVENTS_IN_SEGMENT } from "../../log-page.ts";

/** Some events as JSON, without the brackets of a list. */
export interface EventTexts {
  readonly count: number;
  readonly text: string;
}

/** A row of the log: all events that one commit adds to an execution, up to a thousand. */
export interface Segment {
  readonly execution_id: string;
  readonly seq: number;
  readonly last_seq: number;
  readonly recorded_at: number;
  readonly events: string;
}

export function eventTexts(events: readonly NewEvent[]): readonly EventTexts[] {
  const texts: EventTexts[] = [];
  for (let first = 0; first < events.length; first += MAX_EVENTS_IN_SEGMENT) {
    const some = events.slice(first, first + MAX_EVENTS_IN_SEGMENT);
    texts.push({ count: some.length, text: JSON.stringify(some).slice(1, -1) });
  }
  return texts;
}

/** Puts the changes of one commit together: rows are what costs. */
export function segmentsOf(
  texts: readonly EventTexts[],
  at: { readonly execution_id: string; readonly head: number; readonly recorded_at: number },
): readonly Segment[] {
  const { execution_id, recorded_at } = at;
  const groups: EventTexts[][] = [];
  let room = 0;
  for (const one of texts) {
    if (one.count > room) {
      groups.push([]);
      room = MAX_EVENTS_IN_SEGMENT;
    }
    groups.at(-1)?.push(one);
    room -= one.count;
  }
  let seq = at.head + 1;
  return groups.map((group) => {
    const count = group.reduce((sum, one) => sum + one.count, 0);
    const events = `[${group.map(({ text }) => text).join(",")}]`;
    const segment = { execution_id, seq, last_seq: seq + count - 1, recorded_at, events };
    seq += count;
    return segment;
  });
}
