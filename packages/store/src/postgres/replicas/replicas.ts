import type { EpochName, Epochs } from "../../ports/epochs.ts";
import type { Leadership, ReplicaPort, ReplicaRow } from "../../ports/replicas.ts";
import type { Database, Statement } from "../database.ts";
import type { PostgresTarget } from "../postgres-url.ts";
import { Serial } from "../serial.ts";
import { Leaderships } from "./leadership.ts";
import { News, type NewsListener } from "./news.ts";
import { SessionConnection } from "./session-connection.ts";

/**
 * The servers on the database, which stamps their signs of life by its own clock: theirs may differ.
 * What they say to each other, and which of them leads, goes by a connection of its own.
 */
export class Replicas implements ReplicaPort {
  readonly #database: Database;
  readonly #news: News;
  readonly #leaderships = new Leaderships();
  readonly #session: SessionConnection;
  readonly #writes = new Serial();
  readonly #note: Statement;
  readonly #remove: Statement;

  constructor(database: Database, target: PostgresTarget, warn: (message: string) => void) {
    this.#database = database;
    this.#news = new News(database, warn);
    this.#session = new SessionConnection(target, {
      connected: async (client) => {
        if (!this.#news.isWanted) return;
        await this.#news.listen(client);
        this.#news.missed();
      },
      notified: (message) => this.#news.notified(message),
      lost: () => this.#leaderships.lost(),
    });
    this.#note = database.prepare(`
      WITH noted AS (
        INSERT INTO replicas (replica, seen_at) VALUES ($1, now())
        ON CONFLICT (replica) DO UPDATE SET seen_at = excluded.seen_at
      ), forgotten AS (
        DELETE FROM replicas WHERE replica IN (
          SELECT replica FROM replicas WHERE seen_at < now() - interval '1 hour' AND replica <> $1
          FOR UPDATE SKIP LOCKED)
      )
      SELECT $1::text AS replica, (extract(epoch FROM now()) * 1000)::float8 AS seen_at,
        0::float8 AS silent_ms, identity, masks, services, catalog, hooks
      FROM epochs
      UNION ALL
      SELECT replica, (extract(epoch FROM seen_at) * 1000)::float8,
        greatest(0, extract(epoch FROM now() - seen_at) * 1000)::float8, NULL, NULL, NULL, NULL, NULL
      FROM replicas WHERE replica <> $1 AND seen_at >= now() - interval '1 hour'`);
    this.#remove = database.prepare("DELETE FROM replicas WHERE replica = $1");
  }

  note(replica: string): Promise<readonly ReplicaRow[]> {
    return this.#writes.write(async () => {
      const rows = (await this.#database.write(this.#note, replica)) as NotedRow[];
      return rows.map(toReplicaRow);
    });
  }

  async remove(replica: string): Promise<void> {
    await this.#writes.write(() => this.#database.write(this.#remove, replica));
  }

  async onAnnounced(listener: NewsListener): Promise<() => void> {
    if (this.#news.isWanted) return this.#news.add(listener);
    // Connected before anybody listens: only a later connection has missed something.
    const client = await this.#session.client().catch(() => undefined);
    const stop = this.#news.add(listener);
    // Where this fails it goes on trying to connect, and listens then.
    if (client) await this.#news.begin(client).catch(() => undefined);
    else this.#news.warnUnheard();
    return stop;
  }

  announce(message: string): Promise<void> {
    return this.#news.announce(message);
  }

  async lead(name: string): Promise<Leadership | undefined> {
    return this.#leaderships.lead(name, await this.#session.client());
  }

  /** Says what is left to be said, and gives up what it leads. */
  async close(): Promise<void> {
    await this.#writes.close();
    await this.#news.close();
    await this.#session.close();
    this.#leaderships.lost();
  }
}

type NotedRow = Omit<ReplicaRow, "epochs"> & { readonly [Name in EpochName]: number | null };

function toReplicaRow(row: NotedRow): ReplicaRow {
  const { replica, seen_at, silent_ms, ...epochs } = row;
  const noted = { replica, seen_at, silent_ms };
  return epochs.identity === null ? noted : { ...noted, epochs: epochs as Epochs };
}
