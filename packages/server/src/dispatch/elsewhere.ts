import type { InnerPorts } from "../engine-ports.ts";
import { lacks } from "../gate/fits.ts";
import { type Dispatchable, gate, policyOf } from "../gate/gate.ts";
import type { Replicas } from "../replicas/replicas.ts";
import type { Session } from "../workers/session.ts";
import type { Sessions } from "../workers/sessions.ts";

interface Parts {
  readonly ports: Pick<InnerPorts, "setTimer">;
  readonly sessions: Sessions;
  readonly replicas: Pick<Replicas, "isLive" | "me" | "hasPeers">;
  /** Called when executions are not left to others any longer. */
  readonly onOver: () => void;
}

/** How long the server of a better worker has to take an execution first (DSP-6). */
const OTHERS_MS = 200;

/** Workers that are connected to other servers, and executions that are left to those for a moment. */
export class Elsewhere {
  readonly #parts: Parts;
  /**
   * Whether the time of each is over: no clock is read, which could say that it is not yet when the timer
   * says that it is, and then nobody would look again.
   */
  readonly #left = new Map<string, { isOver: boolean }>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** All connected workers; of those on other servers as much as was written down last. */
  *everywhere(): Generator<Session, void, undefined> {
    for (const session of this.#parts.sessions.all()) {
      if (session.isReady || this.#isElsewhere(session)) yield session;
    }
  }

  /** Whether the worker that is asked first is connected to another server, which may have room on it. */
  isBetter(wanted: Dispatchable): boolean {
    const { last_worker, was_lost, isFresh = false, requirements } = wanted;
    const isRanked = policyOf(wanted).length > 0;
    const { worker, prefers } = requirements ?? {};
    const original = was_lost || (isRanked && isFresh) ? null : last_worker;
    // Any other worker comes before the one that lost it (LIV-5).
    const preferred = isRanked || (was_lost && prefers === last_worker) ? null : prefers;
    const inOrder = worker === undefined ? [original, preferred] : [worker];
    for (const name of inOrder) {
      const session = name ? this.#parts.sessions.findByWorker(name) : undefined;
      if (!session?.takesWork || lacks(wanted, session) !== undefined) continue;
      if (this.#isElsewhere(session)) return true;
      if (session.isReady && session.hasFreeSlot) return false;
    }
    if (!isRanked || worker !== undefined || !this.#parts.replicas.hasPeers) return false;
    const answer = gate(wanted, this.everywhere());
    return answer.kind === "claim" && this.#isElsewhere(answer.candidate);
  }

  /** Whether an execution is still left to the server of a better worker. */
  isLeft(execution_id: string, wanted: () => Dispatchable): boolean {
    const { ports, onOver } = this.#parts;
    const known = this.#left.get(execution_id);
    if (known) return !known.isOver;
    if (!this.isBetter(wanted())) return false;
    const left = { isOver: false };
    this.#left.set(execution_id, left);
    ports.setTimer(() => {
      left.isOver = true;
      onOver();
    }, OTHERS_MS);
    return true;
  }

  forget(execution_id: string): void {
    this.#left.delete(execution_id);
  }

  #isElsewhere({ isHeld, row, ended }: Session): boolean {
    const { replica, disconnected_at } = row;
    if (isHeld || ended || replica === null || disconnected_at !== null) return false;
    return replica !== this.#parts.replicas.me && this.#parts.replicas.isLive(replica);
  }
}
