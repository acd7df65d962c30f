import { EngineError } from "@engine/contract";
import type { NewSession, OpenedSession, SessionRow } from "../store.ts";
import type { Bindable, Connection, Statement } from "./connection.ts";
import type { GroupCommit } from "./group-commit.ts";

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

/** The sessions of workers: one process life each, one live one per name. */
export class Sessions {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #known: Statement<unknown>;
  readonly #live: Statement<StoredSession>;
  readonly #insert: Statement<unknown>;
  readonly #continue: Statement<unknown>;
  readonly #end: Statement<unknown>;
  readonly #touch: Statement<unknown>;
  readonly #bySecret: Statement<StoredSession>;

  constructor(connection: Connection, commits: GroupCommit) {
    this.#connection = connection;
    this.#commits = commits;
    const select = `SELECT ${COLUMNS.join(", ")} FROM sessions WHERE worker = ?`;
    this.#known = connection.prepare("SELECT 1 FROM sessions WHERE worker = ? LIMIT 1");
    this.#live = connection.prepare(`${select} AND ended_at IS NULL`);
    this.#insert = connection.prepare(
      `INSERT INTO sessions (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})`,
    );
    this.#continue = connection.prepare(`
      UPDATE sessions SET token_hash = ?, host = ?, pid = ?, slots = ?, runners = ?,
        default_runner = ?, last_seen_at = ? WHERE session_id = ?`);
    this.#end = connection.prepare(`
      UPDATE sessions SET ended_at = ?, end_reason = ? WHERE session_id = ? AND ended_at IS NULL`);
    this.#touch = connection.prepare(`
      UPDATE sessions SET last_seen_at = max(last_seen_at, ?)
      WHERE session_id IN (SELECT value FROM json_each(?)) AND ended_at IS NULL`);
    this.#bySecret = connection.prepare(
      `${select} AND token_hash = ? ORDER BY ended_at IS NULL DESC, created_at DESC LIMIT 1`,
    );
  }

  open(fresh: NewSession): Promise<OpenedSession> {
    return this.#commits.write((at) => {
      const is_new_worker = this.#known.get(fresh.worker) === undefined;
      const stored = this.#live.get(fresh.worker);
      const earlier = stored && toSession(stored);
      if (earlier?.instance_id === fresh.instance_id) {
        const session = this.#goOn(earlier, fresh, at);
        return { session, is_new_worker, continued: true, superseded: undefined };
      }
      if (earlier) this.#end.run(at, "superseded", earlier.session_id);
      const session: SessionRow = {
        ...fresh,
        created_at: at,
        last_seen_at: at,
        ended_at: null,
        end_reason: null,
      };
      this.#insert.run(...COLUMNS.map((column) => bindable(session[column])));
      const superseded = earlier && { ...earlier, ended_at: at, end_reason: "superseded" as const };
      return { session, is_new_worker, continued: false, superseded };
    });
  }

  findBySecret(worker: string, token_hash: string): Promise<SessionRow | undefined> {
    return this.#connection.read(() => {
      const row = this.#bySecret.get(worker, token_hash);
      return row && toSession(row);
    });
  }

  listLive(): Promise<readonly SessionRow[]> {
    return this.#connection.read(() =>
      this.#connection
        .prepareOnce<StoredSession>(
          `SELECT ${COLUMNS.join(", ")} FROM sessions WHERE ended_at IS NULL ORDER BY worker`,
        )
        .all()
        .map(toSession),
    );
  }

  end(session_id: string, reason: "lost" | "disconnected"): Promise<void> {
    return this.#commits.write((at) => {
      this.#end.run(at, reason, session_id);
    });
  }

  async touch(session_ids: readonly string[], at: number): Promise<void> {
    if (session_ids.length === 0) return;
    await this.#commits.write(() => this.#touch.run(at, JSON.stringify(session_ids)));
  }

  /** The same process again (WRK-4): what it may have changed is taken over, its labels may not. */
  #goOn(earlier: SessionRow, fresh: NewSession, at: number): SessionRow {
    if (!sameLabels(earlier.labels, fresh.labels)) {
      throw new EngineError(
        "labels_immutable",
        `worker ${fresh.worker} has registered with other labels; restart it to change them`,
        { details: { labels: earlier.labels } },
      );
    }
    const { token_hash, host, pid, slots, runners, default_runner } = fresh;
    this.#continue.run(
      token_hash,
      host,
      pid,
      slots,
      bindable(runners),
      default_runner,
      at,
      earlier.session_id,
    );
    return { ...earlier, ...fresh, session_id: earlier.session_id, last_seen_at: at };
  }
}

type Labels = Readonly<Record<string, string>>;

function sameLabels(a: Labels, b: Labels): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

function bindable(value: SessionRow[(typeof COLUMNS)[number]]): Bindable {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

function toSession(row: StoredSession): SessionRow {
  return { ...row, labels: JSON.parse(row.labels), runners: JSON.parse(row.runners) };
}
