import { EngineError } from "@engine/contract";
import type { Caller } from "./authorize.ts";
import type { Permit } from "./permit.ts";
import type { Repeat } from "./repeat.ts";

/** A server knows of a change within two seconds; the answers it ends have to be over within five. */
const LOOK_MS = 2_000;

/** Whether the caller of an answer that goes on for long may still have it (AUTH-58). */
export class Standing {
  readonly #caller: Caller;
  readonly #permit: Pick<Permit, "again">;

  private constructor(caller: Caller, permit: Pick<Permit, "again">) {
    this.#caller = caller;
    this.#permit = permit;
  }

  /** Undefined where nothing can be lost while the answer lasts. */
  static of(caller: Caller, permit: Pick<Permit, "again">): Standing | undefined {
    return caller.again && new Standing(caller, permit);
  }

  /**
   * Asks anew; at once, without a promise, while nothing can have changed.
   *
   * @throws EngineError by which the answer is refused from now on, thrown or as a rejection.
   */
  check(): Promise<void> | undefined {
    const caller = this.#caller.again?.() ?? this.#caller;
    if (caller instanceof Promise) return caller.then((now) => this.#judge(now));
    this.#judge(caller);
    return undefined;
  }

  #judge({ rights }: Caller): void {
    // Of somebody who might do everything nothing was demanded that could be demanded again.
    if (this.#caller.rights) this.#permit.again(rights);
  }
}

interface Watched {
  readonly standing: Standing;
  readonly lost: (refused: EngineError) => void;
  isAsked: boolean;
}

/** Looks after answers that go on for long, also while nothing of them is sent. */
export class StandingWatch {
  readonly #repeat: Repeat;
  readonly #watched = new Set<Watched>();
  #stop: (() => void) | undefined;

  constructor(repeat: Repeat) {
    this.#repeat = repeat;
  }

  /**
   * @param lost Called with what the answer is refused by, perhaps more than once.
   * @returns Ends the watch.
   */
  add(standing: Standing, lost: Watched["lost"]): () => void {
    const watched = { standing, lost, isAsked: false };
    this.#watched.add(watched);
    this.#stop ??= this.#repeat(LOOK_MS, () => this.#look());
    return () => void this.#watched.delete(watched);
  }

  #look(): void {
    for (const watched of this.#watched) if (!watched.isAsked) void this.#ask(watched);
    if (this.#watched.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }

  async #ask(watched: Watched): Promise<void> {
    try {
      const checking = watched.standing.check();
      watched.isAsked = checking !== undefined;
      await checking;
    } catch (refused) {
      // A server that cannot tell at the moment has lost nobody anything; what is sent meanwhile asks
      // by itself.
      const isLoss = refused instanceof EngineError && refused.status < 500;
      if (isLoss && this.#watched.has(watched)) watched.lost(refused);
    } finally {
      watched.isAsked = false;
    }
  }
}
