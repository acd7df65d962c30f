import { HookIndex } from "@engine/contract";
import type Database from "better-sqlite3";
import type { HookSource } from "../hooks/outbox.ts";
import { ENABLED_HOOKS_SQL } from "../hooks/stored-hook.ts";
import type { Connection } from "./connection.ts";

type StoredEnabled = readonly [id: string, name: string, selectors: string];

interface Known {
  readonly epoch: number;
  readonly index: HookIndex;
}

/**
 * The enabled hooks as they are at each place of each transaction. As long as nobody has written they are
 * those that were read before, which is no statement at all: this connection hears of its own changes by
 * a trigger, and `data_version`, which every transaction looks at as it begins, tells of another
 * process's commits. Behind one of those the epoch of hooks is read, and the hooks only where that has
 * moved; nobody else can write before the transaction ends.
 */
export class SqliteHookSource implements HookSource {
  readonly #connection: Connection;
  #known: Known | undefined;
  /** What is known is what the database has. */
  #isCertain = false;
  /** This connection has changed a hook, which may be undone still. */
  #isOwn = false;

  constructor(db: Database.Database, connection: Connection) {
    this.#connection = connection;
    db.function("hooks_changed", () => {
      this.#isOwn = true;
      this.#forget();
      return null;
    });
    db.exec(`CREATE TEMP TRIGGER hooks_changed AFTER UPDATE OF hooks ON main.epochs
      BEGIN SELECT hooks_changed(); END`);
    connection.remember(() => this.#forget());
  }

  get index(): HookIndex {
    if (this.#known && this.#isCertain) return this.#known.index;
    const [epoch = 0] =
      this.#connection.prepareOnce<readonly [number]>("SELECT hooks FROM epochs", "raw").get() ??
      [];
    if (this.#known?.epoch !== epoch) this.#known = { epoch, index: this.#read() };
    this.#isCertain = true;
    return this.#known.index;
  }

  /** Where nothing is known they are read, also before a transaction, which looks again for writes of others. */
  get isEmpty(): boolean {
    return (this.#known?.index ?? this.index).isEmpty;
  }

  #read(): HookIndex {
    const rows = this.#connection.prepareOnce<StoredEnabled>(ENABLED_HOOKS_SQL, "raw").all();
    return new HookIndex(
      rows.map(([id, name, selectors]) => ({ id, name, selectors: JSON.parse(selectors) })),
    );
  }

  /** What was read of a change of this connection goes: undone, it would have the epoch of another one. */
  #forget(): void {
    this.#isCertain = false;
    if (this.#isOwn) this.#known = undefined;
  }
}
