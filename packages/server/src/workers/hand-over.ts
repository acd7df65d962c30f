import { type ExecutionRow, type HandOver, handOver, type LossReason } from "@engine/contract";
import type { SessionGuard } from "@engine/store";
import type { Commits } from "../commits.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Session } from "./session.ts";

interface Held {
  readonly execution_id: string;
  readonly generation: number;
}

interface Why {
  /** Left out when the worker gave it back: that is no loss (LIV-5). */
  readonly loss?: LossReason | undefined;
  /** Only while the session is as thought. */
  readonly guard?: SessionGuard | undefined;
}

/** Takes executions from workers and puts them back into the queue (LIV-4). */
export class HandOvers {
  readonly #ports: Pick<EnginePorts, "store" | "clock" | "config" | "log">;
  readonly #commits: Commits;
  /** Sessions that lost the right to their executions while the store was away. */
  readonly #unfinished = new Map<Session, Why>();

  constructor(parts: {
    ports: Pick<EnginePorts, "store" | "clock" | "config" | "log">;
    commits: Commits;
  }) {
    this.#ports = parts.ports;
    this.#commits = parts.commits;
  }

  /** What the rules need to know of a hand-over. */
  terms(loss?: LossReason): HandOver {
    const { clock, config } = this.#ports;
    return {
      now: clock(),
      cancel_timeout_ms: config.executions.cancel_timeout * 1000,
      ...(loss && { loss: { reason: loss, max_crashes: config.workers.max_crashes } }),
    };
  }

  /** One execution, if the session still owns it at that generation. */
  async one(
    session: string,
    { execution_id, generation }: Held,
    { loss, guard }: Why = {},
    onlyIf: (row: ExecutionRow) => boolean = () => true,
  ): Promise<void> {
    await this.#commits.change(
      execution_id,
      (row) => {
        if (row.session !== session || row.generation !== generation) return undefined;
        return onlyIf(row) ? handOver(row, this.terms(loss)) : undefined;
      },
      { guard },
    );
  }

  /** All a session owns. Two callers share one run of it. */
  all(session: Session, why: Why = {}): Promise<void> {
    session.handingOver ??= this.#all(session, why).finally(() => {
      session.handingOver = undefined;
    });
    return session.handingOver;
  }

  /** Tries again what failed, unless the worker is back: then its listing has settled it. */
  async retry(): Promise<void> {
    for (const [session, why] of this.#unfinished) {
      this.#unfinished.delete(session);
      if (session.ended || !session.isConnected) await this.all(session, why);
    }
  }

  async #all(session: Session, why: Why): Promise<void> {
    try {
      // Claims on their way would be missed by the list: it only has what is committed.
      await Promise.allSettled([...session.claiming.values()].map(({ done }) => done));
      const owned = await this.#ports.store.listOwned(session.id);
      await Promise.all(owned.map((execution) => this.one(session.id, execution, why)));
    } catch (error) {
      this.#unfinished.set(session, why);
      throw error;
    }
  }
}
