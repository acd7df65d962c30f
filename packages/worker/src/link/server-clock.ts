import { clockNews, parseInstant } from "@engine/contract";
import type { World } from "../world.ts";

/** Changes that are smaller are not worth a message. */
const LEAST_CHANGE_MS = 1;
const READS = 3;

export interface ServerClockOptions extends Pick<World, "clock" | "monotonic" | "log"> {
  /** @param serverAtZero What the server's clock showed when the monotonic one was 0. */
  onChange(serverAtZero: number): void;
  /** The server should hear how far off this machine's clock is. */
  onNews(): void;
}

/** The moments, by the monotonic clock, between which the server looked at its own. */
export interface Asked {
  readonly sentAt: number;
  readonly heardAt: number;
}

/**
 * The server's clock as this worker knows it, measured at each welcome and each heartbeat. The server
 * looked at its clock at some moment of the round trip, so the quickest answer so far says how far
 * this may be behind. It goes on by the clock that nobody sets: a clock of this machine that is set
 * meanwhile changes nothing.
 */
export class ServerClock {
  readonly #options: ServerClockOptions;
  #serverAtZero: number | undefined;
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

  /** What the server's clock shows now; before the first measurement what this machine's does. */
  get now(): number {
    const { clock, monotonic } = this.#options;
    return this.#serverAtZero === undefined ? clock() : this.#serverAtZero + monotonic();
  }

  /** @param server_time Of the server's clock, cut to milliseconds. */
  measured(server_time: string, { sentAt, heardAt }: Asked): void {
    const shown = parseInstant(server_time);
    if (Number.isNaN(shown)) return;
    const [earliest, latest] = [shown - heardAt, shown + 1 - sentAt];
    this.#take(earliest, latest);
    this.#tell();
  }

  /** An answer that does not contradict what is known says nothing new, however quick it was. */
  #take(earliest: number, latest: number): void {
    const before = this.#serverAtZero;
    if (before !== undefined && before >= earliest && before <= latest) return;
    const next = this.#guess(earliest, latest);
    if (before !== undefined && Math.abs(next - before) < LEAST_CHANGE_MS) return;
    this.#serverAtZero = next;
    this.#options.onChange(next);
  }

  /**
   * Where the answer allows that the two clocks agree, they are taken to agree. A clock is read cut to
   * milliseconds, so it shows up to one less than it is: that alone is no disagreement. Where the
   * clocks differ, the server's is taken to show the least that it can, so that nothing ends early
   * (EXE-50).
   */
  #guess(earliest: number, latest: number): number {
    const own = this.#ownAtZero();
    return own <= latest ? Math.max(own, earliest) : earliest;
  }

  /** The highest of a few: between the two clocks the process may have been made to wait. */
  #ownAtZero(): number {
    const { clock, monotonic } = this.#options;
    let highest = Number.NEGATIVE_INFINITY;
    for (let n = 0; n < READS; n++) highest = Math.max(highest, clock() - monotonic());
    return highest;
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
