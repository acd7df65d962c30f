import { EngineError } from "@engine/contract";
import { reasonOf } from "./fetch-json.ts";
import type { KeySet } from "./key-set.ts";

export interface ProviderKeysOptions {
  /** Fetches the keys; what it throws has a reason that may be logged. */
  readonly load: () => Promise<KeySet>;
  /** Seconds for which keys are used before they are fetched again. */
  readonly cache: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly warn: (message: string) => void;
}

/** A name of a key that nobody knows is easily made up: it fetches no more often than this. */
const BETWEEN_REFETCHES_MS = 30_000;
/** How long known keys serve beyond their time while the provider is away. */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** When a caller may try again; sooner than that nothing is asked of a provider that is away. */
const RETRY_AFTER_SECONDS = 5;

/**
 * The keys of a provider: fetched when first needed, kept, fetched again when they are old or do not
 * have the one that is needed (AUTH-15). One fetch is under way at a time, whoever waits for it.
 */
export class ProviderKeys {
  readonly #options: ProviderKeysOptions;
  #keys: KeySet | undefined;
  #fetched_at = 0;
  /** When the last fetch failed; undefined once one succeeds. */
  #failed_at: number | undefined;
  #refetched_at: number | undefined;
  /** What was last said of a provider that is away: it is not said again at each try. */
  #complaint: string | undefined;
  #fetching: Promise<void> | undefined;

  constructor(options: ProviderKeysOptions) {
    this.#options = options;
  }

  /**
   * Keys that may be used now.
   *
   * @throws EngineError `auth_unavailable`
   */
  async current(): Promise<KeySet> {
    const cache = this.#options.cache * 1000;
    if (this.#keys && this.#since(this.#fetched_at) < cache) return this.#keys;
    const known = this.#keptKeys();
    if (!known) return this.#first();
    if (this.#failed_at === undefined) await this.#fetch();
    // While the provider is away nobody waits for it to time out again.
    else if (this.#since(this.#failed_at) >= BETWEEN_REFETCHES_MS) void this.#fetch();
    return this.#keys ?? known;
  }

  /**
   * Keys that are newer than those in which something was not found; undefined when they are the
   * newest that may be had.
   *
   * @throws EngineError `auth_unavailable` where only the provider could tell.
   */
  async newerThan(known: KeySet): Promise<KeySet | undefined> {
    if (this.#keys !== known) return this.#keys;
    if (this.#fetching) await this.#fetching;
    else if (this.#mayRefetch()) {
      this.#refetched_at = this.#options.clock();
      await this.#fetch();
    }
    if (this.#keys !== known) return this.#keys;
    if (this.#failed_at !== undefined) throw unavailable();
    return undefined;
  }

  /** The first keys, or the first after those that were known have become too old. */
  async #first(): Promise<KeySet> {
    const wait = RETRY_AFTER_SECONDS * 1000;
    if (this.#failed_at === undefined || this.#since(this.#failed_at) >= wait) await this.#fetch();
    const keys = this.#keptKeys();
    if (!keys) throw unavailable();
    return keys;
  }

  #keptKeys(): KeySet | undefined {
    const kept = this.#options.cache * 1000 + KEPT_MS;
    return this.#since(this.#fetched_at) < kept ? this.#keys : undefined;
  }

  #mayRefetch(): boolean {
    const isLongAgo = (at: number | undefined) =>
      at === undefined || this.#since(at) >= BETWEEN_REFETCHES_MS;
    return isLongAgo(this.#refetched_at) && isLongAgo(this.#failed_at);
  }

  /** Joins the fetch that is under way. Never rejects. */
  #fetch(): Promise<void> {
    this.#fetching ??= this.#load().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #load(): Promise<void> {
    const { load, clock } = this.#options;
    try {
      this.#keys = await load();
      this.#fetched_at = clock();
      this.#failed_at = undefined;
      this.#complaint = undefined;
    } catch (error) {
      this.#failed_at = clock();
      const instead = this.#keptKeys()
        ? "those that are known serve on"
        : "no token can be verified";
      this.#complain(
        `the keys of the OpenID provider cannot be fetched (${reasonOf(error)}); ${instead}`,
      );
    }
  }

  #complain(complaint: string): void {
    if (complaint !== this.#complaint) this.#options.warn(complaint);
    this.#complaint = complaint;
  }

  /** Milliseconds; a clock that was set back makes things old too, rather than young for ever. */
  #since(at: number): number {
    return Math.abs(this.#options.clock() - at);
  }
}

function unavailable(): EngineError {
  return new EngineError(
    "auth_unavailable",
    `the OpenID provider cannot be asked for its keys; try again in ${RETRY_AFTER_SECONDS} seconds`,
    { details: { retry_after_seconds: RETRY_AFTER_SECONDS } },
  );
}
