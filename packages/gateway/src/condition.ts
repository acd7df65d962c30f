import type { ErrorCode } from "@engine/contract";

/**
 * What is known to be wrong behind the gateway (GW-20). Whether a server can be reached is told by
 * whatever was last sent to one; whether the list can be had, only by a fetch of it.
 */
export class Condition {
  #isUnreached = false;
  #fetchFailure: ErrorCode | null = null;

  /** A server has answered something. */
  reached(): void {
    this.#isUnreached = false;
  }

  unreached(): void {
    this.#isUnreached = true;
  }

  fetched(): void {
    this.#isUnreached = false;
    this.#fetchFailure = null;
  }

  fetchFailed(code: ErrorCode): void {
    if (code === "upstream_unreachable") this.#isUnreached = true;
    else this.#fetchFailure = code;
  }

  /** Null while all is well. */
  get error(): ErrorCode | null {
    return this.#isUnreached ? "upstream_unreachable" : this.#fetchFailure;
  }
}
