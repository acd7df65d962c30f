import type { EpochWatch } from "../auth/epoch-watch.ts";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { HandOvers } from "./hand-over.ts";
import type { Liveness } from "./liveness.ts";
import type { Sessions } from "./sessions.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "log">;
  readonly sessions: Sessions;
  readonly handOvers: HandOvers;
  readonly liveness: Liveness;
  readonly epochs: EpochWatch;
}

/**
 * Ends the sessions whose credential was revoked: the store has ended them with it, here their streams
 * close, and what they own goes back to the queue (AUTH-58, LIV-4). What this server does not come to
 * the sweep takes.
 */
export class RevokedSessions implements Domain {
  readonly #parts: Parts;
  #looking: Promise<void> | undefined;
  #isDue = false;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.epochs.onChange("identity", () => this.#look());
  }

  refresh(): void {
    this.#look();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#looking;
  }

  /** One look at a time; what changed during one is looked at by the next. */
  #look(): void {
    this.#isDue = true;
    this.#looking ??= this.#lookAll().finally(() => {
      this.#looking = undefined;
    });
  }

  async #lookAll(): Promise<void> {
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      try {
        await this.#endRevoked();
      } catch (error) {
        const message = "could not look for revoked workers; the safety tick does";
        this.#parts.ports.log.warn({ err: error }, message);
      }
    }
  }

  async #endRevoked(): Promise<void> {
    const { ports, sessions, handOvers, liveness } = this.#parts;
    const guarded = [...sessions.all()].filter(
      ({ row, ended }) => row.credential_line !== null && !ended,
    );
    if (guarded.length === 0) return;
    const live = new Set((await ports.store.sessions.listLive()).map((row) => row.session_id));
    for (const session of guarded.filter(({ id, ended }) => !live.has(id) && !ended)) {
      const row = await ports.store.sessions.find(session.id);
      if (row?.end_reason !== "revoked") continue;
      ports.log.warn({ worker: session.worker }, "worker lost: its credential was revoked");
      session.ended = "revoked";
      session.letGo();
      liveness.unwatch(session);
      await handOvers.all(session);
      sessions.remove(session);
    }
  }
}
