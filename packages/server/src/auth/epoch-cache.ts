import type { EpochName } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import type { EpochWatch } from "./epoch-watch.ts";

/** Entries that are kept; the oldest go first. */
const MOST = 10_000;

interface Parts {
  readonly epochs: EpochWatch;
  /** What the entries are made of. */
  readonly of: EpochName;
  /** So long an entry is kept at most; 0 = not at all. */
  readonly ttlMs: number;
  readonly ports: Pick<EnginePorts, "monotonic">;
}

interface Entry<Value> {
  readonly value: Value;
  readonly until: number;
}

/**
 * Copies of what is stored, for as long as nobody has changed it: dropped when the epoch is raised, and
 * not looked at while that may have been (AUTH-56, AUTH-57). What could not be read is not kept.
 */
export class EpochCache<Value> {
  readonly #parts: Parts;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #loading = new Map<string, Promise<Value | undefined>>();
  /** Counts the changes: what began to be read before one is not kept after it. */
  #turn = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.epochs.onChange(parts.of, () => this.#drop());
  }

  /** At once, where it is known and nothing can have changed. */
  known(key: string): Value | undefined {
    if (!this.#parts.epochs.isCurrent) return undefined;
    return this.#find(key);
  }

  /** @param load Undefined, like a failure, is not kept. */
  async get<Loaded extends Value | undefined>(
    key: string,
    load: () => Promise<Loaded>,
  ): Promise<Loaded> {
    const isCurrent = await this.#parts.epochs.current();
    if (!isCurrent || this.#parts.ttlMs === 0) return load();
    const known = this.#find(key) ?? this.#loading.get(key);
    return (known ?? this.#load(key, load)) as Promise<Loaded>;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  #find(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry && this.#parts.ports.monotonic() < entry.until) return entry.value;
    if (entry) this.#entries.delete(key);
    return undefined;
  }

  async #load<Loaded extends Value | undefined>(
    key: string,
    load: () => Promise<Loaded>,
  ): Promise<Loaded> {
    const turn = this.#turn;
    const until = this.#parts.ports.monotonic() + this.#parts.ttlMs;
    const loading = load();
    this.#loading.set(key, loading);
    try {
      const value = await loading;
      if (value !== undefined && turn === this.#turn) this.#keep(key, { value, until });
      return value;
    } finally {
      if (this.#loading.get(key) === loading) this.#loading.delete(key);
    }
  }

  #keep(key: string, entry: Entry<Value>): void {
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined && this.#entries.size >= MOST) this.#entries.delete(oldest);
    this.#entries.set(key, entry);
  }

  #drop(): void {
    this.#turn++;
    this.#entries.clear();
    // Whoever asks from now on reads anew.
    this.#loading.clear();
  }
}
