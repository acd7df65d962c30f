import type { Event, NewEvent } from "@engine/contract";
import {
  eventsOf,
  isNewestFirst,
  MAX_EVENTS_IN_SEGMENT,
  type MatchingEvents,
  type Segment,
  toEventPage,
} from "../log-page.ts";
import type { EventFilter, EventPage, LoggedEvent, LogPage, LogPort } from "../ports/log.ts";
import type { Connection, Statement } from "./connection.ts";
import type { ListReader } from "./lists.ts";

// Only segments that name one of the types somewhere are taken apart: JSON.stringify wrote them.
const ASKED = "WITH asked (id, types, place) AS (SELECT ?, ?, ?)";
const OF_TYPES = `
  FROM asked CROSS JOIN segments AS s CROSS JOIN json_each(s.events) AS e
  WHERE s.execution_id = asked.id AND EXISTS (
      SELECT 1 FROM json_each(asked.types) AS t
      WHERE instr(s.events, '"type":"' || t.value || '"') > 0)
    AND e.value ->> '$.type' IN (SELECT value FROM json_each(asked.types))`;
const COUNT_TYPES_SQL = `${ASKED}
  SELECT count(*), count(*) FILTER (WHERE s.seq + e.key <= asked.place) ${OF_TYPES}`;
const PAGE_OF_TYPES_SQL = `${ASKED}
  SELECT s.seq + e.key, s.recorded_at, e.value ${OF_TYPES}
    AND s.last_seq > asked.place AND s.seq + e.key > asked.place
  ORDER BY s.seq, e.key LIMIT ?`;

/**
 * The logs of all executions. A row is a segment: the events of one change as one text, because
 * under load rows are what costs. Readers get events and never notice.
 */
export class EventLog implements LogPort {
  readonly #connection: Connection;
  readonly #lists: ListReader;
  readonly #insert: Statement<unknown>;
  readonly #ascending: Statement<Segment>;
  readonly #descending: Statement<Segment>;

  constructor(connection: Connection, lists: ListReader) {
    this.#connection = connection;
    this.#lists = lists;
    this.#insert = connection.prepare("INSERT INTO segments VALUES (?, ?, ?, ?, ?)");
    // Begins with the segment that holds the first event wanted, which may begin before it.
    this.#ascending = connection.prepareRaw(`
      SELECT seq, recorded_at, events FROM segments
      WHERE execution_id = ? AND seq < ? AND seq >= coalesce((
        SELECT seq FROM segments WHERE execution_id = ? AND seq <= ? ORDER BY seq DESC LIMIT 1
      ), 0)
      ORDER BY seq LIMIT ?`);
    this.#descending = connection.prepareRaw(`
      SELECT seq, recorded_at, events FROM segments
      WHERE execution_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`);
  }

  /** Writes events behind `head`. Belongs inside a transaction that writes the new head. */
  append(
    execution_id: string,
    head: number,
    events: readonly NewEvent[],
    at: number,
  ): readonly Event[] {
    if (events.length === 0) return [];
    for (let first = 0; first < events.length; first += MAX_EVENTS_IN_SEGMENT) {
      const last = Math.min(first + MAX_EVENTS_IN_SEGMENT, events.length);
      const text = JSON.stringify(
        events.length > last - first ? events.slice(first, last) : events,
      );
      this.#insert.run(execution_id, head + first + 1, head + last, at, text);
    }
    return events.map((event, i) => ({ ...event, seq: head + 1 + i }));
  }

  async ofTypes(execution_id: string, { types, after, limit }: EventFilter): Promise<EventPage> {
    const values = [execution_id, JSON.stringify(types), after];
    const answers = await this.#lists.read([
      { text: COUNT_TYPES_SQL, values },
      { text: PAGE_OF_TYPES_SQL, values: [...values, limit] },
    ]);
    return toEventPage(answers as unknown as MatchingEvents);
  }

  read(execution_id: string, page: LogPage = {}): Promise<readonly LoggedEvent[]> {
    return this.#connection.read(() => this.readIn(execution_id, page));
  }

  /** The same inside a transaction. */
  readIn(execution_id: string, page: LogPage): readonly LoggedEvent[] {
    const { after = 0, before = Number.MAX_SAFE_INTEGER, limit = -1 } = page;
    const segments = isNewestFirst(page)
      ? this.#descending.all(execution_id, before, limit)
      : this.#ascending.all(execution_id, before, execution_id, after + 1, limit);
    return eventsOf(segments, page);
  }
}
