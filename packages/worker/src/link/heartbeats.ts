import type { Heartbeat, HeartbeatAnswer } from "@engine/contract";
import { messageOf } from "../transient.ts";
import { delay, type World } from "../world.ts";
import type { OwnSession } from "./own-session.ts";
import type { ServerClock } from "./server-clock.ts";
import type { Calls } from "./text-link.ts";

/** A cancel must be acknowledged within a second; those that come together share a heartbeat. */
const SOON_MS = 250;
/** A poll waits for frames, so the server's clock is not to be measured by it: this many are enough. */
const INTERVALS_OF_POLLING = 6;

export interface HeartbeatsOptions extends Pick<World, "setTimer" | "monotonic" | "log" | "life"> {
  readonly link: Calls;
  readonly session: OwnSession;
  readonly serverClock: ServerClock;
  /** Polls say the same at least as often. */
  readonly isPolling: () => boolean;
  status(): Heartbeat;
  onDrop(drop: HeartbeatAnswer["drop"][number]): void;
}

/** Says regularly, and at once when there is news, that the worker lives and what it holds (LIV-1). */
export class Heartbeats {
  readonly #options: HeartbeatsOptions;
  #sending: Promise<void> | undefined;
  #isNews = false;
  #isSoon = false;

  constructor(options: HeartbeatsOptions) {
    this.#options = options;
  }

  /** Settles when the worker has ended. */
  async run(): Promise<void> {
    const { session, setTimer, life, isPolling } = this.#options;
    for (let interval = 1; !life.aborted; interval++) {
      const answer = await session.registered().catch(() => undefined);
      // A worker that is refused ends.
      if (!answer) return;
      await delay(setTimer, answer.heartbeat_seconds * 1000, life);
      if (life.aborted) return;
      if (!isPolling() || interval % INTERVALS_OF_POLLING === 0) await this.now();
    }
  }

  /** Sends a heartbeat with the state of now. Settles when it has arrived or is lost. Never rejects. */
  now(): Promise<void> {
    this.#isNews = true;
    this.#sending ??= this.#send();
    return this.#sending;
  }

  /** Sends a heartbeat within a second, for news that the server waits for. */
  soon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#options.setTimer(() => {
      this.#isSoon = false;
      if (!this.#options.life.aborted) void this.now();
    }, SOON_MS);
  }

  /** One at a time: an older one that arrived last would undo the newer. */
  async #send(): Promise<void> {
    while (this.#isNews) {
      this.#isNews = false;
      await this.#beat();
    }
    this.#sending = undefined;
  }

  async #beat(): Promise<void> {
    const { link, session, serverClock, monotonic, life, log, status, onDrop } = this.#options;
    let sentAt = 0;
    try {
      const { drop, server_time } = await session.call((ref) => {
        sentAt = monotonic();
        return link.heartbeat(ref, status());
      });
      serverClock.measured(server_time, { sentAt, heardAt: monotonic() });
      for (const entry of drop) onDrop(entry);
    } catch (error) {
      // The next heartbeat says the same; the stream notices when the server is away.
      if (!life.aborted) log.debug({ error: messageOf(error) }, "a heartbeat did not arrive");
    }
  }
}
