import {
  blamed,
  type ExecutionRow,
  type HandOver,
  type HandOverLoss,
  handOver,
  type Loss,
  type LossReason,
} from "@engine/contract";
import type { OwnedExecution, SessionGuard } from "@engine/store";
import type { Commits } from "../commits.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Session } from "./session.ts";

interface Held {
  readonly execution_id: string;
  readonly generation: number;
}

/** A loss, and whether it says anything of the execution (LIV-5). */
export type Lost = Pick<HandOverLoss, "reason" | "uncounted">;

interface Why {
  /** Left out when the worker gave it back: that is no loss (LIV-5). */
  readonly loss?: Lost | ((row: ExecutionRow) => Lost | undefined) | undefined;
  /** Only while the session is as thought. */
  readonly guard?: SessionGuard | undefined;
}

interface WhyAll extends Pick<Why, "guard"> {
  readonly loss?: LossReason | undefined;
}

/** Takes executions from workers and puts them back into the queue (LIV-4). */
export class HandOvers {
  readonly #ports: Pick<EnginePorts, "store" | "clock" | "config" | "log">;
  readonly #commits: Commits;
  /** Sessions that lost the right to their executions while the store was away. */
  readonly #unfinished = new Map<Session, WhyAll>();
  /** Sessions that may own an execution without this server knowing. */
  readonly #unsure: { readonly session: Session; readonly execution_id: string }[] = [];

  constructor(parts: {
    ports: Pick<EnginePorts, "store" | "clock" | "config" | "log">;
    commits: Commits;
  }) {
    this.#ports = parts.ports;
    this.#commits = parts.commits;
  }

  /** What the rules need to know of a hand-over. */
  terms(loss?: Lost): HandOver {
    const { clock, config } = this.#ports;
    return {
      now: clock(),
      cancel_timeout_ms: config.executions.cancel_timeout * 1000,
      ...(loss && { loss: { ...loss, max_crashes: config.workers.max_crashes } }),
    };
  }

  /** One execution, if the session still owns it at that generation; answers as it is then. */
  async one(
    session: string,
    { execution_id, generation }: Held,
    { loss, guard }: Why = {},
    onlyIf: (row: ExecutionRow) => boolean = () => true,
  ): Promise<ExecutionRow> {
    const { changed } = await this.#commits.change(
      execution_id,
      (row) => {
        if (row.session !== session || row.generation !== generation) return undefined;
        const lost = typeof loss === "function" ? loss(row) : loss;
        return onlyIf(row) ? handOver(row, this.terms(lost)) : undefined;
      },
      { guard },
    );
    return changed.row;
  }

  /** All a session owns. Two callers share one run of it. */
  all(session: Session, why: WhyAll = {}): Promise<void> {
    session.handingOver ??= this.#all(session, why).finally(() => {
      session.handingOver = undefined;
    });
    return session.handingOver;
  }

  /**
   * The answer to a claim was lost: looks what became of it, and again with {@link retry}, as the
   * database may still be at it. Never rejects.
   */
  async unsure(session: Session, execution_id: string): Promise<void> {
    try {
      await this.#settle(session, execution_id);
      this.#unsure.push({ session, execution_id });
    } catch {
      // The store is away; what could not be settled is kept for later.
    }
  }

  /** Tries again what failed, unless the worker is back: then its listing has settled it. */
  async retry(): Promise<void> {
    const unsure = this.#unsure.splice(0);
    await Promise.all(
      unsure.map(({ session, execution_id }) => this.#settle(session, execution_id)),
    );
    for (const [session, why] of this.#unfinished) {
      this.#unfinished.delete(session);
      if (session.ended || !session.isConnected) await this.all(session, why);
    }
  }

  /** Takes back what was claimed after all: no assignment was sent for it, and none will be. */
  async #settle(session: Session, execution_id: string): Promise<void> {
    const claim = session.holdings.claiming.get(execution_id);
    try {
      const row = await this.#ports.store.executions.find(execution_id);
      if (session.holdings.claiming.get(execution_id) !== claim) return;
      if (row?.session === session.id && !session.holdings.owns(row)) {
        await this.one(session.id, row, { guard: session.guard });
      }
      // A new claim may be on its way by now, and takes a slot.
      if (session.holdings.claiming.get(execution_id) === claim) {
        session.holdings.claiming.delete(execution_id);
      }
    } catch (error) {
      this.#unsure.push({ session, execution_id });
      throw error;
    }
  }

  /** {@link all} of a session that this server may not know. */
  async owned(session_id: string, { loss, guard }: WhyAll): Promise<void> {
    const owned = (await this.#ports.store.queue.listOwned(session_id)).map(withLosses);
    const guilty = blamed(owned);
    const lost = (one: unknown) => loss && { reason: loss, uncounted: one !== guilty };
    await Promise.all(owned.map((one) => this.one(session_id, one, { loss: lost(one), guard })));
  }

  async #all(session: Session, why: WhyAll): Promise<void> {
    try {
      // Claims on their way would be missed by the list: it only has what is committed.
      await Promise.allSettled([...session.holdings.claiming.values()].map(({ done }) => done));
      await this.owned(session.id, why);
    } catch (error) {
      this.#unfinished.set(session, why);
      throw error;
    }
  }
}

/** An execution that its worker does not have any more: a loss only if it had got going (WRK-9). */
export function lossIfRunning({ state }: ExecutionRow): Lost | undefined {
  return state === "RUNNING" ? { reason: "runner_lost" } : undefined;
}

/**
 * What a worker that polls has not listed: the answer that brought it may not have arrived, but where
 * that goes on it has to count, or it would be claimed with every poll.
 */
export function lossOfPoll(row: ExecutionRow): Lost {
  return lossIfRunning(row) ?? { reason: "forgotten" };
}

function withLosses(execution: OwnedExecution): Held & { readonly losses: readonly Loss[] } {
  const { losses } = execution;
  return { ...execution, losses: losses === null ? [] : (JSON.parse(losses) as Loss[]) };
}
