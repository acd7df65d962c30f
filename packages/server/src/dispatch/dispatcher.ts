import {
  type Assignment,
  type ClaimReason,
  decideClaim,
  EngineError,
  type ExecutionRow,
  type Holding,
  isQueued,
  type NewExecution,
} from "@engine/contract";
import type { Changed, QueuedExecution } from "@engine/store";
import type { Catalog } from "../catalog/catalog.ts";
import type { Commits } from "../commits.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { ProgressHub } from "../progress/progress-hub.ts";
import type { Session } from "../workers/session.ts";
import type { Sessions } from "../workers/sessions.ts";
import { historyOf } from "./assigned-history.ts";
import { assignmentOf } from "./assignment.ts";
import { reasonOf } from "./claim-reason.ts";
import { compareQueued, DispatchQueue } from "./dispatch-queue.ts";
import { gate } from "./gate.ts";

interface Parts {
  readonly ports: EnginePorts;
  readonly commits: Commits;
  readonly sessions: Sessions;
  readonly catalog: Catalog;
  readonly progress: ProgressHub;
}

/** Waiting executions that are kept in memory after a look at the store. */
const READ_LIMIT = 10_000;

/**
 * Gives executions to workers. It looks when something happened (a new row, a resume, a freed slot,
 * a connection, a hand-over) and never asks the store otherwise; {@link refresh} is the safety net.
 */
