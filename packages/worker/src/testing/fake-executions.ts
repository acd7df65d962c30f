import {
  type Assignment,
  type Change,
  type CheckpointItem,
  type CheckpointVerdict,
  claimReason,
  decideCancel,
  decideCheckpoint,
  decideClaim,
  decideResume,
  decideWake,
  type Encoded,
  EngineError,
  type Event,
  type ExecutionRow,
  type Holding,
  handOver,
  isQueued,
  MemoryExecutions,
  type ReleaseItem,
} from "@engine/contract";

type Placement = Pick<Assignment, "runner" | "runner_options" | "apart" | "placement">;

export interface FakeStart extends Partial<Placement> {
  readonly input?: Encoded;
  readonly transient?: boolean;
}

/** The limit of a cancel, as those who decide about one are given it. */
const CANCELLING = { cancel_timeout_ms: 300_000 };

/** Executions of a fake server: rows and logs in memory, changed by the contract's own rules. */
export class FakeExecutions {
  readonly #executions = new MemoryExecutions();
  readonly #placements = new Map<string, Placement>();

  create(execution_id: string, of: { workflow: string; module_hash: string } & FakeStart): void {
    const { workflow, module_hash, input = null, transient = false } = of;
    const { runner = null, runner_options = null, apart = false, placement } = of;
    this.#executions.create({
      execution_id,
      namespace: "default",
      workflow,
      version: 1,
      module_hash,
      transient,
      input,
      trigger: { kind: "api" },
      by: null,
      seed: "seed",
      now: Date.now(),
    });
    this.#placements.set(execution_id, { runner, runner_options, apart, placement });
  }

  row(execution_id: string): ExecutionRow {
    return this.#executions.row(execution_id);
  }

  log(execution_id: string): readonly Event[] {
    return this.#executions.log(execution_id);
  }

  /** Ids of those that wait for a worker. */
  get queued(): readonly string[] {
    return [...this.#executions.rows.values()].filter(isQueued).map((row) => row.execution_id);
  }

  owns(session: string, { execution_id, generation }: Omit<Holding, "seq">): boolean {
    const row = this.#executions.rows.get(execution_id);
    return row?.session === session && row.generation === generation;
  }

  resume(execution_id: string, input: Encoded): void {
    this.#change(execution_id, (row) => decideResume(row, { input, by: null, now: Date.now() }));
  }

  cancel(execution_id: string): void {
    const cancel = { cause: "request", by: null, now: Date.now(), hasWorker: () => true } as const;
    this.#change(execution_id, (row) => decideCancel(row, { ...cancel, ...CANCELLING }));
  }

  /** False: it waits for no time. */
  wake(execution_id: string): boolean {
    const now = this.row(execution_id).wake_at ?? Date.now();
    return this.#change(execution_id, (row) =>
      decideWake(row, { now, hasWorker: () => true, ...CANCELLING }),
    );
  }

  /** False: it is not in the queue. */
  claim(execution_id: string, by: { worker: string; session: string }): boolean {
    return this.#change(execution_id, (row) => decideClaim(row, { ...by, now: Date.now() }));
  }

  handOver(execution_id: string): void {
    this.#change(execution_id, (row) => handOver(row, { now: Date.now(), ...CANCELLING }));
  }

  fail(execution_id: string, failure: NonNullable<ReleaseItem["error"]>): void {
    const failed = { state: "FAILED", failure, finished_at: Date.now() } as const;
    this.#executions.change(execution_id, { events: [], patch: failed });
  }

  checkpoint(session: string, item: CheckpointItem): CheckpointVerdict {
    const { execution_id, base_seq } = item;
    const recorded = this.log(execution_id).slice(base_seq);
    const findKept = this.#executions.signals.finderOf(execution_id);
    const sender = { session, now: Date.now(), calls: new Map(), findKept, ...CANCELLING };
    const verdict = decideCheckpoint(this.row(execution_id), item, sender, recorded);
    if (verdict.kind === "append") this.#executions.change(execution_id, verdict);
    return verdict;
  }

  /** Claims an execution of the queue; what its worker is given. Undefined: it is not in the queue. */
  assign(
    execution_id: string,
    to: { session: string; listen: boolean; framedHistory: number },
  ): Assignment | undefined {
    const reason = claimReason(this.row(execution_id));
    if (!this.claim(execution_id, { worker: "worker", session: to.session })) return undefined;
    const [row, log] = [this.row(execution_id), this.log(execution_id)];
    const placement = this.#placements.get(execution_id) as Placement;
    const after = Math.max(0, log.length - to.framedHistory);
    return {
      execution_id,
      generation: row.generation,
      reason,
      namespace: row.namespace,
      workflow: row.workflow,
      version: row.version ?? 1,
      name: row.name,
      created_at: new Date(row.created_at).toISOString(),
      module: { hash: row.module_hash ?? "", bytes: 0 },
      input: row.input,
      ...placement,
      head: row.head,
      history: { after, events: log.slice(after) },
      seed: row.seed,
      parent_id: row.parent_id,
      transient: row.transient,
      listen: to.listen,
      execution_token: null,
    };
  }

  #change(
    execution_id: string,
    decide: (row: ExecutionRow) => Change | EngineError | undefined,
  ): boolean {
    const change = decide(this.row(execution_id));
    if (change instanceof EngineError) throw change;
    if (change) this.#executions.change(execution_id, change);
    return change !== undefined;
  }
}
