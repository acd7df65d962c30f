/**
 * The connections of a store. Two pools, so that neither can starve the other: `hot` for the group
 * commits, `general` for reads and everything else. Statements of one `pipelined` call leave in one
 * go: a transaction costs as many round trips as it has answers to wait for.
 */
import { Pool, type PoolClient, type PoolConfig, types } from "pg";
import {
  closedStore,
  isDatabaseFailure,
  isUnwritable,
  readOnly,
  StatementFailure,
  unavailable,
} from "./database-failure.ts";
import type { PostgresTarget } from "./postgres-url.ts";

/** What a statement's parameters may be; a list is an array of the database's, bytes are as it has them. */
export type Parameter = string | number | null | readonly string[] | Buffer;

export interface Statement {
  readonly text: string;
  /** Prepared once per connection under this name. */
  readonly name?: string;
  readonly rowMode?: "array";
}

export type Query = readonly [statement: Statement, ...values: Parameter[]];

export interface PoolSizes {
  /** Commits under way at once. */
  readonly lanes: number;
  /** Connections for everything else. */
  readonly general: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A server that answers nothing for so long is taken for dead. */
const ANSWER_TIMEOUT_MS = 30_000;

/**
 * A replica that has gone away in the middle of a transaction lets go of its locks. Lists are read in
 * the order of their index: while a table has grown since it was last looked at, the planner would
 * rather fetch and sort a whole queue than read its head.
 */
const SETTINGS = `
  set_config('idle_in_transaction_session_timeout', '10s', false),
  set_config('enable_bitmapscan', 'off', false)`;

/**
 * Of the hot connections: their statements find rows by key, and must go on doing so when a table
 * has grown since it was last looked at.
 */
const HOT_SETTINGS = `${SETTINGS},
  set_config('plan_cache_mode', 'force_generic_plan', false),
  set_config('enable_seqscan', 'off', false),
  set_config('enable_hashjoin', 'off', false),
  set_config('enable_mergejoin', 'off', false),
  set_config('jit', 'off', false)`;

/** For so long a write that was refused is taken as a sign that the next one is, too. */
const BELIEVED_MS = 5_000;

/** A standby, or a database or a role that was told to write nothing; asked on a connection that writes. */
const IS_READ_ONLY: Statement = {
  text: `SELECT pg_is_in_recovery()
    OR current_setting('transaction_read_only')::boolean AS is_read_only`,
};

const INT8 = 20;
/** Instants are numbers here; they fit. */
const TYPES = {
  getTypeParser: (oid: number, format?: string) =>
    oid === INT8 ? Number : types.getTypeParser(oid, format as "text"),
};

export class Database {
  readonly #hot: Pool;
  readonly #general: Pool;
  readonly #names = new Map<string, string>();
  #sent = 0;
  #closed = false;
  /** The last time that a commit could not be written. */
  #refusal: { readonly error: StatementFailure; readonly at: number } | undefined;

