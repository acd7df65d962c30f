import type { Event, NewEvent } from "@engine/contract";
import type { EventFilter, EventPage, LoggedEvent, LogPage, LogPort } from "../ports/log.ts";
import type { Connection, Statement } from "./connection.ts";
import type { ListReader } from "./list-query.ts";

/** Long changes, such as a fork's copy, are cut: a page reads whole segments. */
const MAX_EVENTS_IN_SEGMENT = 1_000;

type Found = readonly [seq: number, recorded_at: number, event: string];

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

type Segment = readonly [seq: number, recorded_at: number, events: string];

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
    const asked = [execution_id, JSON.stringify(types), after];
    const [[counted = []] = [], rows = []] = await this.#lists.read([
      { sql: COUNT_TYPES_SQL, values: asked },
      { sql: PAGE_OF_TYPES_SQL, values: [...asked, limit] },
    ]);
    const [total, before] = counted as readonly number[];
    const items = (rows as unknown as readonly Found[]).map(([seq, recorded_at, text]) => ({
      event: { ...(JSON.parse(text) as NewEvent), seq },
      recorded_at,
    }));
    return { items, total: total ?? 0, before: before ?? 0 };
  }

  read(execution_id: string, page: LogPage = {}): Promise<readonly LoggedEvent[]> {
    return this.#connection.read(() => this.readIn(execution_id, page));
  }

  /** The same inside a transaction. A segment holds one event at least: `limit` of them hold enough. */
  readIn(execution_id: string, page: LogPage): readonly LoggedEvent[] {
    const { after, before = Number.MAX_SAFE_INTEGER, limit } = page;
    const segments =
      after === undefined && limit !== undefined
        ? this.#descending.all(execution_id, before, limit).reverse()
        : this.#ascending.all(execution_id, before, execution_id, (after ?? 0) + 1, limit ?? -1);
    const events = segments
      .flatMap(eventsOf)
      .filter(({ event }) => event.seq > (after ?? 0) && event.seq < before);
    if (limit === undefined) return events;
    const newest = Math.max(events.length - limit, 0);
    return after === undefined ? events.slice(newest) : events.slice(0, limit);
  }
}

function eventsOf([seq, recorded_at, text]: Segment): LoggedEvent[] {
  const events: NewEvent[] = JSON.parse(text);
  return events.map((event, i) => ({ event: { ...event, seq: seq + i }, recorded_at }));
}
