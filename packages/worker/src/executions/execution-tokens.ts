import { type ExecutionToken, parseInstant } from "@engine/contract";
import { hasCode } from "../transient.ts";
import type { World } from "../world.ts";
import type { Copy } from "./copy.ts";

/** However short a token lives, the server is not asked more often. */
const LEAST_MS = 1_000;
/** The longest a timer can run. */
const MOST_MS = 2 ** 31 - 1;

export interface ExecutionTokensOptions extends Pick<World, "setTimer"> {
  /** What the server's clock shows, milliseconds since 1970. */
  serverTime(): number;
  /** Asks the server for a new token. Rejects with what the server refuses, or when the copy stops. */
  renew(copy: Copy): Promise<ExecutionToken>;
}

interface Kept {
  readonly token: string;
  readonly expires_at: number;
  /** The claim that the token is good for. */
  readonly generation: number;
}

interface Held {
  kept: Kept | undefined;
  renewing: Promise<Kept | undefined> | undefined;
  cancelTimer: () => void;
}

/**
 * The tokens of the executions that a worker holds (AUTH-39): they stay here, on its main thread, but
 * for the one that a task asks for, and are renewed at half of their life (AUTH-42).
 */
export class ExecutionTokens {
  readonly #options: ExecutionTokensOptions;
  readonly #held = new Map<Copy, Held>();

  constructor(options: ExecutionTokensOptions) {
    this.#options = options;
  }

  /** The token that a copy's execution was assigned with. */
  keep(copy: Copy, token: ExecutionToken): void {
    this.#take(copy, this.#heldOf(copy), token, copy.generation);
  }

  /** The copy does not run here any more. */
  drop(copy: Copy): void {
    this.#held.get(copy)?.cancelTimer();
    this.#held.delete(copy);
  }

  /** The one that is valid now; null with authorization off. Rejects with what the server refuses. */
  async of(copy: Copy): Promise<string | null> {
    // It came without a token and nobody's rights are checked: there is no authorization.
    if (!this.#held.has(copy) && !copy.rights) return null;
    const held = this.#heldOf(copy);
    const valid = this.#isValid(copy, held.kept) ? held.kept : await this.#renew(copy, held);
    return valid?.token ?? null;
  }

  #heldOf(copy: Copy): Held {
    const held = this.#held.get(copy) ?? {
      kept: undefined,
      renewing: undefined,
      cancelTimer: () => {},
    };
    this.#held.set(copy, held);
    return held;
  }

  #isValid(copy: Copy, kept: Kept | undefined): boolean {
    return kept?.generation === copy.generation && this.#options.serverTime() < kept.expires_at;
  }

  #renew(copy: Copy, held: Held): Promise<Kept | undefined> {
    held.renewing ??= this.#ask(copy, held).finally(() => {
      held.renewing = undefined;
    });
    return held.renewing;
  }

  async #ask(copy: Copy, held: Held): Promise<Kept | undefined> {
    const { generation } = copy;
    try {
      return this.#take(copy, held, await this.#options.renew(copy), generation);
    } catch (error) {
      if (!hasCode(error, "not_found")) throw error;
      // Authorization was turned off, or the server does not know of tokens yet.
      this.drop(copy);
      return undefined;
    }
  }

  #take(copy: Copy, held: Held, { token, expires_at }: ExecutionToken, generation: number): Kept {
    // One whose end cannot be read is not given out twice.
    const expires = parseInstant(expires_at) || 0;
    held.cancelTimer();
    held.kept = { token, expires_at: expires, generation };
    if (this.#held.get(copy) === held) {
      const half = (expires - this.#options.serverTime()) / 2;
      const ms = Math.min(Math.max(half, LEAST_MS), MOST_MS);
      // What the server refuses is told when a task asks: until it expires there is the one from before.
      const renew = () => void this.#renew(copy, held).catch(() => {});
      held.cancelTimer = this.#options.setTimer(renew, ms);
    }
    return held.kept;
  }
}
