import type { TaskRequests } from "@engine/contract";
import type { Budget } from "../port.ts";

interface BodyRoomOptions {
  readonly budget: Budget;
  /** Id of the call. */
  readonly call: string;
  readonly requests: TaskRequests;
  /** The rooms of the calls around this one. */
  readonly above: readonly BodyRoom[];
}

/**
 * A task call's part of the worker's budget (RES-4), from before its function starts until that has
 * settled. While the function waits, for the outside world or for calls that request resources
 * themselves, others may have the part: otherwise it could keep those calls from ever starting.
 */
export class BodyRoom {
  readonly #options: BodyRoomOptions;
  /** The turn is waited for, or has come, and the function has not started. */
  #isEntered = false;
  /** Functions that run in this room; one that goes on after its timeout counts. */
  #bodies = 0;
  /** Reasons for which others have the room now. */
  #loans = 0;

  constructor(options: BodyRoomOptions) {
    this.#options = options;
  }

  /** Before the function starts: settles when there is room. Undefined: it has it already. */
  enter(): Promise<void> | undefined {
    const { budget, call, requests, above } = this.#options;
    const isHeld = this.#isHeld;
    this.#isEntered = true;
    if (isHeld) return undefined;
    for (const room of above) room.lend();
    return budget.reserve(call, requests);
  }

  /** The function has started; `settled` settles with it and never rejects. */
  started(settled: Promise<unknown> | undefined): void {
    this.#isEntered = false;
    this.#bodies++;
    void settled?.then(() => {
      this.#bodies--;
      this.#giveBack();
    });
  }

  /** The call is over: a function that has not started will not. */
  leave(): void {
    if (!this.#isEntered) return;
    this.#isEntered = false;
    this.#giveBack();
  }

  /** The function begins to wait. */
  lend(): void {
    const { budget, call } = this.#options;
    if (this.#loans++ === 0 && this.#isHeld) budget.release(call);
  }

  /** The function goes on, and has its room back even if there is none: it cannot be stopped. */
  takeBack(): void {
    const { budget, call, requests } = this.#options;
    if (--this.#loans === 0 && this.#isHeld) budget.retake(call, requests);
  }

  get #isHeld(): boolean {
    return this.#isEntered || this.#bodies > 0;
  }

  #giveBack(): void {
    if (this.#isHeld) return;
    const { budget, call, above } = this.#options;
    // First, so that the bodies around it have theirs back before others get it.
    for (const room of above) room.takeBack();
    budget.release(call);
  }
}
