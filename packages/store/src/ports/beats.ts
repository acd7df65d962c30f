import {
  type Desk,
  type Operation,
  type Operations,
  run,
  writesInSteps,
} from "../operations/operation.ts";
import { raw, rowsOf, type Sql, sql } from "../operations/sql.ts";
import type { SaidByWorker } from "../session-record.ts";

/** What a worker said of itself last. */
export interface Beat {
  readonly session_id: string;
  /** When anything was heard of it, by the clock of the server that heard it. */
  readonly at: number;
  /** Its newest heartbeat; left out when it only made other requests. */
  readonly said?: SaidByWorker;
}

/** What is heard of sessions, apart from what they are: it is written often. */
export interface BeatPort {
  /** Notes what was heard of sessions, all in one statement. */
  note(beats: readonly Beat[]): Promise<void>;
}

export const BEATS: Operations<BeatPort> = {
  note: writesInSteps(async (desk: Desk, beats) => {
    if (beats.length > 0) await desk.writeOnce(() => note(beats));
  }),
};

function note(beats: readonly Beat[]): Operation<void> {
  const heard = newestOf(beats).map(({ session_id, at, said }) => ({
    session_id,
    seen_at: at,
    said_at: said ? at : null,
    said: said ? JSON.stringify(said) : null,
  }));
  // In one order: two servers that have heard of the same sessions do not wait for each other.
  return run(sql`
    INSERT INTO session_beats AS b (session_id, seen_at, said_at, said)
    SELECT session_id, seen_at, said_at, said FROM ${rowsOf(HEARD, heard)}
    WHERE EXISTS (
      SELECT 1 FROM sessions AS s WHERE s.session_id = r.session_id AND ended_at IS NULL)
    ORDER BY session_id
    ON CONFLICT (session_id) DO UPDATE SET
      seen_at = CASE WHEN ${IS_SEEN} THEN excluded.seen_at ELSE b.seen_at END,
      said_at = CASE WHEN ${IS_SAID} THEN excluded.said_at ELSE b.said_at END,
      said = CASE WHEN ${IS_SAID} THEN excluded.said ELSE b.said END`);
}

const HEARD = { session_id: "text", seen_at: "bigint", said_at: "bigint", said: "text" } as const;

/** What one server heard comes no later than this after what another one heard before it. */
const LATEST_BEAT_MS = 60_000;

const IS_SEEN = isNews("seen_at");
const IS_SAID = isNews("said_at");

/**
 * Whether a beat changes what is kept: not when it comes late. One that is older by more than any delay
 * is of a clock that was set back.
 */
function isNews(column: string): Sql {
  const [fresh, kept] = [`excluded.${column}`, `b.${column}`];
  return raw(`(${fresh} >= coalesce(${kept}, 0) OR ${fresh} < ${kept} - ${LATEST_BEAT_MS})`);
}

/** One statement can write a row only once. */
function newestOf(beats: readonly Beat[]): readonly Beat[] {
  const merged = new Map<string, Beat>();
  for (const beat of [...beats].sort((a, b) => a.at - b.at)) {
    merged.set(beat.session_id, { ...merged.get(beat.session_id), ...beat });
  }
  return [...merged.values()];
}
