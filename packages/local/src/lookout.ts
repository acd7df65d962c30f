import type { Host } from "@engine/sdk/node";

/** How soon a local run sees what others write: a cancel within a second (EXE-15). */
const LOOK_EVERY_MS = 500;

interface LookoutOptions {
  readonly host: Pick<Host, "setTimer" | "log">;
  readonly clock: () => number;
  /** The earliest instant after `now` at which something held here is due; undefined = none. */
  readonly nextWake: (now: number) => number | undefined;
  /** Ends what is due. */
  readonly wake: (now: number) => Promise<void>;
  /** Looks what others have written. */
  readonly look: () => Promise<void>;
}

/**
 * The one timer of a process that runs executions. It is set while there are any, so that nothing is
 * read for runs that take less than half a second, and none keeps the process alive afterwards.
 */
export class Lookout {
  readonly #options: LookoutOptions;
  #isOn = false;
  /** When others are looked at next. */
  #lookAt = 0;
  #setFor = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(options: LookoutOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#lookAt = this.#options.clock() + LOOK_EVERY_MS;
    this.#set(this.#lookAt);
  }

  stop(): void {
    this.#isOn = false;
    this.#clear();
  }

  /** Something is due at `wake_at`. */
  expect(wake_at: number | null): void {
    if (this.#isOn && wake_at !== null && wake_at < this.#setFor) this.#set(wake_at);
  }

  #set(at: number): void {
    this.#clear();
    this.#setFor = at;
    const ms = Math.max(0, at - this.#options.clock());
    this.#cancelTimer = this.#options.host.setTimer(() => void this.#fire(), ms);
  }

  #clear(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#setFor = Number.POSITIVE_INFINITY;
  }

  async #fire(): Promise<void> {
    const { host, clock, nextWake, wake, look } = this.#options;
    const now = clock();
    // Until this look is over nothing sets the timer anew.
    this.#setFor = Number.NEGATIVE_INFINITY;
    try {
      await wake(now);
      if (now >= this.#lookAt) {
        this.#lookAt = now + LOOK_EVERY_MS;
        await look();
      }
    } catch (error) {
      // The database may answer next time; the copies hear of it when they write.
      host.log("warn", "a local run could not look at the database", { error: String(error) });
    }
    // What was due and is still there is tried again with the next look.
    if (this.#isOn) this.#set(Math.min(this.#lookAt, nextWake(now) ?? this.#lookAt));
  }
}
