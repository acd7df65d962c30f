import type { FindKept, KeptSignal, SignalStep } from "./kept-signals.ts";

/** Kept signals in memory, for executions that are kept without a database. */
export class KeptSignalLists {
  readonly #lists: Map<string, readonly KeptSignal[]>;

  constructor(lists: ReadonlyMap<string, readonly KeptSignal[]> = new Map()) {
    this.#lists = new Map(lists);
  }

  /** The kept signals of an execution, in arrival order. */
  of(execution_id: string): readonly KeptSignal[] {
    return this.#lists.get(execution_id) ?? [];
  }

  finderOf(execution_id: string): FindKept {
    return (name, after) =>
      this.of(execution_id).find((kept) => kept.name === name && kept.seq > after);
  }

  /** Does what a change says. */
  follow(execution_id: string, steps: readonly SignalStep[] = []): void {
    for (const step of steps) this.#lists.set(execution_id, after(this.of(execution_id), step));
  }

  /** As it is now, to go back to. */
  copy(): KeptSignalLists {
    return new KeptSignalLists(this.#lists);
  }
}

function after(kept: readonly KeptSignal[], step: SignalStep): readonly KeptSignal[] {
  switch (step.kind) {
    case "keep":
      return [...kept, step.signal];
    case "take":
      return kept.filter(({ seq }) => seq !== step.signal.seq);
    case "drop":
      return [];
  }
}
