import { realClock } from "../node/replay-safe/real.ts";
import { immediately } from "./process.ts";

interface Watched {
  /** A copy or the engine goes on by itself. */
  readonly hasTurns: () => boolean;
  /** Functions of the user's run, for as long as they like. */
  readonly isRunning: () => boolean;
}

/** Turns of the event loop without a move after which nothing is expected any more. */
const STILL_TURNS = 3;
/** Turns after which looking again and again gives way to waiting. */
const EAGER_TURNS = 200;

/** Knows when everything has happened that happens without time passing. */
export class Stillness {
  readonly #watched: Watched;
  #moves = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Something has happened. */
  moved(): void {
    this.#moves++;
  }

  /**
   * @param isOver Ends the wait early.
   * @param patience_ms Real time without a move after which functions that run are waited for no
   *   longer; by default they are waited for as long as it takes.
   */
  async reached({
    isOver = () => false,
    patience_ms = Number.POSITIVE_INFINITY,
  }: {
    readonly isOver?: () => boolean;
    readonly patience_ms?: number | undefined;
  } = {}): Promise<"still" | "over" | "impatient"> {
    let moves = this.#moves;
    let since = realClock.now();
    let still = 0;
    for (let turns = 0; still < STILL_TURNS; turns++) {
      if (isOver()) return "over";
      await (turns < EAGER_TURNS ? new Promise<void>(immediately) : this.breath());
      if (moves !== this.#moves || this.#watched.hasTurns()) {
        [moves, since, still] = [this.#moves, realClock.now(), 0];
      } else if (!this.#watched.isRunning()) still++;
      else if (realClock.now() - since > patience_ms) return "impatient";
    }
    return "still";
  }

  /** A real millisecond, for what the engine knows nothing of. */
  breath(): Promise<void> {
    return new Promise((resolve) => {
      realClock.setTimeout(resolve, 1);
    });
  }
}
