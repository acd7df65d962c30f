import { EngineError } from "@engine/contract";
import Database from "better-sqlite3";

/** What a statement's parameters may be. */
export type Bindable = string | number | null;

/** How many statements a connection has run, and how many of them may have written. */
interface Tally {
  sent: number;
  writes: number;
}

/** A statement that is prepared once and counted whenever it runs. */
export class Statement<Row> {
  readonly #statement: Database.Statement<Bindable[], Row>;
  readonly #tally: Tally;

  constructor(statement: Database.Statement<Bindable[], Row>, tally: Tally) {
    this.#statement = statement;
    this.#tally = tally;
  }

  /** Runs a statement that writes; returns the number of rows it changed. */
  run(...values: Bindable[]): number {
    this.#tally.sent++;
    this.#tally.writes++;
    return this.#statement.run(...values).changes;
  }

  get(...values: Bindable[]): Row | undefined {
    this.#tally.sent++;
    return this.#statement.get(...values);
  }

  all(...values: Bindable[]): Row[] {
    this.#tally.sent++;
    return this.#statement.all(...values);
  }

  /** Runs a statement of either sort; one that gives no rows answers none. */
  ask(values: readonly Bindable[]): Row[] {
    this.#tally.sent++;
    if (!this.#statement.readonly) this.#tally.writes++;
    if (this.#statement.reader) return this.#statement.all(...values);
    this.#statement.run(...values);
    return [];
  }
}

/** The one handle of a store on its database. Every statement but those of opening is counted. */
export class Connection {
  readonly #db: Database.Database;
  readonly #tally: Tally = { sent: 0, writes: 0 };
  readonly #texts = new Map<string, Statement<unknown>>();
  readonly #begin: Statement<unknown>;
  readonly #commit: Statement<unknown>;
  readonly #rollback: Statement<unknown>;
  /** It reads no page and is no statement of the count. */
  readonly #dataVersion: Database.Statement<[], readonly [number]>;
  readonly #memories: (() => void)[] = [];
  #seenVersion: number | undefined;
  #isClosing = false;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#dataVersion = db.prepare<[], readonly [number]>("PRAGMA data_version").raw();
    this.#begin = this.prepare("BEGIN IMMEDIATE");
    this.#commit = this.prepare("COMMIT");
    this.#rollback = this.prepare("ROLLBACK");
  }

  prepare<Row>(sql: string): Statement<Row> {
    return new Statement(this.#db.prepare<Bindable[], Row>(sql), this.#tally);
  }

  /** Rows as arrays in the order of the columns asked for, which is quicker than objects. */
  prepareRaw<Row extends readonly unknown[]>(sql: string): Statement<Row> {
    return new Statement(this.#db.prepare<Bindable[], Row>(sql).raw(), this.#tally);
  }

  /** For reads off the hot path, whose texts are few though they depend on what was asked. */
  prepareOnce<Row>(sql: string, shape?: "raw"): Statement<Row> {
    let statement = this.#texts.get(sql) as Statement<Row> | undefined;
    if (!statement) {
      const fresh = this.#db.prepare<Bindable[], Row>(sql);
      statement = new Statement(shape === "raw" ? fresh.raw() : fresh, this.#tally);
      this.#texts.set(sql, statement);
    }
    return statement;
  }

  /**
   * Writes something that nobody reads, inside a transaction: whether that is possible at all. More
   * than a start writes, so that one does not find the disk full where this found room.
   */
  touch(): void {
    this.prepareOnce("UPDATE writes_tried SET filler = randomblob(65536)").run();
  }

  get sent(): number {
    return this.#tally.sent;
  }

  get writes(): number {
    return this.#tally.writes;
  }

  /**
   * For a cache of what is stored: `forget` is called when it may not hold any more, because another
   * connection has written, or because what this one wrote is undone.
   */
  remember(forget: () => void): void {
    this.#memories.push(forget);
  }

  begin(): void {
    this.#begin.run();
    this.lookBeside();
  }

  /** Forgets what is remembered if another connection has written since. It reads shared memory alone. */
  lookBeside(): void {
    // It stays the same for what this connection itself commits.
    const [version] = this.#dataVersion.get() ?? [];
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.#forget();
  }

  commit(): void {
    this.#commit.run();
  }

  /** Does nothing where SQLite itself has rolled back, as it does when the disk is full. */
  rollback(): void {
    this.#forget();
    if (this.#db.inTransaction) this.#rollback.run();
  }

  /** Runs statements that only read. They see every commit, and never a transaction half done. */
  async read<Value>(run: () => Value): Promise<Value> {
    try {
      this.assertOpen();
      return run();
    } catch (error) {
      throw isDatabaseFailure(error) ? unavailable(error) : error;
    }
  }

  /** Reads nothing more; what was asked for before is done. */
  refuse(): void {
    this.#isClosing = true;
  }

  assertOpen(): void {
    if (this.#isClosing || !this.#db.open)
      throw new EngineError("unavailable", "the store is closed");
  }

  close(): void {
    this.#db.close();
  }

  #forget(): void {
    for (const forget of this.#memories) forget();
  }
}

/**
 * Whether the database failed, rather than a statement asking for something that cannot be: then
 * nothing in the same transaction can be saved.
 */
export function isDatabaseFailure(error: unknown): error is Error & { code: string } {
  if (!(error instanceof Database.SqliteError)) return false;
  return !error.code.startsWith("SQLITE_CONSTRAINT") && error.code !== "SQLITE_TOOBIG";
}

/** Whether a row was refused because its key is taken. */
export function isDuplicateKey(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError &&
    (error.code === "SQLITE_CONSTRAINT_PRIMARYKEY" || error.code === "SQLITE_CONSTRAINT_UNIQUE")
  );
}

const REASONS: Readonly<Record<string, string>> = {
  SQLITE_FULL: "the disk of the database is full",
  // Where the disk has no room for what SQLite keeps beside the file, it calls that a trouble of it.
  SQLITE_IOERR_WRITE: "the disk of the database cannot be written",
  SQLITE_IOERR_SHMSIZE: "the disk of the database cannot be written",
  SQLITE_READONLY: "the disk of the database is read-only",
};

/** What a caller hears when the database failed; the cause is for the log. */
export function unavailable(cause: unknown): EngineError {
  const code = cause instanceof Database.SqliteError ? cause.code : "";
  const reason =
    code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")
      ? "the database is locked by another process"
      : (REASONS[code] ?? "the database does not answer");
  return new EngineError("unavailable", `${reason}; nothing was written, try again`, { cause });
}
