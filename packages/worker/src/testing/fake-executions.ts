import {
  type Assignment,
  type CheckpointItem,
  type CheckpointVerdict,
  claimReason,
  createdExecution,
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
  notFound,
  type ReleaseItem,
} from "@engine/contract";

type Change = Pick<Extract<CheckpointVerdict, { kind: "append" }>, "events" | "patch">;
type Placement = Pick<Assignment, "runner" | "runner_options" | "apart">;

interface Stored extends Placement {
  row: ExecutionRow;
  log: Event[];
}

export interface FakeStart extends Partial<Placement> {
  readonly input?: Encoded;
  readonly transient?: boolean;
}

/** The limit of a cancel, as those who decide about one are given it. */
const CANCELLING = { cancel_timeout_ms: 300_000 };

/** Executions of a fake server: rows and logs in memory, changed by the contract's own rules. */
export class FakeExecutions {
  readonly #stored = new Map<string, Stored>();

  create(execution_id: string, of: { workflow: string; module_hash: string } & FakeStart): void {
    const { workflow, module_hash, input = null, transient = false } = of;
    const { runner = null, runner_options = null, apart = false } = of;
    const { row, events } = createdExecution({
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
    const log = events.map((event, i) => ({ ...event, seq: i + 1 }));
    this.#stored.set(execution_id, { row, log, runner, runner_options, apart });
  }

  row(execution_id: string): ExecutionRow {
    return this.#get(execution_id).row;
  }

  log(execution_id: string): readonly Event[] {
    return this.#get(execution_id).log;
  }

  /** Ids of those that wait for a worker. */
  get queued(): readonly string[] {
    return [...this.#stored].filter(([, { row }]) => isQueued(row)).map(([id]) => id);
  }

  owns(session: string, { execution_id, generation }: Omit<Holding, "seq">): boolean {
    const row = this.#stored.get(execution_id)?.row;
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
    const stored = this.#get(execution_id);
    stored.row = { ...stored.row, state: "FAILED", failure, finished_at: Date.now() };
  }

  checkpoint(session: string, item: CheckpointItem): CheckpointVerdict {
    const stored = this.#get(item.execution_id);
    const recorded = stored.log.slice(item.base_seq);
    const sender = { session, now: Date.now(), ...CANCELLING };
    const verdict = decideCheckpoint(stored.row, item, sender, recorded);
    if (verdict.kind === "append") append(stored, verdict);
    return verdict;
  }

  /** Claims an execution of the queue; what its worker is given. Undefined: it is not in the queue. */
  assign(
    execution_id: string,
    to: { session: string; listen: boolean; framedHistory: number },
  ): Assignment | undefined {
    const stored = this.#get(execution_id);
    const reason = claimReason(stored.row);
    if (!this.claim(execution_id, { worker: "worker", session: to.session })) return undefined;
    const { row, log, runner, runner_options, apart } = stored;
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
      runner,
      runner_options,
      apart,
      head: row.head,
      history: { after, events: log.slice(after) },
      seed: row.seed,
      parent_id: row.parent_id,
      transient: row.transient,
      listen: to.listen,
    };
  }

  #change(
    execution_id: string,
    decide: (row: ExecutionRow) => Change | EngineError | undefined,
  ): boolean {
    const stored = this.#get(execution_id);
    const change = decide(stored.row);
    if (change instanceof EngineError) throw change;
    if (change) append(stored, change);
    return change !== undefined;
  }

  #get(execution_id: string): Stored {
    const stored = this.#stored.get(execution_id);
    if (!stored) throw notFound("execution", execution_id);
    return stored;
  }
}

function append(stored: Stored, { events, patch }: Change): void {
  const { head } = stored.row;
  stored.log.push(...events.map((event, i) => ({ ...event, seq: head + i + 1 })));
  stored.row = { ...stored.row, ...patch };
}
