import type { FindKept, KeptSignal, SignalStep } from "@engine/contract";
import { fromText } from "../execution-columns.ts";
import type { Connection, Statement } from "./connection.ts";

/** Signals that came before anybody waited for them. Every method belongs inside a transaction. */
export class KeptSignals {
  readonly #oldest: Statement<readonly [seq: number, payload: string]>;
  readonly #keep: Statement<unknown>;
  readonly #take: Statement<unknown>;
  readonly #drop: Statement<unknown>;

  constructor(connection: Connection) {
    this.#oldest = connection.prepareRaw(`
      SELECT seq, payload FROM kept_signals
      WHERE execution_id = ? AND name = ? AND seq > ? ORDER BY seq LIMIT 1`);
    this.#keep = connection.prepare("INSERT INTO kept_signals VALUES (?, ?, ?, ?)");
    this.#take = connection.prepare(
      "DELETE FROM kept_signals WHERE execution_id = ? AND name = ? AND seq = ?",
    );
    this.#drop = connection.prepare("DELETE FROM kept_signals WHERE execution_id = ?");
  }

  finderOf(execution_id: string): FindKept {
    return (name, after): KeptSignal | undefined => {
      const [seq, payload] = this.#oldest.get(execution_id, name, after) ?? [];
      if (seq === undefined || payload === undefined) return undefined;
      return { seq, name, payload: fromText(payload) };
    };
  }

  follow(execution_id: string, steps: readonly SignalStep[]): void {
    for (const step of steps) {
      if (step.kind === "drop") {
        this.#drop.run(execution_id);
        continue;
      }
      const { name, seq } = step.signal;
      if (step.kind === "take") this.#take.run(execution_id, name, seq);
      else this.#keep.run(execution_id, seq, name, JSON.stringify(step.signal.payload));
    }
  }
}
