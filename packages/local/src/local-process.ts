import {
  type Change,
  decideClaim,
  decideWake,
  EngineError,
  type ExecutionRow,
  isTerminal,
} from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import type { Changed } from "@engine/store";
import type { ChangeExecution } from "./checkpoint-port.ts";
import { decideSuccession, type Successor } from "./continue-rules.ts";
import { HeldExecution } from "./held-execution.ts";
import { type LocalWorld, localClaimant } from "./local-parts.ts";
import { Lookout } from "./lookout.ts";

/** How long the process that had an execution before may still go on with it by itself. */
const GRACE_MS = 1000;

interface Held {
  readonly execution: HeldExecution;
  /** Settles when the execution has come to rest here. */
  readonly rest: Promise<void>;
}

/**
 * The executions that one process runs, and how they meet: a child starts as soon as it is created,
 * its parent goes on as soon as it has ended, what others write reaches the copy that it concerns.
 */
export class LocalProcess {
  readonly #world: LocalWorld;
  readonly #held = new Map<string, Held>();
  readonly #lookout: Lookout;
  /** Cancels what waits for its grace to pass. */
  readonly #pending = new Set<() => void>();
  #closed: EngineError | undefined;

  constructor(world: LocalWorld) {
    this.#world = world;
    this.#lookout = new Lookout({
      host: world.host,
      clock: world.clock,
      nextWake: (now) => this.#nextWake(now),
      wake: (now) => this.#wake(now),
      look: () => this.#look(),
    });
  }

  /** Who this process is when it takes an execution. */
  get successor(): Successor {
    const { cancel_timeout } = this.#world.limits;
    return { claimant: localClaimant(this.#world), cancel_timeout_ms: cancel_timeout * 1000 };
  }

  find(execution_id: string): Held | undefined {
    return this.#held.get(execution_id);
  }

  readonly change: ChangeExecution = async (execution_id, decide, options = {}) => {
    const { above, told } = options;
    const changed = await this.#world.store.executions.change(
      execution_id,
      decide,
      above === undefined ? {} : { above },
    );
    this.#notice(changed, told);
    return changed;
  };

  /**
   * Runs an execution that this process has claimed. Settles when it has ended or paused, or when
   * nothing in this process can bring it further; rejects when it was taken from this process.
   */
  run(workflow: AnyWorkflow, row: ExecutionRow): Promise<void> {
    const { execution_id } = row;
    const { change } = this;
    const holds = (id: string) => this.#held.has(id);
    const execution = new HeldExecution(workflow, row, { world: this.#world, change, holds });
    if (this.#closed) execution.stop(this.#closed);
    // Held from here on, but not begun within the commit that made it ours.
    const rest = Promise.resolve()
      .then(() => execution.run())
      .finally(() => this.#release(execution));
    this.#held.set(execution_id, { execution, rest });
    this.#lookout.start();
    this.#lookout.expect(row.wake_at);
    return rest;
  }

  /** Goes on with the children that an execution of a dead process waits for (EXE-14). */
  async adoptChildren({ waits }: ExecutionRow): Promise<void> {
    for (const { kind, execution_id } of waits) {
      if (kind !== "child" || execution_id === undefined || this.#held.has(execution_id)) continue;
      const { successor } = this;
      await this.#take(execution_id, (row) => decideSuccession(row, successor));
    }
  }

  /** Stops everything; what is recorded stays. */
  async close(): Promise<void> {
    this.#closed = new EngineError(
      "unavailable",
      "the local engine was closed while the execution ran; continue it by its id",
    );
    for (const cancel of this.#pending) cancel();
    const held = [...this.#held.values()];
    for (const { execution } of held) execution.stop(this.#closed);
    await Promise.allSettled(held.map(({ rest }) => rest));
    this.#lookout.stop();
  }

  #release(execution: HeldExecution): void {
    const { execution_id } = execution;
    if (this.#held.get(execution_id)?.execution !== execution) return;
    this.#held.delete(execution_id);
    // A parent that waits for it may have nothing left that could wake it.
    const parent = execution.row.parent_id;
    if (parent !== null) this.#held.get(parent)?.execution.nudge();
    if (this.#held.size === 0) this.#lookout.stop();
  }

  #notice(changed: Changed, told = 0): void {
    const all = [changed, ...changed.others];
    for (const { row, events } of all) {
      const held = this.#held.get(row.execution_id);
      if (held) {
        const isOwn = row === changed.row;
        held.execution.see(row, isOwn ? events.filter(({ seq }) => seq > told) : events);
        this.#lookout.expect(row.wake_at);
      } else if (row !== changed.row && isRelated(row, all)) this.#mayTake(row);
    }
  }

  /** Takes on what a change of this process has made runnable, in the background. */
  #mayTake(row: ExecutionRow): void {
    const { execution_id, session, state, version } = row;
    if (version !== null || isTerminal(state)) return;
    if (session === this.#world.session) {
      const workflow = this.#workflowOf(row);
      if (workflow) this.#background(execution_id, this.run(workflow, row));
    } else if (session === null) {
      const take = () => {
        const { claimant } = this.successor;
        const taking = this.#take(execution_id, (row) => decideClaim(row, claimant));
        this.#background(execution_id, taking);
      };
      if (row.last_session === this.#world.session) take();
      else this.#later(take);
    }
  }

  #later(then: () => void): void {
    if (this.#closed) return;
    const cancel = this.#world.host.setTimer(() => {
      this.#pending.delete(cancel);
      then();
    }, GRACE_MS);
    this.#pending.add(cancel);
  }

  /** Claims an execution as `decide` says and runs it in the background. */
  async #take(
    execution_id: string,
    decide: (row: ExecutionRow) => Change | undefined,
  ): Promise<void> {
    const { row, events } = await this.change(execution_id, (row) =>
      this.#workflowOf(row) ? decide(row) : undefined,
    );
    const workflow = this.#workflowOf(row);
    if (!workflow) {
      const name = `${row.namespace}/${row.workflow}`;
      const message = "an execution waits for a process that knows its workflow";
      this.#world.host.log("warn", message, { execution_id, workflow: name });
    } else if (events.length > 0 && row.session === this.#world.session) {
      await this.adoptChildren(row);
      this.#background(execution_id, this.run(workflow, row));
    }
  }

  #background(execution_id: string, work: Promise<void>): void {
    work.catch((error: unknown) => {
      const { host } = this.#world;
      host.log("warn", "an execution ended in the background", {
        execution_id,
        error: String(error),
      });
    });
  }

  #workflowOf({ namespace, workflow }: ExecutionRow): AnyWorkflow | undefined {
    return this.#world.findWorkflow(`${namespace}/${workflow}`);
  }

  #nextWake(now: number): number | undefined {
    let next: number | undefined;
    for (const { execution } of this.#held.values()) {
      const { wake_at } = execution.row;
      if (wake_at !== null && wake_at > now && (next === undefined || wake_at < next))
        next = wake_at;
    }
    return next;
  }

  async #wake(now: number): Promise<void> {
    const due = [...this.#held.values()].filter(({ execution: { row } }) => {
      return row.wake_at !== null && row.wake_at <= now;
    });
    const of = { now, cancel_timeout_ms: this.successor.cancel_timeout_ms, hasWorker: () => true };
    await Promise.all(
      due.map(({ execution }) => {
        return this.change(execution.execution_id, (row) => decideWake(row, of));
      }),
    );
  }

  /** One read tells about all that run; only those that somebody wrote to are read themselves. */
  async #look(): Promise<void> {
    const { store, session } = this.#world;
    const owned = new Map(
      (await store.queue.listOwned(session)).map((row) => [row.execution_id, row]),
    );
    for (const { execution } of [...this.#held.values()]) {
      if (!execution.isAbreast(owned.get(execution.execution_id))) await execution.refresh();
    }
  }
}

/** Parent or child of one that the same commit changed: others are for their own callers. */
function isRelated(row: ExecutionRow, all: readonly Changed[]): boolean {
  return all.some(({ row: { execution_id, parent_id } }) => {
    return row.parent_id === execution_id || row.execution_id === parent_id;
  });
}
