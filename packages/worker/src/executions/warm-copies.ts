import type { Runner } from "../runners/runner.ts";
import type { Copy } from "./copy.ts";

/** A copy that stays in its runner's memory, without a slot, while its execution waits. */
export interface WarmCopy
  extends Pick<Copy, "number" | "execution_id" | "module_hash" | "name" | "seq"> {
  readonly runner: Runner;
}

/** The copies that may wake without a replay (RUN-4). Where there are too many, the oldest goes. */
export class WarmCopies {
  readonly #limit: number;
  /** In the order in which they began to wait. */
  readonly #byExecution = new Map<string, WarmCopy>();

  /** @param limit 0 keeps none. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#byExecution.size;
  }

  keep(copy: WarmCopy): void {
    const { number, execution_id, module_hash, name, seq, runner } = copy;
    this.#byExecution.set(execution_id, { number, execution_id, module_hash, name, seq, runner });
    for (const longest of this.#byExecution.values()) {
      if (this.size <= this.#limit) break;
      this.#drop(longest);
    }
  }

  /** The copy that waits for this execution, if it may go on: it is no longer kept. */
  take(wanted: Omit<WarmCopy, "number" | "runner">): WarmCopy | undefined {
    const warm = this.#byExecution.get(wanted.execution_id);
    if (!warm) return undefined;
    const isSameCode = warm.module_hash === wanted.module_hash && warm.name === wanted.name;
    if (isSameCode && warm.seq < wanted.seq) {
      this.#byExecution.delete(warm.execution_id);
      return warm;
    }
    // Code sees the execution's name; a log that has not grown is not one to go on with.
    this.#drop(warm);
    return undefined;
  }

  /** A runner has died, and all that waited on it. */
  runnerDied(runner: Runner): void {
    for (const warm of this.#byExecution.values()) {
      if (warm.runner === runner) this.#byExecution.delete(warm.execution_id);
    }
  }

  /** A runner needs the memory. */
  dropOn(runner: Runner): void {
    for (const warm of this.#byExecution.values()) if (warm.runner === runner) this.#drop(warm);
  }

  dropAll(): void {
    for (const warm of this.#byExecution.values()) this.#drop(warm);
  }

  #drop({ execution_id, number, runner }: WarmCopy): void {
    this.#byExecution.delete(execution_id);
    runner.post([{ kind: "forget", copy: number }]);
  }
}
