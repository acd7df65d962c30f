import type { SseFrame } from "@engine/contract";
import type { LongFrame } from "@engine/http";
import { printed } from "@engine/http/json";
import type { LoggedEvent } from "@engine/store";
import { weightOf } from "./log-pages.ts";
import type { FrameData } from "./record.ts";

/** A record whose events are larger than this is sent while they are read. */
const MOST_BYTES = 256 * 1024;

/**
 * The frame of a record with its events, which are read when the frame is sent. A short log is part of
 * the frame; a long one is sent page after page, so that the server never holds all of it.
 *
 * @param frame Its `data` is the record without events.
 * @param log The events that the record has, page by page.
 */
export async function detailedFrame(
  frame: SseFrame & { readonly data: object },
  log: AsyncGenerator<readonly LoggedEvent[], void>,
  { event: eventOf }: Pick<FrameData, "event">,
): Promise<SseFrame | LongFrame> {
  const first: LoggedEvent[] = [];
  for (let bytes = 0; bytes <= MOST_BYTES; ) {
    const page = await log.next();
    if (page.done) {
      return { ...frame, data: { ...frame.data, events: first.map(eventOf) } };
    }
    first.push(...page.value);
    for (const { event } of page.value) bytes += weightOf(event.value);
  }
  return { ...frame, pieces: pieces(frame.data) };

  async function* pieces(record: object): AsyncGenerator<string, void, undefined> {
    // The events go in at the end of the record, before its last brackets.
    const head = printed({ ...record, events: [] });
    let last = "";
    for await (const piece of typeof head === "string" ? [head] : head) {
      yield last;
      last = piece;
    }
    yield last.slice(0, -"]}".length);
    yield textOf(first);
    for await (const page of log) yield `,${textOf(page)}`;
    yield "]}";
  }

  /** The items of a list, without its brackets. */
  function textOf(events: readonly LoggedEvent[]): string {
    return JSON.stringify(events.map(eventOf)).slice(1, -1);
  }
}
