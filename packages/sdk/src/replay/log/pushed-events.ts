import type { Outbox } from "./outbox.ts";
import type { Pushed, RunAhead } from "./run-ahead.ts";

/**
 * What the server wrote by itself and the outbox has not taken yet. A delta is under way: either its
 * answer brings these events, or they follow it. Or one before them is missing: servers that write
 * for one execution in turn may be heard in another order, and what was heard is not sent again.
 */
export class PushedEvents {
  readonly #outbox: Pick<Outbox, "append" | "head" | "isSending">;
  readonly #ahead: Pick<RunAhead, "isOvertaken">;
  readonly #waiting: Pushed[] = [];
  #isTaking = false;

  constructor(
    outbox: Pick<Outbox, "append" | "head" | "isSending">,
    ahead: Pick<RunAhead, "isOvertaken">,
  ) {
    this.#outbox = outbox;
    this.#ahead = ahead;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(pushed: Pushed): void {
    this.#waiting.push(pushed);
  }

  /** Hands over what follows what is known. To take one may ask for the next: that is under way. */
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

  /** Forgets them, and says what they were. */
  clear(): readonly Pushed[] {
    return this.#waiting.splice(0);
  }
}
