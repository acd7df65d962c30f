import type { World } from "../world.ts";
import type { OwnCredential } from "./own-credential.ts";
import type { OwnSession } from "./own-session.ts";
import type { ServerClock } from "./server-clock.ts";

/** Whatever the clocks say, it is not renewed more often. */
const LEAST_MS = 10_000;
/** Timers are not set for longer; then there is another look. */
const LONGEST_MS = 86_400_000;

interface Parts extends Pick<World, "clock" | "setTimer" | "life" | "log"> {
  readonly session: Pick<OwnSession, "persist">;
  readonly serverClock: Pick<ServerClock, "offsetMs">;
  readonly credential: Pick<OwnCredential, "expiresAt" | "onKept">;
  /** Asks for the successor, and keeps it. */
  readonly renew: () => Promise<void>;
}

/** Renews the worker's credential at two thirds of its life (AUTH-51). */
export class Renewal {
  readonly #parts: Parts;
  #cancel: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.credential.onKept(() => this.#began());
    parts.life.addEventListener("abort", () => this.#cancel?.(), { once: true });
  }

  /** A new credential: what is left of it now is its life. */
  #began(): void {
    const left = this.#left();
    this.#watch(left / 3);
  }

  /** @param margin What is to be left of it when it is renewed. */
  #watch(margin: number): void {
    const { life, setTimer } = this.#parts;
    this.#cancel?.();
    if (life.aborted) return;
    const wait = Math.min(Math.max(this.#left() - margin, LEAST_MS), LONGEST_MS);
    this.#cancel = setTimer(() => {
      if (this.#left() > margin) this.#watch(margin);
      else void this.#renew();
    }, wait);
  }

  async #renew(): Promise<void> {
    const { session, renew, life, log } = this.#parts;
    try {
      await session.persist(renew);
    } catch {
      // A worker that the server refuses has said so where it registers.
      if (!life.aborted) log.debug({}, "the credential was not renewed");
    }
  }

  #left(): number {
    const { credential, clock, serverClock } = this.#parts;
    return (credential.expiresAt ?? 0) - (clock() - (serverClock.offsetMs ?? 0));
  }
}
