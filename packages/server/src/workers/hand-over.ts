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
import type { Claiming, Held } from "./holdings.ts";
import type { Session } from "./session.ts";

/** A loss, and whether it says anything about the execution (LIV-5). */
export type Lost = Pick<HandOverLoss, "reason" | "uncounted">;

interface Why {
  /** Left out when the worker gave the execution back: that is no loss (LIV-5). */
  readonly loss?: Lost | ((row: ExecutionRow) => Lost | undefined) | undefined;
  /** What must hold of the session for the execution to be taken. */
  readonly guard?: SessionGuard | undefined;
}

interface WhyAll extends Pick<Why, "guard"> {
  readonly loss?: LossReason | undefined;
}

/** An execution that a session may own without this server knowing. */
interface Doubt {
  readonly session: Session;
  readonly execution_id: string;
  /** The claim whose answer was lost, while it has a slot for that. */
  readonly claim: Claiming | undefined;
}

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "clock" | "config">;
  readonly commits: Commits;
}

/** Takes executions from workers and puts them back into the queue (LIV-4). */
export class HandOvers {
  readonly #parts: Parts;
  /** Sessions that lost the right to their executions while the store was away. */
  readonly #unfinished = new Map<Session, WhyAll>();
  /** Sessions that may own an execution without this server knowing. */
  readonly #unsure: Doubt[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What the rules need to know of a hand-over. */
  terms(loss?: Lost): HandOver {
    const { clock, config } = this.#parts.ports;
    return {
      now: clock(),
      cancel_timeout_ms: config.executions.cancel_timeout * 1000,
      ...(loss && { loss: { ...loss, max_crashes: config.workers.max_crashes } }),
    };
  }

  /** Hands over one execution, if the session still owns it at that generation; answers its row. */
  async one(
    session: string,
    { execution_id, generation }: Held,
    { loss, guard }: Why,
  ): Promise<ExecutionRow> {
    const { changed } = await this.#parts.commits.change(
      execution_id,
      (row) => {
        if (row.session !== session || row.generation !== generation) return undefined;
        return handOver(row, this.terms(typeof loss === "function" ? loss(row) : loss));
      },
      { guard },
    );
    return changed.row;
  }

  /** Hands over all that a session owns. Two callers share one run. */
  all(session: Session, why: WhyAll = {}): Promise<void> {
    session.handingOver ??= this.#all(session, why).finally(() => {
      session.handingOver = undefined;
    });
    return session.handingOver;
  }

  /**
   * Looks what became of a claim whose answer was lost, and again with {@link retry}, as the database
   * may still be at it. Never rejects.
   */
  async unsure(session: Session, execution_id: string, claim: Claiming): Promise<void> {
    try {
      await this.#settle({ session, execution_id, claim });
      this.#unsure.push({ session, execution_id, claim: undefined });
    } catch {
      // The store is away; the claim is kept for later.
    }
  }

  /** Tries again what failed, unless the worker is back: then its listing has settled everything. */
  async retry(): Promise<void> {
    const unsure = this.#unsure.splice(0);
    await Promise.all(unsure.map((doubt) => this.#settle(doubt)));
    for (const [session, why] of this.#unfinished) {
      this.#unfinished.delete(session);
      if (session.ended || !session.isConnected) await this.all(session, why);
    }
  }

  /** Takes an execution back that was claimed after all: its assignment was never sent. */
  async #settle(doubt: Doubt): Promise<void> {
    const { session, execution_id, claim } = doubt;
    const { claiming } = session.holdings;
    const hasNewer = () => claiming.get(execution_id) !== claim;
    try {
      const row = hasNewer()
        ? undefined
        : await this.#parts.ports.store.executions.find(execution_id);
      // A newer claim keeps its slot, and what it owns; it may fail, so there is another look.
      if (hasNewer()) {
        this.#unsure.push({ session, execution_id, claim: undefined });
        return;
      }
      if (row?.session === session.id && !session.holdings.owns(row)) {
        await this.one(session.id, row, { guard: session.guard });
      }
      if (!hasNewer()) session.holdings.claimed(execution_id);
    } catch (error) {
      this.#unsure.push(doubt);
      throw error;
    }
  }

  /** As {@link all}, for a session that this server may not know. */
  async owned(session_id: string, { loss, guard }: WhyAll): Promise<void> {
    const owned = (await this.#parts.ports.store.queue.listOwned(session_id)).map(withLosses);
    const guilty = blamed(owned);
    const lost = (one: unknown) => loss && { reason: loss, uncounted: one !== guilty };
    await Promise.all(owned.map((one) => this.one(session_id, one, { loss: lost(one), guard })));
  }

  async #all(session: Session, why: WhyAll): Promise<void> {
    try {
      // The list would miss claims on their way: it only has what is committed.
      await Promise.allSettled([...session.holdings.claiming.values()].map(({ done }) => done));
      await this.owned(session.id, why);
    } catch (error) {
      this.#unfinished.set(session, why);
      throw error;
    }
  }
}

/** The loss when a worker no longer has an execution: none, unless that had begun to run (WRK-9). */
export function lossIfRunning({ state }: ExecutionRow): Lost | undefined {
  return state === "RUNNING" ? { reason: "runner_lost" } : undefined;
}

/**
 * The loss when a polling worker does not list an execution. The answer that brought the execution may
 * not have arrived, but that has to count all the same, or it would be claimed again with every poll.
 */
export function lossOfPoll(row: ExecutionRow): Lost {
  return lossIfRunning(row) ?? { reason: "forgotten" };
}

function withLosses(execution: OwnedExecution): Held & { readonly losses: readonly Loss[] } {
  const { losses } = execution;
  return { ...execution, losses: losses === null ? [] : (JSON.parse(losses) as Loss[]) };
}
