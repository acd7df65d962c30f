import {
  decideClaim,
  EngineError,
  type Event,
  type ExecutionRow,
  type HookLineage,
  isTerminal,
  stale,
} from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import { type Ended, type RunningExecution, startExecution } from "@engine/sdk/node";
import { type ChangeExecution, checkpointPort, type LocalClaim } from "./checkpoint-port.ts";
import { type LocalWorld, localClaimant } from "./local-parts.ts";

export interface HeldBy {
  readonly world: LocalWorld;
  readonly change: ChangeExecution;
  /** Whether this process is about to bring an execution further. */
  readonly holds: (execution_id: string) => boolean;
}

/**
 * An execution in the hands of this process: its copy runs, or it is parked and something that this
 * process runs or looks out for can wake it.
 */
export class HeldExecution implements LocalClaim {
  readonly execution_id: string;
  readonly workflow: AnyWorkflow;
  /** Why the store refused what the copy wrote. */
  refusal: unknown;
  readonly #by: HeldBy;
  #row: ExecutionRow;
  /** Of the claim under which the copy writes. */
  #generation: number;
  #copy: RunningExecution | undefined;
  #isRunning = false;
  #nudge: () => void = () => {};

  /** @param row As this process's claim has left it. */
  constructor(workflow: AnyWorkflow, row: ExecutionRow, by: HeldBy) {
    this.execution_id = row.execution_id;
    this.workflow = workflow;
    this.#by = by;
    this.#row = row;
    this.#generation = row.generation;
  }

  /** The row as it was last seen. */
  get row(): ExecutionRow {
    return this.#row;
  }

  get depth(): number {
    return this.#row.depth;
  }

  get hook(): HookLineage | null {
    return this.#row.hook;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Runs it until it has ended or paused, or nothing in this process can bring it further. */
  async run(): Promise<void> {
    for (;;) {
      const ended = await this.#follow();
      if (ended === "stopped") throw this.#whyStopped();
      // What has just paused may have been answered or cancelled already.
      if (ended === "terminal" || !(await this.#reclaim())) return;
    }
  }

  /** Takes note of what a commit or a look at the database shows; the copy is told. */
  see(row: ExecutionRow, events: readonly Event[] = []): void {
    const known = this.#row;
    if (row.head < known.head) return;
    if (row.head === known.head && row.updated_at < known.updated_at) return;
    this.#row = row;
    const [first] = events;
    if (first && this.#isRunning) this.#copy?.deliver(first.seq - 1, events);
    this.#nudge();
  }

  /** Whether a copy runs that knows everything up to `head` and may write under `generation`. */
  isAbreast(of: { readonly generation: number; readonly head: number } | undefined): boolean {
    if (!of || !this.#isRunning) return false;
    return of.generation === this.#generation && of.head <= (this.#copy?.head ?? 0);
  }

  /** Reads what others may have written. */
  async refresh(): Promise<void> {
    const { store, session } = this.#by.world;
    const row = await store.executions.find(this.execution_id);
    if (!row || (row.generation !== this.#generation && row.session !== session)) {
      this.stop(stale(row ?? this.#row));
      return;
    }
    this.see(row, this.#isRunning ? await this.#readLog(this.#copy?.head ?? 0) : []);
  }

  /** Something else that this one may wait for came to rest. */
  nudge(): void {
    this.#nudge();
  }

  /** Ends the execution's run in this process. */
  stop(why: EngineError): void {
    this.refusal ??= why;
    if (this.#isRunning) this.#copy?.stop(why.code);
    this.#nudge();
  }

  async #follow(): Promise<Ended> {
    const copy = this.#copy;
    const { head } = this.#row;
    const ended = (copy && (await this.#wake(copy, head))) ?? (await this.#start(head));
    this.#isRunning = true;
    // Somebody wrote between the claim and the copy's start.
    if (this.#row.head > head) void this.refresh().catch(() => {});
    if (this.refusal) this.#copy?.stop("stopped before it began");
    const how = await ended.promise;
    this.#isRunning = false;
    return how;
  }

  /** The promise is wrapped, so that awaiting the start does not await the end. */
  async #wake(
    copy: RunningExecution,
    head: number,
  ): Promise<{ readonly promise: Promise<Ended> } | undefined> {
    const events = await this.#readLog(copy.head, head);
    const promise = copy.wake(events, false);
    return promise && { promise };
  }

  async #start(head: number): Promise<{ readonly promise: Promise<Ended> }> {
    const { world, change } = this.#by;
    const { limits, host } = world;
    const history = await this.#readLog(0, head);
    this.#copy = startExecution(this.workflow, {
      info: { ...this.#row, bundle: null },
      history,
      // A local run has no slot to give back: it waits where it is (EXE-15).
      limits: { ...limits, inline_wait: Number.POSITIVE_INFINITY },
      listen: false,
      port: checkpointPort(this, world, change),
      host,
    });
    return { promise: this.#copy.ended };
  }

  /** Waits until it can go on and takes it; false when nothing here will make it go on. */
  async #reclaim(): Promise<boolean> {
    const { change, holds, world } = this.#by;
    const { session } = world;
    let isFresh = false;
    for (;;) {
      if (this.refusal) throw this.#whyStopped();
      const row = this.#row;
      if (row.session !== null) throw this.#fenced(stale(row));
      if (isTerminal(row.state) || row.state === "PAUSED") return false;
      if (row.state === "RESUMING" || row.state === "CANCELLING") {
        const claimant = localClaimant(world);
        const changed = await change(this.execution_id, (row) => decideClaim(row, claimant));
        if (changed.row.session !== session) continue;
        this.#generation = changed.row.generation;
        return true;
      }
      if (isHopeful(row, holds)) {
        await this.#nudged();
        isFresh = false;
      } else if (isFresh) return false;
      else {
        // The child that it waits for may have been taken by a process that took this one, too.
        await this.refresh();
        isFresh = true;
      }
    }
  }

  #nudged(): Promise<void> {
    return new Promise((resolve) => {
      this.#nudge = resolve;
    });
  }

  async #readLog(after: number, upTo = Number.POSITIVE_INFINITY): Promise<Event[]> {
    const log = await this.#by.world.store.log.read(this.execution_id, { after });
    const events = log.map(({ event }) => event).filter(({ seq }) => seq <= upTo);
    return [...(await this.#by.world.seals.revealed(this.execution_id, events))];
  }

  #whyStopped(): Error {
    const why = this.refusal;
    if (why instanceof EngineError) return this.#fenced(why);
    return new Error(`the run of execution ${this.execution_id} was stopped`, { cause: why });
  }

  /** What the older of two holders is told: its execution goes on elsewhere (EXE-14). */
  #fenced(refusal: EngineError): EngineError {
    if (refusal.code !== "stale_claim") return refusal;
    return new EngineError(
      "stale_claim",
      `execution ${this.execution_id} was continued by another run meanwhile (this one held generation ${this.#generation}); its result is there`,
      { cause: refusal, ...(refusal.details && { details: refusal.details }) },
    );
  }
}

/**
 * Whether a parked execution may go on: by its time, by a signal that anybody may send, by a child
 * of this process. A child that has paused keeps it waiting until somebody continues that.
 */
function isHopeful({ waits }: ExecutionRow, holds: HeldBy["holds"]): boolean {
  return waits.some(({ kind, until, execution_id }) => {
    if (kind === "signal" || until !== undefined) return true;
    return kind === "child" && execution_id !== undefined && holds(execution_id);
  });
}
