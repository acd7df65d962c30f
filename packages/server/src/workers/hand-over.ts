import { handOver } from "@engine/contract";
import type { Commits } from "../commits.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Session } from "./session.ts";

/** Takes executions from workers and puts them back into the queue (LIV-4). */
export class HandOvers {
  readonly #ports: Pick<EnginePorts, "store" | "clock" | "config" | "log">;
  readonly #commits: Commits;
  /** Sessions that lost the right to their executions while the store was away. */
  readonly #unfinished = new Set<Session>();

  constructor(parts: {
    ports: Pick<EnginePorts, "store" | "clock" | "config" | "log">;
    commits: Commits;
  }) {
    this.#ports = parts.ports;
    this.#commits = parts.commits;
  }

  /** One execution, if the session still owns it at that generation. */
  async one(
    session: Session,
    { execution_id, generation }: { execution_id: string; generation: number },
  ): Promise<void> {
    await this.#commits.change(execution_id, (row) => {
      if (row.session !== session.id || row.generation !== generation) return undefined;
      const { clock, config } = this.#ports;
      return handOver(row, clock(), config.executions.cancel_timeout * 1000);
    });
  }

  /** All a session owns. Two callers share one run of it. */
  all(session: Session): Promise<void> {
    session.handingOver ??= this.#all(session).finally(() => {
      session.handingOver = undefined;
    });
    return session.handingOver;
  }

  /** Tries again what failed, unless the worker is back: then its listing has settled it. */
  async retry(): Promise<void> {
    for (const session of this.#unfinished) {
      this.#unfinished.delete(session);
      if (session.ended || !session.isConnected) await this.all(session);
    }
  }

  async #all(session: Session): Promise<void> {
    try {
      // Claims on their way would be missed by the list: it only has what is committed.
      await Promise.allSettled(session.claiming.values());
      const owned = await this.#ports.store.listOwned(session.id);
      await Promise.all(owned.map((execution) => this.one(session, execution)));
    } catch (error) {
      this.#unfinished.add(session);
      throw error;
    }
  }
}
