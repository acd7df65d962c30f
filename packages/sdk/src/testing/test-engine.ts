// biome-ignore-all lint/style/noRestrictedGlobals: makes Dates of given instants, asks for no time
import {
  Config,
  type Duration,
  EngineError,
  type Event,
  type ExecutionRow,
  type History,
  isQueued,
  isTerminal,
  parseDuration,
  parseEventTime,
  toHistory,
} from "@engine/contract";
import { nodeHost } from "../node/host.ts";
import type { TaskContext } from "../options.ts";
import type { CheckpointReply, Delta, EmbeddedLimits, Host } from "../replay/port.ts";
import { type RunResult, runResult } from "../run-result.ts";
import type { Task } from "../task.ts";
import { type AnyWorkflow, findWorkflow, isWorkflow, type Workflow } from "../workflow.ts";
import { CopyHost } from "./copy-host.ts";
import { Crashes } from "./crashes.ts";
import { fixedChance } from "./fixed-chance.ts";
import { MemoryEngine } from "./memory-engine.ts";
import { type MemoryServices, memoryServices } from "./memory-services.ts";
import { immediately, printed } from "./process.ts";
import { StandIns, type TaskRun } from "./stand-ins.ts";
import { Stillness } from "./stillness.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** How a test engine is set up; nothing need be given. */
export interface TestEngineOptions {
  /** Sleeps and retry delays take no time. Default false: they wait for `advance`. */
  readonly skipTime?: boolean;
  /** What the clock shows at first. Default 2026-01-01T00:00:00Z. */
  readonly now?: Date | string | number;
  /** Secrets by name, for tasks that declare them. */
  readonly secrets?: Readonly<Record<string, unknown>>;
  /** Configs by name, for tasks that declare them and for `getConfig`. */
  readonly configs?: Readonly<Record<string, unknown>>;
  /** Paths of local sockets by name, for `serviceSocket`: offered and granted. */
  readonly services?: Readonly<Record<string, string>>;
  /** Limits of the server that differ from its defaults. */
  readonly limits?: Partial<EmbeddedLimits>;
  /** Throws the copy away after every step and replays another: finds what is not deterministic. */
  readonly alwaysReplay?: boolean;
  /** Whatever the engine and its worker tell each other arrives twice. */
  readonly duplicateDelivery?: boolean;
  /** Takes the worker's own log. Default: warnings and errors go to the console. */
  readonly log?: Host["log"];
}

/** What an execution of a test may be given. */
export interface TestRunOptions {
  /** Default: `e1`, `e2` and so on. */
  readonly executionId?: string;
  /** Default 1. */
  readonly version?: number;
  /** A label, as an operator would give it. */
  readonly name?: string;
}

const START = "2026-01-01T00:00:00Z";
/** How long time waits for bodies that run before it is moved on under them. Real milliseconds. */
const PATIENCE_MS = 100;

/**
 * An engine in memory, by the server's own rules: the same states, events and failures, no server,
 * no files. Time is the engine's own and stands still unless it is skipped or moved.
 *
 * @example
 * ```ts
 * const engine = testEngine({ skipTime: true });
 * engine.mock(charge, async () => ({ receipt: "r1" }));
 * const { state } = await engine.run(checkout, { cents: 900 });
 * ```
 */
export function testEngine(options: TestEngineOptions = {}): TestEngine {
  return new TestEngine(options);
}

/** Made by {@link testEngine}. */
export class TestEngine {
  readonly #options: TestEngineOptions;
  readonly #engine: MemoryEngine;
  readonly #base: Host;
  readonly #clock: VirtualClock;
  readonly #services: MemoryServices;
  readonly #standIns: StandIns = new StandIns();
  readonly #crashes: Crashes = new Crashes();
  readonly #workflows: Map<string, AnyWorkflow> = new Map();
  readonly #hosts: Map<string, CopyHost> = new Map();
  /** Executions that a worker has to take. */
  readonly #queue: Set<string> = new Set();
  readonly #stillness: Stillness;
  /** Defects of the engine itself: nothing it says after one counts. */
  readonly #defects: string[] = [];
  #ids = 0;

