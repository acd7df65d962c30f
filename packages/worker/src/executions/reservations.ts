import type { TaskRequests } from "@engine/contract";
import type { ResourceBudget } from "./resource-budget.ts";

/** Calls of a copy that have, or wait for, a part of the worker's budget, and what ends each. */
type Shares = Map<string, () => void>;

/** The parts of a worker's budget that functions of tasks have, by copy and call (RES-4). */
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
    // The call was released between the moment its turn came and this one.
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

  /** The copy is over: all that its calls had is free. */
  releaseAll(copy: number): void {
    for (const call of this.#copies.get(copy)?.keys() ?? []) this.release(copy, call);
  }

  #add(copy: number, call: string, end: () => void): void {
    const shares: Shares = this.#copies.get(copy) ?? new Map();
    this.#copies.set(copy, shares.set(call, end));
  }
}
