import {
  Config,
  type Event,
  type EventType,
  type ExecutionRow,
  handOver,
  isQueued,
  isTerminal,
  type KeptSignalLists,
} from "@engine/contract";
import type {
  Budget,
  Delta,
  EmbeddedLimits,
  RunningExecution,
  TaskServices,
} from "../../replay/port.ts";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { memoryServices } from "../../testing/memory-services.ts";
import type { AnyWorkflow } from "../../workflow.ts";
import { ManualClock } from "./manual-clock.ts";

export interface SceneOptions {
  readonly limits?: Partial<EmbeddedLimits>;
  readonly services?: Partial<TaskServices>;
  readonly budget?: Budget;
  /** What somebody outside does once everything waits; true when there was something to do. */
  readonly answer?: (scene: Scene) => boolean;
}

/** Everything a server holds at one instant: where a crash of all workers leaves it. */
export interface CrashPoint {
  readonly at: string;
  readonly now: number;
  readonly rows: ReadonlyMap<string, ExecutionRow>;
  readonly logs: ReadonlyMap<string, readonly Event[]>;
  readonly signals: KeptSignalLists;
}

/** How long a start lingers for company before it is sent. */
const LINGER_MS = 5;

/**
 * Workflows on an engine in memory under a clock that a test moves: whatever is runnable is claimed,
 * time passes only when asked for. It remembers every instant at which a crash could lose something.
 */
export class Scene {
  readonly clock: ManualClock = new ManualClock();
  readonly engine: MemoryEngine;
  readonly crashPoints: CrashPoint[] = [];
  /** Called with every delta before it is decided. */
  onDelta: (execution_id: string, delta: Delta) => void = () => {};
  readonly #workflows: readonly AnyWorkflow[];
  readonly #options: SceneOptions;
  readonly #services: TaskServices;
  #ids = 0;

  constructor(workflows: readonly AnyWorkflow[], options: SceneOptions = {}) {
    this.#workflows = workflows;
    this.#options = options;
    const { host } = this.clock;
    this.#services = { ...memoryServices({ hash: host.hash }), ...options.services };
    const byName = new Map(workflows.map((wf) => [wf.qualifiedName, wf]));
    this.engine = new MemoryEngine({
      host: () => host,
      limits: {
        ...Config.parse({}).executions,
        max_value_bytes: 1 << 20,
        ...options.limits,
      },
      clock: () => this.clock.now,
      services: this.#services,
      budget: options.budget,
      findWorkflow: (name) => byName.get(name),
      newId: () => `e${++this.#ids}`,
    });
    this.engine.onDelta = (id, delta) => {
      const types = (JSON.parse(delta.events) as Event[]).map(({ type }) => type);
      this.#remember(`before ${id} commits ${types.join(" ")}`);
      this.onDelta(id, delta);
    };
  }

  /** The execution started first, or a named one. */
  row(id = "e1"): ExecutionRow {
    return this.engine.row(id);
  }

  log(id = "e1"): readonly Event[] {
    return this.engine.log(id);
  }

  types(id = "e1"): EventType[] {
    return this.log(id).map(({ type }) => type);
  }

  /** `TYPE source_id` of the events of calls, and of the ends of workflows. */
  story(id = "e1"): string[] {
    return this.log(id).map(({ type, source_id }) =>
      type.startsWith("WORKFLOW_") ? type : `${type} ${source_id}`,
    );
  }

  /** Starts the first of the workflows and lets it go as far as it can without time passing. */
  async start(input: unknown = null): Promise<void> {
    const [workflow] = this.#workflows;
    if (!workflow) throw new Error("a scene needs a workflow");
    this.engine.start(workflow, input);
    await this.settle();
  }

  /** Lets everything happen that needs no time but the linger of starts. */
  async settle(): Promise<void> {
    const until = this.clock.now + LINGER_MS;
    do await this.#allThatCan();
    while (await this.#forward(until));
  }

  /** Lets time pass. */
  async advance(ms: number): Promise<void> {
    const until = this.clock.now + ms;
    do await this.#allThatCan();
    while (await this.#forward(until));
    this.clock.now = until;
  }

  /** On to the end: outsiders answer, time passes. Stops where nothing would ever happen. */
  async toEnd(): Promise<ExecutionRow> {
    for (let round = 0; round < 1_000; round++) {
      await this.settle();
      if ([...this.engine.rows.values()].every(({ state }) => isTerminal(state))) break;
      if (this.#options.answer?.(this)) continue;
      if (!(await this.#forward(Number.POSITIVE_INFINITY))) break;
    }
    return this.row();
  }

  async run(input: unknown = null): Promise<ExecutionRow> {
    await this.start(input);
    return this.toEnd();
  }

  /** Another scene that begins where a crash of all workers left this one. */
  after(crash: CrashPoint): Scene {
    const options = { ...this.#options, services: this.#services };
    const scene = new Scene(this.#workflows, options);
    scene.clock.now = crash.now;
    scene.#ids = crash.rows.size;
    for (const [id, row] of crash.rows) scene.engine.rows.set(id, row);
    for (const [id, log] of crash.logs) scene.engine.logs.set(id, [...log]);
    scene.engine.signals = crash.signals.copy();
    for (const { execution_id, session } of crash.rows.values()) {
      if (session === null) continue;
      const how = { now: crash.now, cancel_timeout_ms: 300_000 };
      scene.engine.change(execution_id, handOver(scene.engine.row(execution_id), how));
    }
    return scene;
  }

  /** Takes an execution from its copy, as when its worker is lost. */
  async crash(id = "e1"): Promise<void> {
    this.engine.copyOf(id)?.stop("its worker is lost");
    this.engine.fence(id);
    await this.settle();
  }

  /** Lets a parked copy go on under a new claim; false when it must be replayed instead. */
  wake(copy: RunningExecution, id = "e1"): boolean {
    return this.engine.wake(id, copy) !== undefined;
  }

  async #allThatCan(): Promise<void> {
    for (;;) {
      await this.clock.still();
      const waiting = [...this.engine.rows.values()].filter(isQueued);
      if (waiting.length === 0) return;
      for (const { execution_id } of waiting) {
        this.engine.claim(execution_id);
      }
    }
  }

  /** Moves the clock to the next instant something is due, if that lies within reach. */
  async #forward(until: number): Promise<boolean> {
    const next = Math.min(this.clock.nextTimer ?? Infinity, this.engine.nextWake ?? Infinity);
    if (next > until || next === Infinity) return false;
    this.clock.now = Math.max(this.clock.now, next);
    this.engine.wakeDue();
    await this.clock.fire();
    return true;
  }

  #remember(at: string): void {
    const { rows, logs, signals } = this.engine;
    this.crashPoints.push({
      at,
      now: this.clock.now,
      rows: new Map(rows),
      logs: new Map([...logs].map(([id, log]) => [id, [...log]])),
      signals: signals.copy(),
    });
  }
}