  constructor({ url }: PostgresTarget, { lanes, general }: PoolSizes) {
    const shared = {
      connectionString: url,
      application_name: "engine",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
      pipeline: true,
      types: TYPES as never,
    };
    const setting = (settings: string): PoolConfig["verify"] => {
      return (client, done) => void client.query(`SELECT ${settings}`).then(() => done(), done);
    };
    this.#hot = new Pool({
      ...shared,
      max: lanes,
      idleTimeoutMillis: 0,
      verify: setting(HOT_SETTINGS),
    });
    this.#general = new Pool({
      ...shared,
      max: general,
      idleTimeoutMillis: 60_000,
      verify: setting(SETTINGS),
    });
    // Without listeners a lost connection would end the process, also while it is being set up. A
    // query that waits for its answer rejects, and a connection that is idle leaves its pool by itself.
    for (const pool of [this.#hot, this.#general]) {
      pool.on("error", () => undefined);
      pool.on("connect", (client) => client.on("error", () => undefined));
    }
  }

  /** Statements sent since opening. */
  get sent(): number {
    return this.#sent;
  }

  /** A statement whose text is parsed once per connection. */
  prepare(text: string, rowMode?: "array"): Statement {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `engine_${this.#names.size}`;
      this.#names.set(text, name);
    }
    return rowMode ? { text, name, rowMode } : { text, name };
  }

  /** Runs one statement that only reads. */
  async read<Row>(statement: Statement, ...values: Parameter[]): Promise<Row[]> {
    const [rows] = await this.readAll<Row>([statement, ...values]);
    return rows as Row[];
  }

  async readAll<Row>(...queries: Query[]): Promise<Row[][]> {
    if (this.#closed) throw closedStore();
    try {
      return await this.#using(this.#general, (lane) => lane.pipelined<Row>(...queries));
    } catch (error) {
      throw isDatabaseFailure(error) ? unavailable(error) : error;
    }
  }

  /** Runs one statement that writes, off the hot path. */
  write(statement: Statement, ...values: Parameter[]): Promise<unknown[]> {
    return this.#using(this.#general, async (lane) => {
      const [rows = []] = await lane.pipelined([statement, ...values]);
      return rows;
    });
  }

  /** Runs a transaction off the hot path. What it throws undoes it. */
  transaction<Value>(run: (lane: Lane) => Promise<Value>): Promise<Value> {
    return this.#using(this.#general, async (lane) => {
      await lane.pipelined([BEGIN]);
      const value = await run(lane);
      await lane.pipelined([COMMIT]);
      return value;
    });
  }

  /** Lends one of the hot connections. */
  async commitLane<Value>(use: (lane: Lane) => Promise<Value>): Promise<Value> {
    try {
      return await this.#using(this.#hot, use);
    } catch (error) {
      if (isUnwritable(error)) this.#refusal = { error, at: performance.now() };
      throw error;
    }
  }

  /** Rejects while nothing can be written, or so the last writes were told. */
  async assertWritable(): Promise<void> {
    if (this.#closed) throw closedStore();
    const { error, at } = this.#refusal ?? { at: Number.NEGATIVE_INFINITY };
    // Full disks show only where a file has to grow: whether they still are is for the next write.
    if (performance.now() - at < BELIEVED_MS) throw unavailable(error);
    const [[row] = []] = await this.#using(this.#hot, (lane) =>
      lane.pipelined<{ is_read_only: boolean }>([IS_READ_ONLY]),
    ).catch((failure: unknown) => {
      throw isDatabaseFailure(failure) ? unavailable(failure) : failure;
    });
    if (row?.is_read_only) throw readOnly();
  }

  /** The same on one of the others, for asking what became of a commit. */
  generalLane<Value>(use: (lane: Lane) => Promise<Value>): Promise<Value> {
    return this.#using(this.#general, use);
  }

  async #using<Value>(pool: Pool, use: (lane: Lane) => Promise<Value>): Promise<Value> {
    const client = await pool.connect().catch((error) => {
      throw this.#closed ? closedStore() : new StatementFailure(error, "away");
    });
    let broken = true;
    try {
      const value = await use(new Lane(client, () => this.#sent++));
      broken = false;
      return value;
    } catch (error) {
      const isLost = error instanceof StatementFailure && error.kind === "lost";
      // A transaction that was begun is undone; a connection that cannot do that is of no use.
      broken =
        isLost ||
        !(await client.query(ROLLBACK).then(
          () => true,
          () => false,
        ));
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Refuses reads from now on and ends the connections once they are free. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([this.#hot.end(), this.#general.end()]);
  }
}

export const BEGIN: Statement = { text: "BEGIN" };
export const COMMIT: Statement = { text: "COMMIT" };
export const ROLLBACK: Statement = { text: "ROLLBACK" };

/** A borrowed connection. */
export class Lane {
  readonly #client: PoolClient;
  readonly #count: () => void;

  constructor(client: PoolClient, count: () => void) {
    this.#client = client;
    this.#count = count;
  }

  /**
   * Sends statements in one go and waits for all answers. Behind one that fails the rest of a
   * transaction fails as well, and its COMMIT undoes it.
   *
   * @throws StatementFailure The first one.
   */
  async pipelined<Row>(...queries: Query[]): Promise<Row[][]> {
    const answers = queries.map(([statement, ...values]) => {
      this.#count();
      const query = { ...statement, ...(values.length > 0 && { values }) };
      return this.#client.query(query as never) as unknown as Promise<{ rows: Row[] }>;
    });
    const settled = await Promise.allSettled(answers);
    const failures = settled.filter((one) => one.status === "rejected");
    const lost = failures.map(({ reason }) => new StatementFailure(reason));
    const failure = lost.find(({ kind }) => kind === "lost") ?? lost[0];
    if (failure) throw failure;
    return settled.map((one) => (one.status === "fulfilled" ? one.value.rows : []));
  }
}
