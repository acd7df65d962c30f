import { EngineError } from "@engine/contract";
import type { NewSession, OpenedSession, SessionRow } from "../store.ts";
import type { Database, Lane, Parameter, Statement } from "./database.ts";
import type { Serial } from "./serial.ts";

type StoredSession = Omit<SessionRow, "labels" | "runners"> & {
  readonly labels: string;
  readonly runners: string;
};

const COLUMNS = [
  "session_id",
  "token_hash",
  "worker",
  "instance_id",
  "host",
  "pid",
  "labels",
  "slots",
  "runners",
  "default_runner",
  "created_at",
  "last_seen_at",
  "ended_at",
  "end_reason",
] as const;

/** The sessions of workers: one process life each, one live one per name, on any replica. */
export class Sessions {
  readonly #database: Database;
  readonly #writes: Serial;
  readonly #clock: () => number;
  readonly #lock: Statement;
  readonly #known: Statement;
  readonly #live: Statement;
  readonly #insert: Statement;
  readonly #continue: Statement;
  readonly #end: Statement;
  readonly #touch: Statement;
  readonly #bySecret: Statement;
  readonly #allLive: Statement;

  constructor(database: Database, writes: Serial, clock: () => number) {
    this.#database = database;
    this.#writes = writes;
    this.#clock = clock;
    const select = `SELECT ${COLUMNS.join(", ")} FROM sessions`;
    this.#lock = database.prepare(
      "SELECT pg_advisory_xact_lock(hashtextextended('engine worker ' || $1, 0))",
    );
    this.#known = database.prepare("SELECT 1 FROM sessions WHERE worker = $1 LIMIT 1");
    this.#live = database.prepare(`${select} WHERE worker = $1 AND ended_at IS NULL`);
    const parameters = COLUMNS.map((_, i) => `$${i + 1}`).join(", ");
    this.#insert = database.prepare(
      `INSERT INTO sessions (${COLUMNS.join(", ")}) VALUES (${parameters})`,
    );
    this.#continue = database.prepare(`
      UPDATE sessions SET token_hash = $1, host = $2, pid = $3, slots = $4, runners = $5,
        default_runner = $6, last_seen_at = $7 WHERE session_id = $8`);
    this.#end = database.prepare(`
      UPDATE sessions SET ended_at = $1, end_reason = $2
      WHERE session_id = $3 AND ended_at IS NULL`);
    // Locked in order first: two replicas may hear of the same sessions.
    this.#touch = database.prepare(`
      WITH heard AS (
        SELECT session_id FROM sessions WHERE session_id = ANY($2) AND ended_at IS NULL
        ORDER BY session_id FOR NO KEY UPDATE
      )
      UPDATE sessions AS s SET last_seen_at = greatest(s.last_seen_at, $1)
      FROM heard WHERE s.session_id = heard.session_id`);
    this.#bySecret = database.prepare(`
      ${select} WHERE worker = $1 AND token_hash = $2
      ORDER BY (ended_at IS NULL) DESC, created_at DESC LIMIT 1`);
    this.#allLive = database.prepare(`${select} WHERE ended_at IS NULL ORDER BY worker`);
  }

  open(fresh: NewSession): Promise<OpenedSession> {
    return this.#writes.write(() =>
      this.#database.transaction(async (lane) => {
        // Registrations of one name follow each other, whichever replica they come to.
        await lane.pipelined([this.#lock, fresh.worker]);
        const [known = [], live = []] = await lane.pipelined<StoredSession>(
          [this.#known, fresh.worker],
          [this.#live, fresh.worker],
        );
        const at = this.#clock();
        const is_new_worker = known.length === 0;
        const earlier = live[0] && toSession(live[0]);
        if (earlier?.instance_id === fresh.instance_id) {
          const session = await this.#goOn(lane, earlier, fresh, at);
          return { session, is_new_worker, continued: true, superseded: undefined };
        }
        if (earlier) await lane.pipelined([this.#end, at, "superseded", earlier.session_id]);
        const session: SessionRow = {
          ...fresh,
          created_at: at,
          last_seen_at: at,
          ended_at: null,
          end_reason: null,
        };
        const values = COLUMNS.map((column) => parameter(session[column]));
        await lane.pipelined([this.#insert, ...values]);
        const end = { ended_at: at, end_reason: "superseded" as const };
        const superseded = earlier && { ...earlier, ...end };
        return { session, is_new_worker, continued: false, superseded };
      }),
    );
  }

  async findBySecret(worker: string, token_hash: string): Promise<SessionRow | undefined> {
    const [row] = await this.#database.read<StoredSession>(this.#bySecret, worker, token_hash);
    return row && toSession(row);
  }

  async listLive(): Promise<readonly SessionRow[]> {
    const rows = await this.#database.read<StoredSession>(this.#allLive);
    return rows.map(toSession);
  }

  async end(session_id: string, reason: "lost" | "disconnected"): Promise<void> {
    await this.#writes.write(() =>
      this.#database.write(this.#end, this.#clock(), reason, session_id),
    );
  }

  async touch(session_ids: readonly string[], at: number): Promise<void> {
    if (session_ids.length === 0) return;
    await this.#writes.write(() => this.#database.write(this.#touch, at, session_ids));
  }

  /** The same process again (WRK-4): what it may have changed is taken over, its labels may not. */
  async #goOn(lane: Lane, earlier: SessionRow, fresh: NewSession, at: number): Promise<SessionRow> {
    if (!sameLabels(earlier.labels, fresh.labels)) {
      throw new EngineError(
        "labels_immutable",
        `worker ${fresh.worker} has registered with other labels; restart it to change them`,
        { details: { labels: earlier.labels } },
      );
    }
    const { token_hash, host, pid, slots, runners, default_runner } = fresh;
    const { session_id } = earlier;
    await lane.pipelined([
      this.#continue,
      token_hash,
      host,
      pid,
      slots,
      parameter(runners),
      default_runner,
      at,
      session_id,
    ]);
    return { ...earlier, ...fresh, session_id, last_seen_at: at };
  }
}

type Labels = Readonly<Record<string, string>>;

function sameLabels(a: Labels, b: Labels): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

function parameter(value: SessionRow[(typeof COLUMNS)[number]]): Parameter {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

function toSession(row: StoredSession): SessionRow {
  return { ...row, labels: JSON.parse(row.labels), runners: JSON.parse(row.runners) };
}