export class Dispatcher {
  readonly #parts: Parts;
  readonly #ports: EnginePorts;
  readonly #queue = new DispatchQueue();
  #claimsInFlight = 0;
  /** Rows behind this one were left in the store. */
  #cutOff: QueuedExecution | undefined;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#ports = parts.ports;
  }

  /** Writes a fresh execution; when a worker is free for it, the claim rides in the same commit. */
  async create(fresh: NewExecution): Promise<Changed> {
    // A copied log is not sent along: it may be long, and its claim comes after what it leads to.
    const isFree = this.#isClear() && !fresh.fork?.history.length;
    const last_worker = fresh.preferred_worker ?? null;
    const session = isFree ? this.#choose({ last_worker }) : undefined;
    const { commits } = this.#parts;
    if (!session) return (await commits.create(fresh)).changed;
    const { worker, id } = session;
    const commit = commits.create(fresh, { worker, session: id, now: fresh.now });
    session.claiming.set(fresh.execution_id, commit);
    try {
      const { changed } = await commit;
      this.#send(session, changed);
      return changed;
    } finally {
      session.claiming.delete(fresh.execution_id);
      this.wake();
    }
  }

  /**
   * A reconnected worker still runs what was taken from it and nobody else has: it may go on under
   * a new generation, if the gate admits it (WRK-9).
   */
  async adopt(session: Session, holding: Holding): Promise<ExecutionRow | undefined> {
    const { execution_id, generation } = holding;
    if (gate({ last_worker: session.worker }, [session]).kind !== "claim") return undefined;
    try {
      const { changed, wrote } = await this.#claim(session, execution_id, (row) => {
        return row.generation === generation && row.last_worker === session.worker && isQueued(row);
      });
      return wrote ? changed.row : undefined;
    } catch (error) {
      if (error instanceof EngineError && error.code === "not_found") return undefined;
      throw error;
    }
  }

  onCommit({ row }: Changed): void {
    if (isQueued(row)) this.#enqueue(row);
    else this.#queue.remove(row.execution_id);
    this.wake();
  }

  /** Gives out what can be given out now. */
  wake(): void {
    for (let i = 0; i < this.#queue.size && this.#mayClaim(); ) {
      const entry = this.#queue.at(i);
      const session = entry && this.#choose(entry);
      if (!entry || !session) {
        // It waits; those behind it may match another worker.
        i++;
        continue;
      }
      this.#queue.remove(entry.execution_id);
      void this.#dispatch(session, entry.execution_id);
    }
    if (this.#queue.size === 0 && this.#cutOff && !this.#isClosed) {
      this.#cutOff = undefined;
      this.refresh().catch((error) => this.#failed("could not read the queue", error));
    }
  }

  /** Looks for waiting rows in the store: at the start, and for what a wake-up missed. */
  async refresh(): Promise<void> {
    const rows = await this.#ports.store.listQueued(READ_LIMIT);
    this.#cutOff = rows.length === READ_LIMIT ? rows.at(-1) : undefined;
    for (const row of rows) this.#queue.add(row);
    this.wake();
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Nothing waits that would have to be served first. */
  #isClear(): boolean {
    return this.#queue.size === 0 && !this.#cutOff && !this.#isClosed;
  }

  #mayClaim(): boolean {
    if (this.#isClosed || this.#claimsInFlight >= this.#ports.config.dispatch.batch_size) {
      return false;
    }
    for (const { isReady, takesWork, hasFreeSlot } of this.#parts.sessions.all()) {
      if (isReady && takesWork && hasFreeSlot) return true;
    }
    return false;
  }

  #choose(execution: { readonly last_worker: string | null }): Session | undefined {
    const answer = gate(execution, this.#connected());
    return answer.kind === "claim" ? answer.candidate : undefined;
  }

  *#connected(): Generator<Session, void, undefined> {
    for (const session of this.#parts.sessions.all()) if (session.isReady) yield session;
  }

  #enqueue({ execution_id, priority, queued_at, last_worker }: ExecutionRow): void {
    const entry = { execution_id, priority, queued_at, last_worker };
    // Rows left in the store come before it: they are read together when their turn comes.
    if (this.#cutOff && compareQueued(entry, this.#cutOff) > 0) return;
    this.#queue.add(entry);
  }

  async #dispatch(session: Session, execution_id: string): Promise<void> {
    this.#claimsInFlight++;
    try {
      const { changed, wrote } = await this.#claim(session, execution_id, () => session.isReady);
      if (wrote) this.#send(session, changed);
      // This worker went away meanwhile. Had somebody been faster, it would not wait any more.
      else if (isQueued(changed.row)) this.#enqueue(changed.row);
    } catch (error) {
      // The row is as it was; the safety tick finds it again.
      this.#failed(`could not claim execution ${execution_id}`, error);
    } finally {
      this.#claimsInFlight--;
      this.wake();
    }
  }

  async #claim(
    session: Session,
    execution_id: string,
    isStillMeant: (row: ExecutionRow) => boolean,
  ): Promise<{ changed: Changed; wrote: boolean }> {
    const { worker, id } = session;
    const commit = this.#parts.commits.change(
      execution_id,
      (row) => {
        if (!isStillMeant(row)) return undefined;
        return decideClaim(row, { worker, session: id, now: this.#ports.clock() });
      },
      // The claim itself rides the assignment, or the answer to a reconnect.
      { ownerHas: () => 1 },
    );
    session.claiming.set(execution_id, commit);
    try {
      return await commit;
    } finally {
      session.claiming.delete(execution_id);
    }
  }

  #send(session: Session, changed: Changed): void {
    const reason = reasonOf(changed);
    const module = this.#parts.catalog.loadedModule(changed.row.module_hash);
    const history = historyOf(this.#ports.store, changed);
    if (module && !(history instanceof Promise)) {
      this.#assign(session, changed.row, { reason, module, history });
      return;
    }
    this.#sendLater(session, changed, { reason, history }).catch((error) => {
      // Reconnecting hands it back: the worker does not list what it never got.
      session.closeStream();
      this.#failed(`could not send execution ${changed.row.execution_id}`, error);
    });
  }

  async #sendLater(
    session: Session,
    { row }: Changed,
    rest: {
      reason: ClaimReason;
      history: Assignment["history"] | Promise<Assignment["history"]>;
    },
  ): Promise<void> {
    const [module, history] = await Promise.all([
      this.#parts.catalog.loadModule(row.module_hash),
      rest.history,
    ]);
    this.#assign(session, row, { ...rest, module, history });
  }

  #assign(
    session: Session,
    row: ExecutionRow,
    rest: Pick<Assignment, "reason" | "module" | "history">,
  ): void {
    const listen = this.#parts.progress.isWatched(row.execution_id);
    session.assign({ event: "assign", data: assignmentOf(row, { ...rest, listen }) });
  }

  #failed(message: string, error: unknown): void {
    if (!this.#isClosed) this.#ports.log.error({ err: error }, message);
  }
}
