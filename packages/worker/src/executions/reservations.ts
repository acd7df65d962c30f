import type { TaskRequests } from "@engine/contract";
import type { ResourceBudget } from "./resource-budget.ts";

/** What a copy's calls have of the worker's budget, or wait for, and how each of them ends that. */
type Shares = Map<string, () => void>;

/** Who has what of a worker's budget: functions of tasks, by copy and call (RES-4). */
export class Reservations {
  readonly #budget: ResourceBudget;
  readonly #copies = new Map<number, Shares>();

  constructor(budget: ResourceBudget) {
    this.#budget = budget;
  }

  /** Settles when the call has what it requests; rejects when that was released before. */
  async reserve(copy: number, call: string, requests: TaskRequests): Promise<void> {
    this.release(copy, call);
    const waiting = new AbortController();
    this.#add(copy, call, () => waiting.abort(new Error(`${call} needs no room any more`)));
    const giveBack = await this.#budget.acquire(requests, waiting.signal);
    // Released in the moment between its turn and here.
    if (waiting.signal.aborted) giveBack();
    waiting.signal.throwIfAborted();
    this.#add(copy, call, giveBack);
  }

  /** The call has what it requests at once, whether there is room or not. */
  retake(copy: number, call: string, requests: TaskRequests): void {
    this.release(copy, call);
    this.#add(copy, call, this.#budget.take(requests));
  }

  release(copy: number, call: string): void {
    const shares = this.#copies.get(copy);
    const end = shares?.get(call);
    shares?.delete(call);
    if (shares?.size === 0) this.#copies.delete(copy);
    end?.();
  }

  /** The copy is over, whatever it had. */
  releaseAll(copy: number): void {
    for (const call of this.#copies.get(copy)?.keys() ?? []) this.release(copy, call);
  }

  #add(copy: number, call: string, end: () => void): void {
    const shares: Shares = this.#copies.get(copy) ?? new Map();
    this.#copies.set(copy, shares.set(call, end));
  }
}
