import type { Outbox } from "./outbox.ts";
import type { Pushed, RunAhead } from "./run-ahead.ts";

/**
 * Events that the server wrote by itself and the outbox has not taken yet. Either a delta is under way,
 * whose answer brings these events or comes before them. Or events before them are missing: two servers
 * that write for one execution in turn may be heard in another order, and do not send again.
 */
export class PushedEvents {
  readonly #outbox: Outbox;
  readonly #ahead: RunAhead;
  readonly #waiting: Pushed[] = [];
  #isTaking = false;

  constructor(outbox: Outbox, ahead: RunAhead) {
    this.#outbox = outbox;
    this.#ahead = ahead;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(pushed: Pushed): void {
    this.#waiting.push(pushed);
    this.take();
  }

  /** Hands over the events that follow the known log. Taking some may call this again from inside. */
  take(): void {
    if (this.#isTaking) return;
    this.#isTaking = true;
    while (!this.#outbox.isSending && !this.#ahead.isOvertaken) {
      const next = this.#waiting.findIndex(({ base_seq }) => base_seq <= this.#outbox.head);
      const [pushed] = next < 0 ? [] : this.#waiting.splice(next, 1);
      if (!pushed) break;
      this.#outbox.append(pushed.base_seq, pushed.events);
    }
    this.#isTaking = false;
  }

  /** Forgets all that wait, and gives them back. */
  clear(): readonly Pushed[] {
    return this.#waiting.splice(0);
  }
}
