import type { Json } from "@engine/contract";
import type { ProgressToken } from "@modelcontextprotocol/server";

/** Calls `run` once after that many milliseconds, unless the answered function is called first. */
export type SetTimer = (run: () => void, ms: number) => () => void;

/** Parameters of `notifications/progress`. */
export interface ProgressNote {
  readonly progressToken: ProgressToken;
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface ProgressNotesOptions {
  readonly token: ProgressToken;
  readonly send: (note: ProgressNote) => void;
  /** Milliseconds, from any beginning. */
  readonly clock: () => number;
  readonly setTimer: SetTimer;
}

/** Notes that may be sent at once, and afterwards per second. */
const BURST = 20;
const PER_MS = 20 / 1000;
const SILENCE_MS = 10_000;
const SMALLEST_STEP = 0.001;
const LONGEST_JSON = 500;

/**
 * Tells one caller of the progress of tasks (MCP-12): values that rise strictly, at most 20 per second
 * after a burst of 20 with the newest winning, and a sign of life every 10 s of silence.
 */
export class ProgressNotes {
  readonly #options: ProgressNotesOptions;
  /** The highest value so far, sent or waiting. */
  #last = 0;
  #waiting: ProgressNote | undefined;
  #allowance: number = BURST;
  #countedAt: number;
  #stopSending: (() => void) | undefined;
  #stopHeartbeat: () => void;

  constructor(options: ProgressNotesOptions) {
    this.#options = options;
    this.#countedAt = options.clock();
    this.#stopHeartbeat = this.#heartbeatLater();
  }

  /** Takes a value of `progress()` of a task. */
  add(value: Json): void {
    this.#waiting = this.#noteOf(value);
    this.#sendWaiting();
  }

  /** Nothing is sent any more, nor is what waits: the result says it all. */
  stop(): void {
    this.#waiting = undefined;
    this.#stopSending?.();
    this.#stopHeartbeat();
  }

  #noteOf(value: Json): ProgressNote {
    const progressToken = this.#options.token;
    const own = ownProgress(value);
    if (own) return { progressToken, ...own, progress: this.#next(own.progress) };
    const message = typeof value === "string" ? value : cut(JSON.stringify(value));
    return { progressToken, progress: this.#next(this.#last + 1), message };
  }

  /** `wanted`, or the smallest step on where that would not rise. */
  #next(wanted: number): number {
    // Beyond 2^43 a thousandth is lost in the number's own precision.
    const step = Math.max(SMALLEST_STEP, this.#last * 2 * Number.EPSILON);
    this.#last = wanted > this.#last ? wanted : this.#last + step;
    return this.#last;
  }

  #sendWaiting(): void {
    if (!this.#waiting || this.#stopSending) return;
    this.#refill();
    if (this.#allowance < 1) {
      const wait = Math.ceil((1 - this.#allowance) / PER_MS);
      this.#stopSending = this.#options.setTimer(() => {
        this.#stopSending = undefined;
        this.#sendWaiting();
      }, wait);
      return;
    }
    this.#allowance -= 1;
    this.#options.send(this.#waiting);
    this.#waiting = undefined;
    this.#stopHeartbeat();
    this.#stopHeartbeat = this.#heartbeatLater();
  }

  #refill(): void {
    const now = this.#options.clock();
    this.#allowance = Math.min(BURST, this.#allowance + (now - this.#countedAt) * PER_MS);
    this.#countedAt = now;
  }

  #heartbeatLater(): () => void {
    return this.#options.setTimer(() => {
      this.#waiting ??= { progressToken: this.#options.token, progress: this.#next(this.#last) };
      this.#sendWaiting();
    }, SILENCE_MS);
  }
}

/** What of a value is a caller's own measure of progress. */
function ownProgress(value: Json): Omit<ProgressNote, "progressToken"> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { progress, total, message } = value;
  if (typeof progress !== "number") return undefined;
  return {
    progress,
    ...(typeof total === "number" && { total }),
    ...(typeof message === "string" && { message }),
  };
}

/** Without half a character at the end. */
function cut(json: string): string {
  return json.slice(0, LONGEST_JSON).toWellFormed();
}
