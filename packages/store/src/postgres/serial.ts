import {
  closedStore,
  isDatabaseFailure,
  StatementFailure,
  unavailable,
  unknownOutcome,
  unwritable,
} from "./database-failure.ts";

/** Writes off the hot path: one after the other, in the order of asking. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  write<Value>(write: () => Promise<Value>): Promise<Value> {
    if (this.#closed) return Promise.reject(closedStore());
    const turn = this.#last.then(write).catch((error) => {
      if (isDatabaseFailure(error)) {
        throw error.kind === "lost" ? unknownOutcome(error) : unavailable(error);
      }
      throw error instanceof StatementFailure ? unwritable(error) : error;
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
  }
}
