import {
  eventsOf,
  isNewestFirst,
  type MatchingEvents,
  type Segment,
  toEventPage,
} from "../log-page.ts";
import type { EventFilter, EventPage, LoggedEvent, LogPage, LogPort } from "../ports/log.ts";
import type { Database, Lane, Query, Statement } from "./database.ts";

/**
 * Only what names one of the types somewhere is taken apart: JSON.stringify wrote it. For a look at the
 * type, escapes that are no character of a text in PostgreSQL are left out of the event.
 */
const OF_TYPES = String.raw`
  FROM segments AS s, json_array_elements(s.events::json) WITH ORDINALITY AS e (value, place)
  WHERE s.execution_id = $1
    AND EXISTS (SELECT 1 FROM unnest($2::text[]) AS t (mark) WHERE strpos(s.events, t.mark) > 0)
    AND regexp_replace(e.value::text,
      '(\\\\)|\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\1', 'g')::json ->> 'type' = ANY($3::text[])`;
const COUNT_TYPES_SQL = `
  SELECT count(*), count(*) FILTER (WHERE s.seq + e.place - 1 <= $4) ${OF_TYPES}`;
const PAGE_OF_TYPES_SQL = `
  SELECT s.seq + e.place - 1, s.recorded_at, e.value::text ${OF_TYPES}
    AND s.last_seq > $4 AND s.seq + e.place - 1 > $4 ORDER BY s.seq, e.place LIMIT $5`;

/** Reads the logs of all executions: rows are segments, readers get events and never notice. */
export class EventLog implements LogPort {
  readonly #database: Database;
  readonly #ascending: Statement;
  readonly #descending: Statement;
  readonly #countTypes: Statement;
  readonly #pageOfTypes: Statement;

  constructor(database: Database) {
    this.#database = database;
    // Begins with the segment that holds the first event wanted, which may begin before it.
    this.#ascending = database.prepare(
      `SELECT seq, recorded_at, events FROM segments
       WHERE execution_id = $1 AND seq < $2 AND seq >= coalesce((
         SELECT seq FROM segments WHERE execution_id = $1 AND seq <= $3 ORDER BY seq DESC LIMIT 1
       ), 0)
       ORDER BY seq LIMIT $4`,
      "array",
    );
    this.#countTypes = database.prepare(COUNT_TYPES_SQL, "array");
    this.#pageOfTypes = database.prepare(PAGE_OF_TYPES_SQL, "array");
    this.#descending = database.prepare(
      `SELECT seq, recorded_at, events FROM segments
       WHERE execution_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`,
      "array",
    );
  }

  async ofTypes(execution_id: string, { types, after, limit }: EventFilter): Promise<EventPage> {
    const marks = types.map((type) => `"type":"${type}"`);
    const asked = [execution_id, marks, types, after] as const;
    const answers = await this.#database.readAll<unknown>(
      [this.#countTypes, ...asked],
      [this.#pageOfTypes, ...asked, limit],
    );
    return toEventPage(answers as unknown as MatchingEvents);
  }

  async read(execution_id: string, page: LogPage = {}): Promise<readonly LoggedEvent[]> {
    const [rows = []] = await this.#database.readAll<Segment>(this.#query(execution_id, page));
    return eventsOf(rows, page);
  }

  /** The same inside a transaction. */
  async readIn(lane: Lane, execution_id: string, page: LogPage): Promise<readonly LoggedEvent[]> {
    const [rows = []] = await lane.pipelined<Segment>(this.#query(execution_id, page));
    return eventsOf(rows, page);
  }

  #query(execution_id: string, page: LogPage): Query {
    const { after = 0, before = MAX_SEQ, limit = null } = page;
    return isNewestFirst(page)
      ? [this.#descending, execution_id, before, limit]
      : [this.#ascending, execution_id, before, after + 1, limit];
  }
}

/** The column's type ends here, and no log comes near. */
const MAX_SEQ = 2 ** 31 - 1;
