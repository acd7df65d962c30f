import { HookIndex, NO_HOOKS } from "@engine/contract";
import type { HookSource } from "../hooks/outbox.ts";
import { ENABLED_HOOKS_SQL } from "../hooks/stored-hook.ts";
import type { Database, Statement } from "./database.ts";

interface StoredEnabled {
  readonly id: string;
  readonly name: string;
  readonly selectors: string;
}

/**
 * The enabled hooks as they were a moment ago. They are read by themselves and not in the transactions
 * that write events, most of which read nothing: in the background when half of the time is over for
 * which they may be used, and before a commit when all of it is. While nobody commits, nobody reads.
 */
export class PostgresHookSource implements HookSource {
  readonly #database: Database;
  readonly #ttlMs: number;
  readonly #elapsed: () => number;
  readonly #epoch: Statement;
  readonly #hooks: Statement;
  #known = { epoch: -1, index: NO_HOOKS };
  /** When what is known was asked for; how old it is counts from there. */
  #asOf = Number.NEGATIVE_INFINITY;
  #inBackground: Promise<void> | undefined;

  /** @param elapsed Milliseconds by a clock that nobody sets. */
  constructor(
    database: Database,
    { ttlMs, elapsed }: { readonly ttlMs: number; readonly elapsed: () => number },
  ) {
    this.#database = database;
    this.#ttlMs = ttlMs;
    this.#elapsed = elapsed;
    this.#epoch = database.prepare("SELECT hooks FROM epochs");
    this.#hooks = database.prepare(ENABLED_HOOKS_SQL);
  }

  get index(): HookIndex {
    return this.#known.index;
  }

  get isEmpty(): boolean {
    return this.#known.index.isEmpty;
  }

  readonly ready = (): Promise<void> | undefined => {
    const age = this.#elapsed() - this.#asOf;
    if (age >= this.#ttlMs) return this.#untilFresh();
    if (age >= this.#ttlMs / 2) void this.#readInBackground();
    return undefined;
  };

  readonly refresh = async (): Promise<void> => {
    const asOf = this.#elapsed();
    const [epoch] = await this.#database.read<{ hooks: number }>(this.#epoch);
    const known = { epoch: epoch?.hooks ?? 0, index: this.#known.index };
    // Read behind the epoch they may be newer than that, and are then read once more than needed.
    if (known.epoch !== this.#known.epoch) known.index = await this.#read();
    // Of readings that overtake each other the one that began last counts.
    if (asOf < this.#asOf) return;
    this.#asOf = asOf;
    this.#known = known;
  };

  /** Commits that wait at once share a reading, unless each has to begin one of its own. */
  async #untilFresh(): Promise<void> {
    if (this.#ttlMs > 0) {
      await this.#readInBackground();
      if (this.#elapsed() - this.#asOf < this.#ttlMs) return;
    }
    await this.refresh();
  }

  /** Where it fails, the commit that finds them too old says so. */
  #readInBackground(): Promise<void> {
    this.#inBackground ??= this.refresh()
      .catch(() => undefined)
      .finally(() => {
        this.#inBackground = undefined;
      });
    return this.#inBackground;
  }

  async #read(): Promise<HookIndex> {
    const rows = await this.#database.read<StoredEnabled>(this.#hooks);
    return new HookIndex(
      rows.map(({ selectors, ...hook }) => ({ ...hook, selectors: JSON.parse(selectors) })),
    );
  }
}
