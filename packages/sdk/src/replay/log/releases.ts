import type { Host } from "../port.ts";

/** Hands one outcome over; a promise when its value has to be fetched first. */
type Release = () => void | Promise<void>;

/**
 * Hands outcomes to the code one at a time, each followed by a full drain of microtasks, so that
 * whatever one outcome sets in motion has happened before the next arrives. A first run and a
 * replay go through the same queue in the same order, which is what makes races, nested branches
 * and interleavings come out the same (EXE-27).
 */
export class Releases {
  readonly #host: Host;
  readonly #onIdle: () => void;
  #queue: Release[] = [];
  #next = 0;
  /** What follows from the outcome released last, and must happen before the next one. */
  #consequences: (() => void)[] = [];
  #state: "idle" | "active" | "stopped" = "idle";
  /** Number of the copy's life: steps that a parked life left behind must not move the next one. */
  #life = 0;

  constructor(host: Host, onIdle: () => void) {
    this.#host = host;
    this.#onIdle = onIdle;
  }

  get isIdle(): boolean {
    return this.#state !== "active";
  }

  push(release: Release): void {
    this.#queue.push(release);
    if (this.#state !== "idle") return;
    this.#state = "active";
    this.#step();
  }

  /** Releases it once the code has come to rest, as it has before an outcome that the log holds. */
  pushAtRest(release: Release): void {
    this.#queue.push(release);
    this.#startAtRest();
  }

  /** Runs `then` once the turn is over, but before anything else is released. */
  afterTurn(then: () => void): void {
    this.#consequences.push(then);
    this.#startAtRest();
  }

  /** Forgets what has not been released yet. */
  clear(): void {
    this.#queue = [];
    this.#next = 0;
    this.#consequences = [];
  }

  stop(): void {
    this.#state = "stopped";
    this.clear();
  }

  /** A parked copy goes on. */
  restart(): void {
    this.#life++;
    this.#state = "idle";
  }

  #startAtRest(): void {
    if (this.#state !== "idle") return;
    this.#state = "active";
    this.#host.drain(() => this.#step());
  }

  #step(): void {
    if (this.#state === "stopped") return;
    const next = this.#consequences.shift() ?? this.#queue[this.#next++];
    if (!next) {
      this.#queue = [];
      this.#next = 0;
      this.#state = "idle";
      this.#onIdle();
      return;
    }
    const fetched = next();
    const life = this.#life;
    const goOn = () =>
      this.#host.drain(() => {
        if (life === this.#life) this.#step();
      });
    if (fetched) void fetched.then(goOn);
    else goOn();
  }
}
