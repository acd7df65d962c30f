import {
  Config,
  type Event,
  type ExecutionRow,
  forkHistory,
  type NewEvent,
  patchOf,
} from "@engine/contract";
import type {
  Delta,
  EmbeddedLimits,
  Host,
  LocalServices,
  RunningExecution,
  TaskServices,
} from "../../replay/port.ts";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { memoryServices } from "../../testing/memory-services.ts";
import type { AnyWorkflow } from "../../workflow.ts";

export interface MemoryOptions {
  readonly limits?: Partial<EmbeddedLimits>;
  /** Targets of `call`, beside the workflow itself. */
  readonly children?: readonly AnyWorkflow[];
  readonly services?: Partial<TaskServices>;
  readonly localServices?: () => LocalServices;
  /** The server's clock; by default one that moves by a millisecond with every look at it. */
  readonly clock?: () => number;
}

/**
 * One execution and its log in memory: what the tests of the core run against. `claim` starts a copy
 * as a worker would. Its children are made beside it; a test of them claims them.
 */
export class MemoryExecution {
  readonly engine: MemoryEngine;
  id: string = "e1";
  /** The server's clock; moves by one millisecond with every look at it. */
  now: number = 1_700_000_000_000;
  /** Called with every delta before it is decided; may wait, to reorder what happens. */
  onDelta: (delta: Delta) => Promise<void> | void = () => {};
  readonly #workflow: AnyWorkflow;
  readonly #host: Host;
  readonly #options: MemoryOptions;

  constructor(workflow: AnyWorkflow, input: unknown, host: Host, options: MemoryOptions = {}) {
    this.#workflow = workflow;
    this.#host = host;
    this.#options = options;
    const workflows = new Map(
      [workflow, ...(options.children ?? [])].map((known) => [known.qualifiedName, known]),
    );
    let ids = 0;
    this.engine = new MemoryEngine({
      host: () => host,
      limits: {
        ...Config.parse({}).executions,
        sibling_grace: 0.05,
        rollback_timeout: 1,
        max_value_bytes: 1 << 20,
        ...options.limits,
      },
      clock: options.clock ?? (() => ++this.now),
      services: { ...memoryServices({ hash: host.hash }), ...options.services },
      localServices: options.localServices,
      findWorkflow: (name) => workflows.get(name),
      newId: () => `e${++ids}`,
    });
    this.engine.onDelta = (id, delta) => (id === this.id ? this.onDelta(delta) : undefined);
    this.engine.start(workflow, input);
  }

  get row(): ExecutionRow {
    return this.engine.row(this.id);
  }

  get events(): readonly Event[] {
    return this.engine.log(this.id);
  }

  get progress(): readonly unknown[] {
    return this.engine.progress;
  }

  get types(): string[] {
    return this.events.map((event) => event.type);
  }

  /** A fresh copy over the log as it is. */
  claim(options: { listen?: boolean } = {}): RunningExecution {
    return this.engine.claim(this.id, options);
  }

  /** The whole way to the end, the next pause or park. */
  async run(): Promise<ExecutionRow> {
    await this.claim().ended;
    return this.row;
  }

  resume(input: unknown, pause?: string): readonly NewEvent[] {
    const { head } = this.row;
    this.engine.resume(this.id, input, pause);
    return this.events.slice(head);
  }

  /** A copy that holds the first `seq` events only, as if everything after had been lost. */
  cutAt(seq: number, host: Host = this.#host): MemoryExecution {
    const cut = new MemoryExecution(this.#workflow, undefined, host, this.#options);
    const events = this.events.slice(0, seq);
    cut.engine.logs.set(cut.id, events);
    const created = { ...cut.row, input: this.row.input };
    const patch = patchOf(created, events.slice(1), this.now);
    const { generation } = this.row;
    cut.engine.rows.set(cut.id, { ...created, ...patch, head: seq, generation });
    cut.now = this.now;
    return cut;
  }

  /** An execution of its own that goes on from the first `seq` events (EXE-87). */
  fork(
    seq: number,
    host: Host = this.#host,
    options: MemoryOptions = this.#options,
  ): MemoryExecution {
    const fork = new MemoryExecution(this.#workflow, undefined, host, options);
    const { seq: cut, history } = forkHistory(this.row, this.events, { from_seq: seq });
    const from = { execution_id: "source", seq: cut };
    // The engine is new, with an execution in it that nobody asked for.
    fork.engine.rows.clear();
    fork.engine.logs.clear();
    fork.id = fork.engine.fork(this.row, { from, history }).execution_id;
    return fork;
  }

  renewClaim(): void {
    this.engine.renew(this.id);
  }

  fence(): void {
    this.engine.fence(this.id);
  }
}
