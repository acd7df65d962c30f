import type { SseFrame } from "@engine/contract";
import type { LongFrame } from "@engine/http";
import { printed } from "@engine/http/json";
import type { LoggedEvent } from "@engine/store";
import { type LogPages, weightOf } from "./log-pages.ts";
import { toRecordedEvent } from "./record.ts";

/** A record with more events than this is sent while it is read. */
const MOST_BYTES = 256 * 1024;

/**
 * The frame of a record with its events, read from the store when it is sent. A short log comes with
 * the frame; of a long one the reader takes page after page, and nobody has to hold it.
 *
 * @param frame Its `data` is the record without events.
 * @param head The last event that the record has.
 */
export async function detailedFrame(
  frame: SseFrame,
  head: number,
  pages: LogPages,
): Promise<SseFrame | LongFrame> {
  const log = pages.between(0, head);
  const first: LoggedEvent[] = [];
  for (let bytes = 0; bytes <= MOST_BYTES; ) {
    const page = await log.next();
    if (page.done) {
      return { ...frame, data: { ...(frame.data as object), events: first.map(toRecordedEvent) } };
    }
    first.push(...page.value);
    for (const { event } of page.value) bytes += weightOf(event.value);
  }
  return { ...frame, pieces: pieces(frame.data as object, first, log) };
}

async function* pieces(
  record: object,
  first: readonly LoggedEvent[],
  rest: AsyncIterable<readonly LoggedEvent[]>,
): AsyncGenerator<string, void, undefined> {
  // Where its end is, the events go in.
  const head = printed({ ...record, events: [] });
  let last = "";
  for await (const piece of typeof head === "string" ? [head] : head) {
    yield last;
    last = piece;
  }
  yield last.slice(0, -"]}".length);
  yield textOf(first);
  for await (const page of rest) yield `,${textOf(page)}`;
  yield "]}";
}

/** The items of a list, without its brackets. */
function textOf(events: readonly LoggedEvent[]): string {
  return JSON.stringify(events.map(toRecordedEvent)).slice(1, -1);
}
