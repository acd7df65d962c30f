import { clockNews, parseInstant } from "@engine/contract";
import type { Log } from "./world.ts";

/** Changes that are smaller are not worth a message. */
const LEAST_CHANGE_MS = 1;

export interface ServerClockOptions {
  readonly clock: () => number;
  readonly monotonic: () => number;
  readonly log: Log;
  /** @param serverAtZero What the server's clock showed when the monotonic one was 0. */
  onChange(serverAtZero: number): void;
  /** The server should hear what this machine's clock is worth. */
  onNews(): void;
}

/** The moments, by the monotonic clock, between which the server looked at its own. */
export interface Asked {
  readonly sentAt: number;
  readonly heardAt: number;
}

/**
 * The server's clock as this worker knows it, measured at each welcome and each heartbeat. The server
 * looked at its clock at some moment of the round trip: half of it is the best guess, and no more than
 * the other half is the error. It goes on by the clock that nobody sets, so a clock of this machine
 * that is set meanwhile changes nothing.
 */
export class ServerClock {
  readonly #options: ServerClockOptions;
  #serverAtZero: number | undefined;
  /** How exact that is: the round trip of its measurement. */
  #width = Number.POSITIVE_INFINITY;
  #toldMs = 0;

  constructor(options: ServerClockOptions) {
    this.#options = options;
  }

  /** By how much this machine's clock is ahead of the server's; null before the first measurement. */
  get offsetMs(): number | null {
    if (this.#serverAtZero === undefined) return null;
    // Not -0.
    return Math.round(this.#ownAtZero() - this.#serverAtZero) + 0;
  }

  /** @param server_time Of the server's clock, cut to milliseconds. */
  measured(server_time: string, { sentAt, heardAt }: Asked): void {
    const shown = parseInstant(server_time);
    if (Number.isNaN(shown)) return;
    const [earliest, latest] = [shown - heardAt, shown + 1 - sentAt];
    this.#take(earliest, latest);
    this.#tell();
  }

  #take(earliest: number, latest: number): void {
    const before = this.#serverAtZero;
    const width = latest - earliest;
    let next: number;
    if (before === undefined || width <= this.#width) next = this.#guess(earliest, latest);
    // A slow answer says little: only that the clock is none that it contradicts.
    else next = Math.min(Math.max(before, earliest), latest);
    const isMoved = before === undefined || Math.abs(next - before) >= LEAST_CHANGE_MS;
    if (width <= this.#width || isMoved) this.#width = width;
    if (!isMoved) return;
    this.#serverAtZero = next;
    this.#options.onChange(next);
  }

  /** Where the two clocks may well agree they are taken to. */
  #guess(earliest: number, latest: number): number {
    const own = this.#ownAtZero();
    return own >= earliest && own <= latest ? own : (earliest + latest) / 2;
  }

  #ownAtZero(): number {
    const { clock, monotonic } = this.#options;
    return clock() - monotonic();
  }

  #tell(): void {
    const { log, onNews } = this.#options;
    const offset_ms = this.offsetMs ?? 0;
    const news = clockNews(this.#toldMs, offset_ms);
    if (news === undefined) return;
    this.#toldMs = news === "off" ? offset_ms : 0;
    if (news === "off") {
      log.warn(
        { offset_ms },
        "the clock of this machine is not the server's; what waits here is timed by the server's, but code of tasks sees the wrong time: set the clocks by NTP",
      );
    } else log.info({ offset_ms }, "the clock of this machine is right again");
    onNews();
  }
}
