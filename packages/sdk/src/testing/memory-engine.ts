import {
  type CallResolution,
  type CallResolutions,
  type Cancel,
  type Change,
  type Checkpoint,
  callStarts,
  decideCancel,
  decideCheckpoint,
  decideClaim,
  decideResume,
  decideSignal,
  decideWake,
  EngineError,
  type ExecutionRow,
  encode,
  handOver,
  MemoryExecutions,
  type NewEvent,
  type NewExecution,
  notFound,
  type RoutingInput,
  revealed,
  type SentEvent,
  takeOver,
  type Written,
} from "@engine/contract";
import { definedFacts } from "../defined-facts.ts";
import { type EmbeddedCall, resolveEmbeddedCall } from "../embedded-call.ts";
import { refusedReply } from "../refused-reply.ts";
import { startExecution } from "../replay/execution.ts";
import type {
  Budget,
  CheckpointReply,
  Delta,
  EmbeddedLimits,
  ExecutionPort,
  Host,
  LocalServices,
  RunningExecution,
  TaskRights,
  TaskServices,
} from "../replay/port.ts";
import type { AnyWorkflow } from "../workflow.ts";

export interface MemoryEngineOptions {
  /** Asked for each copy. */
  readonly host: (execution_id: string) => Host;
  readonly limits: EmbeddedLimits;
  /** The server's clock, milliseconds since 1970. */
  readonly clock: () => number;
  readonly services: TaskServices;
  /** Without one no task waits for what it requests. */
  readonly budget?: Budget | undefined;
  /** Without it there are none. */
  readonly localServices?: (() => LocalServices) | undefined;
  readonly findWorkflow: (qualifiedName: string) => AnyWorkflow | undefined;
  readonly newId: () => string;
  readonly seed?: () => string;
  /** Every checkpoint and every push arrives twice, as after a lost answer. */
  readonly deliversTwice?: boolean;
  /** {@link RunOptions.runsAhead}. */
  readonly runsAhead?: boolean;
}

interface Copy {
  readonly execution: RunningExecution;
  session: string;
  generation: number;
  /** How far the copy knows the log: what it sent itself, and what was pushed. */
  seen: number;
}

/** By `task_call_id`. */
type Routing = Readonly<Record<string, RoutingInput>>;

type Parent = Pick<ExecutionRow, "execution_id" | "depth" | "hook">;

/**
 * A server in memory, by the contract's own rules: rows, logs, children, waits and their ends. It
 * does nothing by itself: its user claims executions and lets time pass. An execution's earlier copy
 * is fenced by its generation, as on a server.
 */
export class MemoryEngine extends MemoryExecutions {
  readonly progress: unknown[] = [];
  /** Executions whose copies said that all they have left to do is held; one entry each time. */
  readonly stalled: string[] = [];
  /** What copies that are claimed from now on are told of their principal. */
  rights: TaskRights | undefined;
  /** Called with every delta before it is decided; may wait, to reorder what happens. */
  onDelta: (execution_id: string, delta: Delta) => Promise<void> | void = () => {};
  /** Called with every answer before the copy gets it; may give it another. */
  onReply: (
    execution_id: string,
    delta: Delta,
    reply: CheckpointReply,
  ) => CheckpointReply | Promise<CheckpointReply> = (_id, _delta, reply) => reply;
  /** Called with every push in place of it; may hold it back, to reorder what happens. */
  onPush: (push: () => void) => void = (push) => push();
  /** Called after every change. */
  onChange: (row: ExecutionRow) => void = () => {};
  readonly #options: MemoryEngineOptions;
  readonly #copies: Map<string, Copy> = new Map();
  /** What calls start, by parent and call: a checkpoint that comes twice starts one child. */
  readonly #resolved: Map<string, CallResolution> = new Map();
  readonly #ports: WeakMap<RunningExecution, Copy> = new WeakMap();
  #sessions = 0;

  constructor(options: MemoryEngineOptions) {
    super();
    this.#options = options;
  }

  /** The copy that runs it now. */
  copyOf(execution_id: string): RunningExecution | undefined {
    return this.#copies.get(execution_id)?.execution;
  }

