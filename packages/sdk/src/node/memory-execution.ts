import {
  type Checkpoint,
  createdExecution,
  decideCheckpoint,
  decideClaim,
  decideResume,
  EngineError,
  type Event,
  type ExecutionLimits,
  type ExecutionRow,
  encode,
  handOver,
  type NewEvent,
  patchOf,
  takeOver,
} from "@engine/contract";
import { startExecution } from "../replay/execution.ts";
import type {
  CheckpointReply,
  Delta,
  ExecutionPort,
  Host,
  RunningExecution,
} from "../replay/port.ts";
import type { AnyWorkflow } from "../workflow.ts";

/**
 * One execution and its log in memory, by the contract's own rules: what the tests of the core run
 * against. `claim` starts a copy as a worker would; an earlier copy is fenced by its generation.
 */
export class MemoryExecution {
  readonly events: Event[] = [];
  row: ExecutionRow;
  /** Called with every delta before it is decided; may wait, to reorder what happens. */
  onDelta: (delta: Delta) => Promise<void> | void = () => {};
  readonly progress: unknown[] = [];
  readonly #workflow: AnyWorkflow;
  readonly #host: Host;
  readonly #limits: ExecutionLimits;
  #adopted: number | undefined;
  #now = 1_700_000_000_000;

  constructor(
    workflow: AnyWorkflow,
    input: unknown,
    host: Host,
    limits: Partial<ExecutionLimits> = {},
  ) {
    this.#limits = {
      sibling_grace: 0.05,
      max_events: 100_000,
      max_value_bytes: 1 << 20,
      ...limits,
    };
    this.#workflow = workflow;
    this.#host = host;
    const { row, event } = createdExecution({
      execution_id: "e1",
      namespace: workflow.namespace,
      workflow: workflow.name,
      version: 1,
      module_hash: "m1",
      input: encode(input, "input"),
      trigger: { kind: "api" },
      by: null,
      now: this.#now,
    });
    this.row = row;
    this.events.push({ ...event, seq: 1 });
  }

  /** A fresh copy over the log as it is. */
  claim(options: { listen?: boolean } = {}): RunningExecution {
    const session = `s${this.row.generation + 1}`;
    const claimant = { worker: "w", session, now: this.#tick() };
    const claim = decideClaim(this.row, claimant) ?? takeOver(this.row, claimant);
    this.#append(claim.events, claim.patch);
    const { generation } = this.row;
    this.#adopted = undefined;
    const port: ExecutionPort = {
      checkpoint: async (delta) => {
        await this.onDelta(delta);
        return this.#checkpoint(delta, this.#adopted ?? generation, session);
      },
      progress: (item) => void this.progress.push(item.value),
    };
    return startExecution(this.#workflow, {
      info: { ...this.row, workflow: this.row.workflow, name: null },
      history: [...this.events],
      limits: this.#limits,
      listen: options.listen ?? false,
      port,
      host: this.#host,
    });
  }

  /** The whole way to the end or the next pause. */
  async run(): Promise<ExecutionRow> {
    await this.claim().ended;
    return this.row;
  }

  resume(input: unknown, pause?: string): readonly NewEvent[] {
    const resume = { input: encode(input, "input"), pause, by: null, now: this.#tick() };
    const verdict = decideResume(this.row, resume);
    if (verdict instanceof EngineError) throw verdict;
    this.#append(verdict.events, verdict.patch);
    return verdict.events;
  }

  /** A copy that holds the first `seq` events only, as if everything after had been lost. */
  cutAt(seq: number, host: Host = this.#host): MemoryExecution {
    const cut = new MemoryExecution(this.#workflow, undefined, host);
    const events = this.events.slice(0, seq);
    cut.events.length = 0;
    cut.events.push(...events);
    const created = { ...cut.row, input: this.row.input };
    const patch = patchOf(created, events.slice(1), this.#now);
    cut.row = { ...created, ...patch, head: seq, generation: this.row.generation };
    return cut;
  }

  /** Takes the execution from its copy and gives it back under a new generation. */
  renewClaim(): void {
    const { worker, session } = this.row;
    this.fence();
    const claim = decideClaim(this.row, {
      worker: worker ?? "w",
      session: session ?? "s",
      now: this.#tick(),
    });
    if (claim) this.#append(claim.events, claim.patch);
    this.#adopted = this.row.generation;
  }

  /** Takes the execution from whoever runs it: what that copy sends from now on is refused. */
  fence(): void {
    if (this.row.session !== null) this.row = { ...this.row, ...handOver(this.row, this.#tick()) };
  }

  get types(): string[] {
    return this.events.map((event) => event.type);
  }

  #checkpoint(delta: Delta, generation: number, session: string): CheckpointReply {
    const events = JSON.parse(delta.events) as NewEvent[];
    const item: Checkpoint = { generation, base_seq: delta.base_seq, state: delta.state, events };
    const sender = { session, now: this.#tick() };
    const verdict = decideCheckpoint(this.row, item, sender, this.events.slice(delta.base_seq));
    switch (verdict.kind) {
      case "append":
        this.#append(verdict.events, verdict.patch);
        return { kind: "accepted", seq: this.row.head };
      case "repeat":
        return { kind: "accepted", seq: verdict.seq };
      case "refuse": {
        const { code, details } = verdict.error;
        if (code === "stale_claim") return { kind: "stale" };
        if (code !== "seq_conflict") throw verdict.error;
        const { acknowledged, events: foreign } = details as {
          acknowledged: number;
          events: Event[];
        };
        return { kind: "conflict", acknowledged, events: foreign };
      }
    }
  }

  #append(events: readonly NewEvent[], patch: Partial<ExecutionRow>): void {
    for (const event of events) this.events.push({ ...event, seq: this.events.length + 1 });
    this.row = { ...this.row, ...patch };
  }

  #tick(): number {
    return ++this.#now;
  }
}