  constructor(options: TestEngineOptions) {
    this.#options = options;
    const { secrets, configs, services = {}, limits, duplicateDelivery = false } = options;
    const localServices = { offered: services, granted: Object.keys(services) };
    this.#clock = new VirtualClock(instantOf(options.now ?? START));
    const base = nodeHost({
      log: (...line) => this.#log(...line),
      // A test looks at the failures that it expects: they are not printed beside its own output.
      failed: (...line) => this.#options.log?.("warn", ...line),
    });
    // Not the global's: a test may have replaced it.
    const drain = (then: () => void) => base.runInScope(undefined, () => immediately(then));
    this.#base = { ...base, ...fixedChance(), drain };
    const now = () => this.#clock.now;
    this.#services = memoryServices({ hash: base.hash, now, ...defined({ secrets, configs }) });
    this.#engine = new MemoryEngine({
      host: (execution_id) => this.#hostFor(execution_id),
      limits: { ...Config.parse({}).executions, ...limits },
      clock: now,
      services: this.#services,
      localServices: () => localServices,
      findWorkflow: (name) => this.#workflows.get(name) ?? findWorkflow(name),
      newId: () => this.#newId(),
      seed: () => `seed-${this.#ids}`,
      deliversTwice: duplicateDelivery,
      // A copy can be lost right after any outcome.
      runsAhead: false,
    });
    this.#engine.onChange = (row) => this.#onChange(row);
    this.#engine.onReply = (id, delta, reply) => this.#onReply(id, delta, reply);
    this.#stillness = new Stillness({
      hasTurns: () => this.#queue.size > 0 || this.#someHost((host) => host.hasTurns),
      isRunning: () => this.#someHost((host) => host.isRunning),
    });
  }

  /** What the engine's clock shows. */
  get now(): Date {
    return new Date(this.#clock.now);
  }

  /** The functions of tasks that really ran, mocks included, in the order in which they began. */
  get calls(): readonly TaskRun[] {
    return this.#standIns.runs;
  }

  /**
   * Starts an execution. Resolves when it has ended, is paused, or waits for what only the test can
   * bring: a resume, a signal, or (without `skipTime`) time. A failed workflow does not reject.
   */
  async run<Input, Output>(
    workflow: Workflow<Input, Output>,
    input?: Input,
    options: TestRunOptions = {},
  ): Promise<RunResult<Output>> {
    if (!isWorkflow(workflow)) {
      throw new TypeError(`run() takes a workflow made by workflow(); got ${typeof workflow}`);
    }
    const { executionId: execution_id, version, name } = options;
    this.#workflows.set(workflow.qualifiedName, workflow);
    const over = defined({ execution_id, version, name });
    const row = this.#engine.start(workflow, input, over);
    return this.#follow<Output>(row.execution_id);
  }

  /** Answers an open pause; resolves like {@link run}. @param options Needed if several are open. */
  async resume(
    executionId: string,
    input?: unknown,
    options: { readonly pause?: string } = {},
  ): Promise<RunResult> {
    this.#find(executionId);
    this.#engine.resume(executionId, input === undefined ? null : input, options.pause);
    return this.#follow(executionId);
  }

  /** Sends a signal, which waits if nobody waits for it yet; resolves like {@link run}. */
  async signal(executionId: string, name: string, payload?: unknown): Promise<RunResult> {
    this.#find(executionId);
    this.#engine.signal(executionId, name, payload === undefined ? null : payload);
    return this.#follow(executionId);
  }

  /** Cancels it with its children; resolves when it is unwound. */
  async cancel(
    executionId: string,
    options: { readonly reason?: string } = {},
  ): Promise<RunResult> {
    this.#find(executionId);
    this.#engine.cancel(executionId, options);
    return this.#follow(executionId);
  }

  /**
   * Lets time pass: whatever becomes due happens, in order, each with all that follows from it
   * before the next. Time also passes under tasks that have been running for a while.
   */
  async advance(duration: Duration): Promise<void> {
    const ms = parseDuration(duration);
    if (ms === undefined) {
      throw new TypeError(
        `advance() takes a duration: milliseconds from 0, or a number with ms, s, m, h or d such as "2d"; got ${String(duration)}`,
      );
    }
    const target = this.#clock.now + Math.ceil(ms);
    for (;;) {
      await this.#stillness.reached({ patience_ms: PATIENCE_MS });
      const next = this.#nextInstant;
      if (next === undefined || next > target) break;
      this.#moveTo(next);
    }
    this.#moveTo(target);
    const all = () => [...this.#engine.rows.values()];
    await this.#rest(all, PATIENCE_MS);
    if (all().every(isOver)) this.#reportCrashes();
  }

  /**
   * Runs `fn` in place of a task's function, also for its copies made by `with`, in this engine
   * only. Options stay: retries, timeout, fallback and rollback are the task's own.
   *
   * @returns What ends that.
   */
  mock<Input, Output>(
    task: Task<Input, Output>,
    fn: (input: Input, ctx: TaskContext) => Output | Promise<Output>,
  ): () => void {
    return this.#standIns.mock(task, fn);
  }

  /**
   * Loses the copy that runs an execution right after the outcome of this call was recorded, once;
   * another one goes on from the log. Of a wait: after the next thing that the copy it woke records.
   *
   * @param taskCallId Such as `charge~1`: the first call of task `charge`.
   */
  crashAfter(taskCallId: string): void {
    this.#crashes.after(taskCallId);
  }

  /** How an execution stands. */
  get(executionId: string): RunResult {
    const row = this.#find(executionId);
    const output = this.#services.inline(row.output);
    return runResult({ ...row, output }, this.events(executionId));
  }

  /** Its log. */
  events(executionId: string): readonly Event[] {
    this.#find(executionId);
    return [...this.#engine.log(executionId)];
  }

  /** The same as a file that a test can keep and replay against later code (EXE-88). */
  history(executionId: string): History {
    // This engine's clock stands still between an event and its commit.
    const log = this.#engine.log(executionId).map((event) => ({
      event,
      recorded_at: parseEventTime(event.time),
    }));
    return toHistory(this.#find(executionId), log);
  }

  async #follow<Output>(executionId: string): Promise<RunResult<Output>> {
    await this.#rest(() => this.#familyOf(executionId));
    if (this.#familyOf(this.#rootOf(executionId)).every(isOver)) this.#reportCrashes();
    return this.get(executionId) as RunResult<Output>;
  }

  /** Until nothing moves any of these but the test. Gives up on bodies that exceed the patience. */
  async #rest(rows: () => readonly ExecutionRow[], patience_ms?: number): Promise<void> {
    const isAtRest = () => this.#defects.length > 0 || rows().every((row) => this.#isAtRest(row));
    while (!isAtRest()) {
      const how = await this.#stillness.reached({ isOver: isAtRest, patience_ms });
      if (how === "impatient") break;
      if (how === "still" && !this.#skipTime(rows())) await this.#stillness.breath();
    }
    const [defect] = this.#defects;
    if (defect !== undefined) throw new Error(`the test engine could not go on: ${defect}`);
  }

  #isAtRest(row: ExecutionRow): boolean {
    if (isOver(row)) return true;
    if (row.session !== null || isQueued(row)) return false;
    return !this.#options.skipTime || !row.waits.some(isSkipped);
  }

  /** Moves to the next instant if one of these waits for time alone. */
  #skipTime(rows: readonly ExecutionRow[]): boolean {
    const next = this.#nextInstant;
    const runs = rows.some(({ session }) => session !== null);
    const isFor =
      (runs && this.#clock.next !== undefined) || rows.some((r) => r.waits.some(isSkipped));
    if (!this.#options.skipTime || next === undefined || !isFor) return false;
    this.#moveTo(next);
    return true;
  }

  get #nextInstant(): number | undefined {
    const { nextWake = Number.POSITIVE_INFINITY } = this.#engine;
    const next = Math.min(nextWake, this.#clock.next ?? Number.POSITIVE_INFINITY);
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }

  #moveTo(instant: number): void {
    this.#clock.moveTo(instant);
    this.#engine.wakeDue();
    this.#stillness.moved();
  }

  /** An execution with the children below it. */
  #familyOf(executionId: string): ExecutionRow[] {
    const family = new Set([executionId]);
    // Children come after their parents.
    for (const { execution_id, parent_id } of this.#engine.rows.values()) {
      if (parent_id !== null && family.has(parent_id)) family.add(execution_id);
    }
    return [...family].map((id) => this.#engine.row(id));
  }

  #rootOf(executionId: string): string {
    const { parent_id } = this.#engine.row(executionId);
    return parent_id === null ? executionId : this.#rootOf(parent_id);
  }

  #onChange(row: ExecutionRow): void {
    const { execution_id, session } = row;
    this.#stillness.moved();
    if (session === null) this.#hosts.get(execution_id)?.close();
    if (!isQueued(row)) return;
    if (this.#queue.size === 0) this.#base.drain(() => this.#dispatch());
    this.#queue.add(execution_id);
  }

  #dispatch(): void {
    const ids = [...this.#queue];
    this.#queue.clear();
    for (const id of ids) if (isQueued(this.#engine.row(id))) this.#engine.claim(id);
  }

  #onReply(execution_id: string, delta: Delta, reply: CheckpointReply): CheckpointReply {
    if (reply.kind !== "accepted") return reply;
    const log = this.#engine.log(execution_id);
    const isLost =
      this.#crashes.strikes(execution_id, log) || this.#isThrownAway(delta, execution_id);
    if (!isLost) return reply;
    this.#engine.fence(execution_id);
    return { kind: "stale" };
  }

  /** Not while a task runs: another copy would have to run it again. */
  #isThrownAway(delta: Delta, execution_id: string): boolean {
    if (!this.#options.alwaysReplay || this.#hosts.get(execution_id)?.hasBodies) return false;
    if (this.#engine.row(execution_id).transient) return false;
    const events = JSON.parse(delta.events) as Event[];
    // Each copy has to have brought it further, or the next would be thrown away for nothing.
    return events.some(({ type }) => type.startsWith("TASK_") && type !== "TASK_STARTED");
  }

  #hostFor(execution_id: string): Host {
    const copy = new CopyHost({
      base: this.#base,
      clock: this.#clock,
      standIns: this.#standIns,
      onMove: () => this.#stillness.moved(),
    });
    this.#hosts.set(execution_id, copy);
    return copy.host;
  }

  #someHost(is: (host: CopyHost) => boolean): boolean {
    for (const host of this.#hosts.values()) if (is(host)) return true;
    return false;
  }

  #newId(): string {
    for (;;) {
      const id = `e${++this.#ids}`;
      if (!this.#engine.rows.has(id)) return id;
    }
  }

  #find(executionId: string): ExecutionRow {
    const row = this.#engine.rows.get(executionId);
    if (row) return row;
    const known = [...this.#engine.rows.keys()].join(", ") || "none; run() starts one";
    const message = `this engine has no execution ${String(executionId)} (it has: ${known})`;
    throw new EngineError("not_found", message, { details: { resource: "execution" } });
  }

  #reportCrashes(): void {
    this.#crashes.report([...this.#engine.logs.values()].flat());
  }

  #log(...[level, message, details]: Parameters<Host["log"]>): void {
    (this.#options.log ?? printed)(level, message, details);
    if (level !== "error") return;
    this.#defects.push(`${message} ${JSON.stringify(details ?? {})}`);
    this.#stillness.moved();
  }
}

function isOver({ state }: ExecutionRow): boolean {
  return isTerminal(state);
}

/** Waits that are for time alone. A pause or signal with a wake is somebody's to answer first. */
function isSkipped({ kind, until }: ExecutionRow["waits"][number]): boolean {
  return until !== undefined && (kind === "sleep" || kind === "retry");
}

function instantOf(value: Date | string | number): number {
  const ms = new Date(value).getTime();
  if (Number.isNaN(ms)) throw new TypeError(`option now must be a date; got ${String(value)}`);
  return ms;
}

/** Without the members that are undefined, which options do not take. */
function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