  /** Makes an execution of a workflow; nobody runs it yet. */
  start(workflow: AnyWorkflow, input: unknown, over: Partial<NewExecution> = {}): ExecutionRow {
    const given = { input: encode(input === undefined ? null : input, "input") };
    const trigger = { kind: "api" } as const;
    const fresh = { ...this.#fresh(workflow), ...given, trigger, ...over };
    this.create(fresh);
    return this.row(fresh.execution_id);
  }

  /** An execution that goes on from copied events of another (EXE-87). */
  fork(
    source: ExecutionRow,
    of: Pick<NonNullable<NewExecution["fork"]>, "from" | "history" | "label">,
  ): ExecutionRow {
    const execution_id = this.#options.newId();
    const workflow = this.#findWorkflow(`${source.namespace}/${source.workflow}`);
    const { seed, input, hook } = source;
    const trigger = { kind: "fork", id: of.from.execution_id } as const;
    const parent = { execution_id, depth: source.depth, hook };
    const calls = this.#resolve(parent, of.history);
    this.create({
      ...this.#fresh(workflow),
      execution_id,
      input,
      seed,
      trigger,
      hook,
      fork: { ...of, calls },
    });
    return this.row(execution_id);
  }

  override create(fresh: NewExecution): readonly Written[] {
    return this.#told(super.create(fresh));
  }

  override change(execution_id: string, change: Change): readonly Written[] {
    return this.#told(super.change(execution_id, change));
  }

  /** A fresh copy over the log as it is; the copy that ran it before is fenced. */
  claim(execution_id: string, options: { listen?: boolean } = {}): RunningExecution {
    const row = this.row(execution_id);
    const workflow = this.#findWorkflow(`${row.namespace}/${row.workflow}`);
    const { host, limits, runsAhead = true } = this.#options;
    const copy: Copy = {
      ...this.#claimFor(execution_id),
      execution: startExecution(workflow, {
        info: { ...this.row(execution_id), bundle: row.module_hash },
        history: [...this.log(execution_id)],
        limits,
        listen: options.listen ?? false,
        runsAhead,
        rights: this.rights,
        port: this.#portFor(execution_id, () => copy),
        host: host(execution_id),
      }),
    };
    this.#copies.set(execution_id, copy);
    this.#ports.set(copy.execution, copy);
    void copy.execution.ended.then(() => this.#leave(execution_id, copy));
    return copy.execution;
  }

  /** Lets a parked copy go on instead of replaying; undefined when it cannot. */
  wake(execution_id: string, parked: RunningExecution): RunningExecution | undefined {
    // Its port goes on as well, under the new claim.
    const copy = this.#ports.get(parked);
    if (!copy) return undefined;
    const { head } = parked;
    Object.assign(copy, this.#claimFor(execution_id));
    this.#copies.set(execution_id, copy);
    const ended = parked.wake(this.log(execution_id).slice(head), false);
    if (!ended) return undefined;
    void ended.then(() => this.#leave(execution_id, copy));
    return parked;
  }

  resume(execution_id: string, input: unknown, pause?: string): void {
    const resume = { input: encode(input, "input"), pause, by: null, now: this.#options.clock() };
    this.change(execution_id, orThrow(decideResume(this.row(execution_id), resume)));
  }

  signal(execution_id: string, name: string, payload: unknown): void {
    const { clock, limits } = this.#options;
    const given = { name, payload: encode(payload, "payload"), by: null, now: clock(), limits };
    this.change(execution_id, orThrow(decideSignal(this.row(execution_id), given)));
  }

  cancel(execution_id: string, over: Partial<Cancel> = {}): void {
    const cancel = { cause: "request" as const, by: null, ...this.#cancelling, ...over };
    const change = orThrow(decideCancel(this.row(execution_id), cancel));
    if (change) this.change(execution_id, change);
  }

  /** Does whatever the time has come for. */
  wakeDue(): void {
    const now = this.#options.clock();
    for (const { execution_id, wake_at } of [...this.rows.values()]) {
      if (wake_at === null || wake_at > now) continue;
      const change = decideWake(this.row(execution_id), this.#cancelling);
      if (change) this.change(execution_id, change);
    }
  }

  /** The next instant at which {@link wakeDue} has something to do. */
  get nextWake(): number | undefined {
    const times = [...this.rows.values()].flatMap(({ wake_at }) => wake_at ?? []);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Takes an execution from the copy that runs it: what that copy sends from now on is refused. */
  fence(execution_id: string): void {
    this.#copies.delete(execution_id);
    const row = this.row(execution_id);
    if (row.session !== null) this.change(execution_id, handOver(row, this.#cancelling));
  }

  /** Takes an execution from its copy and gives it back to the same copy under a new generation. */
  renew(execution_id: string): void {
    const copy = this.#copies.get(execution_id);
    this.fence(execution_id);
    if (!copy) return;
    this.#copies.set(execution_id, copy);
    Object.assign(copy, this.#claimFor(execution_id, copy.session));
  }

  #findWorkflow(qualifiedName: string): AnyWorkflow {
    const workflow = this.#options.findWorkflow(qualifiedName);
    if (!workflow) throw notFound("workflow", qualifiedName);
    return workflow;
  }

  get #cancelling() {
    const { clock, limits } = this.#options;
    return { cancel_timeout_ms: limits.cancel_timeout * 1000, hasWorker: () => true, now: clock() };
  }

  /** Gives an execution to a session. Returns what a copy in that session knows of its claim. */
  #claimFor(execution_id: string, session = `s${++this.#sessions}`): Omit<Copy, "execution"> {
    const claimant = { worker: "w", session, now: this.#options.clock() };
    const row = this.row(execution_id);
    this.change(execution_id, decideClaim(row, claimant) ?? takeOver(row, claimant));
    const { generation, head } = this.row(execution_id);
    return { session, generation, seen: head };
  }

  #portFor(execution_id: string, copyOf: () => Copy): ExecutionPort {
    const { localServices } = this.#options;
    return {
      services: this.#options.services,
      budget: this.#options.budget,
      ...(localServices && { localServices }),
      checkpoint: async (delta) => {
        await this.onDelta(execution_id, delta);
        let reply = this.#checkpoint(execution_id, delta, copyOf());
        if (this.#options.deliversTwice) reply = this.#checkpoint(execution_id, delta, copyOf());
        return this.onReply(execution_id, delta, reply);
      },
      progress: (item) => void this.progress.push(item.value),
      stalled: () => void this.stalled.push(execution_id),
    };
  }

  #checkpoint(execution_id: string, delta: Delta, copy: Copy): CheckpointReply {
    const events = (JSON.parse(delta.events) as SentEvent[]).map(revealed) as NewEvent[];
    const { base_seq, state, waiting } = delta;
    const routing = JSON.parse(delta.routing_inputs ?? "{}") as Routing;
    const { generation, session } = copy;
    const item: Checkpoint = {
      generation,
      base_seq,
      state,
      events,
      ...(waiting && { waiting: [...waiting] }),
    };
    const sender = {
      session,
      ...this.#cancelling,
      calls: this.#resolve(this.row(execution_id), events, routing),
      findKept: this.signals.finderOf(execution_id),
    };
    const recorded = this.log(execution_id).slice(base_seq);
    const verdict = decideCheckpoint(this.row(execution_id), item, sender, recorded);
    switch (verdict.kind) {
      case "append":
        copy.seen = base_seq + events.length;
        this.change(execution_id, verdict);
        return { kind: "accepted", seq: base_seq + events.length };
      case "repeat":
        return { kind: "accepted", seq: verdict.seq };
      case "refuse": {
        const reply = refusedReply(verdict.error);
        if (!reply) throw verdict.error;
        if (reply.kind === "conflict") copy.seen = reply.acknowledged + reply.events.length;
        return reply;
      }
    }
  }

  /** What the `call`s among events start. */
  #resolve(parent: Parent, events: readonly NewEvent[], routing: Routing = {}): CallResolutions {
    return new Map(
      callStarts(events).map(({ task_call_id, start }): [string, CallResolution] => {
        const key = `${parent.execution_id}/${task_call_id}`;
        const call = { task_call_id, start, routing_input: routing[task_call_id] };
        const resolution = this.#resolved.get(key) ?? this.#child(parent, call);
        this.#resolved.set(key, resolution);
        return [task_call_id, resolution];
      }),
    );
  }

  #child(
    parent: Parent,
    {
      task_call_id,
      start,
      routing_input,
    }: Omit<EmbeddedCall, "parent"> & {
      readonly routing_input: RoutingInput | undefined;
    },
  ): CallResolution {
    const { limits, findWorkflow } = this.#options;
    return resolveEmbeddedCall(
      { parent, task_call_id, start },
      {
        max_depth: limits.max_depth,
        target: ({ workflow }) => findWorkflow(workflow) ?? `no workflow ${workflow}`,
        fresh: (target, of) => ({
          ...this.#fresh(target),
          ...of,
          routing_input: routing_input ? JSON.stringify(routing_input) : null,
          ...(start.version !== undefined && { version: start.version }),
        }),
      },
    );
  }

  #fresh(workflow: AnyWorkflow): Omit<NewExecution, "input" | "trigger"> {
    const { newId, clock, seed = () => "seed" } = this.#options;
    return {
      ...definedFacts(workflow),
      execution_id: newId(),
      version: 1,
      module_hash: "m1",
      by: null,
      seed: seed(),
      now: clock(),
    };
  }

  /** Says what was written, once all of it is. */
  #told(all: readonly Written[]): readonly Written[] {
    for (const { row } of all) this.onChange(row);
    for (const { row } of all) this.#push(row.execution_id);
    return all;
  }

  /** Tells the running copy of what was written without it. */
  #push(execution_id: string): void {
    const copy = this.#copies.get(execution_id);
    const { head, session } = this.row(execution_id);
    if (!copy || copy.session !== session || copy.seen >= head) return;
    const base_seq = copy.seen;
    copy.seen = head;
    const events = this.log(execution_id).slice(base_seq);
    const deliver = () => copy.execution.deliver(base_seq, events);
    this.onPush(deliver);
    if (this.#options.deliversTwice) this.onPush(deliver);
  }

  #leave(execution_id: string, copy: Copy): void {
    if (this.#copies.get(execution_id) === copy) this.#copies.delete(execution_id);
  }
}

function orThrow<T>(verdict: T | EngineError): T {
  if (verdict instanceof EngineError) throw verdict;
  return verdict;
}
