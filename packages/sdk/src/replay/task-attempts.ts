import {
  decode,
  type Event,
  engineFailure,
  type Failure,
  formatInstant,
  parseDuration,
  type Stored,
  store,
} from "@engine/contract";
import type { TaskContext } from "../options.ts";
import { checkSchema, type StandardSchema } from "../standard-schema.ts";
import { taskError } from "../task-error.ts";
import { abandon } from "./abandon.ts";
import { AttemptContext } from "./attempt-context.ts";
import { type Call, Group, type Scope, scopeWithin, type TaskDefinition } from "./call.ts";
import { CallIds } from "./call-ids.ts";
import type { Core } from "./core.ts";
import { toFailure } from "./failure.ts";
import { interruptedIn, Reach } from "./reach.ts";
import { keepOutput, storeOr } from "./stored.ts";
import { TaskCache } from "./task-cache.ts";
import {
  type Declared,
  fetchProvisions,
  NO_PROVISIONS,
  needsProvisions,
  type Provisions,
} from "./task-provisions.ts";
import { taskRoom } from "./task-room.ts";
import { countsBefore, type Reached, reached, unwound, withRollback } from "./task-steps.ts";
import { within } from "./within.ts";

type Result = { stored: Stored; failure?: undefined } | { stored?: undefined; failure: Failure };
type Body = (input: unknown, ctx: TaskContext) => unknown;
type Unwinding = Omit<Extract<Reached, { kind: "unwinding" }>, "kind">;

/** Failures that no retry, rollback or fallback follows (EXE-40). */
const FINAL: ReadonlySet<string> = new Set([
  "InvalidInputError",
  "SecretMissingError",
  "ConfigMissingError",
  "TransientUnsupportedError",
]);

/**
 * Runs a task call to its outcome: attempts with their delays, then rollback, then fallback, each
 * in the log before the next begins (EXE-38, EXE-39). After a crash it goes on where the log ends;
 * what the log holds is not repeated.
 */
export class TaskAttempts {
  readonly #core: Core;
  readonly #call: Call;
  readonly #task: TaskDefinition;
  readonly #started: string;
  /** The decoded argument, parsed by the task's schema if it has one. */
  #input: unknown;
  #isInputFresh = true;
  #counts: ReadonlyMap<string, number>;
  readonly #declared: Declared;
  readonly #begunAt: number;
  readonly #cache: TaskCache | undefined;
  #provisions: Provisions = NO_PROVISIONS;

  constructor(
    core: Core,
    of: { call: Call; task: TaskDefinition; input: Stored; declared: Declared },
  ) {
    this.#core = core;
    this.#declared = of.declared;
    this.#begunAt = core.options.host.now();
    this.#call = of.call;
    this.#task = of.task;
    this.#started = of.input.text;
    this.#input = of.input.value;
    const { cache } = of.task.options;
    this.#cache = cache ? new TaskCache(core.options, of.task, cache) : undefined;
    const { steps = [], children = [] } = of.call.recorded ?? {};
    this.#counts = countsBefore(steps, children);
  }

  async run(): Promise<void> {
    this.#core.parking.enter(this.#call);
    const caughtUp = this.#core.outbox.caughtUp();
    if (caughtUp) {
      await caughtUp;
      if (this.#call.isConcluded) return;
    }
    this.#call.room = taskRoom(this.#call, this.#task, this.#core.options.port.budget);
    const invalid = this.#task.options.input && (await this.#checkInput());
    if (invalid) return this.#fail(invalid);
    const steps = this.#call.recorded?.steps ?? [];
    if (this.#cache && steps.length === 0 && (await this.#completeFrom(this.#cache))) return;
    const at = reached(steps);
    switch (at.kind) {
      case "attempt":
      case "failed":
        return this.#attempts(at);
      case "unwinding":
        return this.#unwind(at);
      case "completed":
        return this.#completeWith(at.output, at.attempts);
      case "ended":
        return this.#fail(at.failure);
    }
  }

  async #attempts(at: Extract<Reached, { kind: "attempt" | "failed" }>): Promise<void> {
    const { maxAttempts = 1 } = this.#task.options.retry ?? {};
    let known: Failure | undefined = at.kind === "failed" ? at.failure : undefined;
    let notBefore = at.kind === "attempt" ? at.not_before : undefined;
    for (let attempt = at.attempt; ; attempt++) {
      if (notBefore !== undefined) await this.#until(notBefore);
      if (this.#call.isConcluded) return;
      // Given up before this attempt began: there is nothing that could still settle by itself.
      if (this.#isAborted) return this.#core.cancel(this.#call);
      const result = known ? { failure: known } : await this.#attempt(attempt);
      if (this.#call.isConcluded) return;
      const of = { attempt, max_attempts: maxAttempts };
      if (result.stored) {
        if (attempt > 1)
          this.#emit("TASK_RETRY_COMPLETED", { ...of, ...this.#small(result.stored) });
        if (this.#cache) await this.#cache.keep(this.#input, this.#started, result.stored);
        return this.#complete(result.stored, attempt);
      }
      const { failure } = result;
      if (attempt > 1 && !known) this.#emit("TASK_RETRY_FAILED", { ...of, error: failure });
      known = undefined;
      if (!this.#mayRetry(failure, attempt, maxAttempts)) {
        return this.#unwind({ failure, rollback: "none", hasFallbackStarted: false });
      }
      const delay_ms = this.#delayBefore(attempt + 1);
      notBefore = this.#core.options.host.now() + delay_ms;
      await this.#emitDurably("TASK_RETRY_STARTED", {
        attempt: attempt + 1,
        max_attempts: maxAttempts,
        delay_ms,
        not_before: formatInstant(notBefore),
        error: failure,
      });
      if (this.#call.isConcluded) return;
    }
  }

  /** A large output is told by the call's outcome alone, which may keep it elsewhere. */
  #small({ text, value }: Stored): { output?: unknown } {
    const { inline_value_bytes } = this.#core.options.limits;
    return text.length > inline_value_bytes ? {} : { output: value };
  }

  #mayRetry(failure: Failure, attempt: number, maxAttempts: number): boolean {
    if (!failure.retryable || attempt >= maxAttempts || this.#isAborted) return false;
    if (FINAL.has(failure.type)) return false;
    const { retryIf } = this.#task.options.retry ?? {};
    return retryIf === undefined || retryIf(failure) !== false;
  }

  #delayBefore(attempt: number): number {
    const { delay = "1s", backoff = 2, maxDelay = "10m" } = this.#task.options.retry ?? {};
    const grown = (parseDuration(delay) ?? 0) * backoff ** (attempt - 2);
    return Math.min(grown, parseDuration(maxDelay) ?? grown);
  }

  /** Rollback, then fallback, then the outcome. */
  async #unwind({ failure, rollback: undone, hasFallbackStarted }: Unwinding): Promise<void> {
    const { rollback, fallback } = this.#task.options;
    if (this.#isAborted || FINAL.has(failure.type)) return this.#fail(failure);

    if (rollback && undone !== "completed") {
      if (undone === "none") {
        this.#emit("TASK_ROLLBACK_STARTED", { reason: "failure", error: failure });
      }
      const result = await this.#body(failure, rollback);
      if (this.#call.isConcluded) return;
      if (result.failure) {
        this.#call.isRolledBack = true;
        this.#emit("TASK_ROLLBACK_FAILED", result.failure);
        return this.#fail(withRollback(failure, result.failure));
      }
      this.#call.isRolledBack = true;
      await this.#emitDurably("TASK_ROLLBACK_COMPLETED", null);
      if (this.#call.isConcluded) return;
    }
    if (!fallback) return this.#fail(failure);

    if (!hasFallbackStarted) this.#emit("TASK_FALLBACK_STARTED", { error: failure });
    const result = await this.#body(failure, (input, ctx) => fallback(input, failure, ctx));
    if (this.#call.isConcluded) return;
    if (result.stored) {
      this.#core.emit(this.#call, "TASK_FALLBACK_COMPLETED", result.stored.text);
      return this.#complete(result.stored, failure.attempts);
    }
    const failed = { ...result.failure, cause: failure, attempts: failure.attempts };
    this.#emit("TASK_FALLBACK_FAILED", failed);
    this.#fail(failed);
  }

  /**
   * What a cancel leaves to do for a call that had begun: its rollback, bound in time, unless the
   * log says that it has run (EXE-42).
   */
  async unwindCancelled(): Promise<void> {
    const { rollback, input: schema } = this.#task.options;
    const at = this.#call.isRolledBack ? "done" : unwound(this.#call.recorded?.steps ?? []);
    if (!rollback || at === "done") return;
    const { host, limits } = this.#core.options;
    // What it undoes should have stopped changing; a body that ignores its signal gets the grace.
    await within(host, limits.sibling_grace * 1000, this.#call.bodySettled);
    if (schema && (await this.#checkInput())) return;
    if (at === "none") this.#emit("TASK_ROLLBACK_STARTED", { reason: "cancel" });
    const provided = await this.#provide(1);
    if (provided) return this.#emitDurably("TASK_ROLLBACK_FAILED", provided);
    const { parking } = this.#core;
    const held = parking.leaveToStart(this.#call);
    if (held) await held;
    const late = `rollback of ${this.#call.id} took longer than rollback_timeout, ${limits.rollback_timeout}s`;
    const context = this.#context(1, null);
    parking.active++;
    const result = await this.#runFor(limits.rollback_timeout * 1000, context, rollback, late);
    parking.active--;
    parking.soon();
    if (result.failure) return this.#emitDurably("TASK_ROLLBACK_FAILED", result.failure);
    await this.#emitDurably("TASK_ROLLBACK_COMPLETED", null);
  }

  /**
   * Runs the body again after a cancel, as far as the calls a lost copy made in it (EXE-42).
   * Undefined: there are none to look for.
   */
  reach(): Promise<void> | undefined {
    const { recorded, bodySettled } = this.#call;
    const { cancellation } = this.#core;
    if (!recorded || !cancellation) return undefined;
    const left = interruptedIn(recorded, cancellation.since);
    if (left.length === 0) return undefined;
    const reach = new Reach(this.#core, cancellation, left);
    // One that runs here has been told to stop; it is not run a second time.
    if (!bodySettled) return this.#reach(reach);
    reach.warnOfMissed();
    return undefined;
  }

  async #reach(reach: Reach): Promise<void> {
    const again = this.#interruptedBody();
    const { input: schema } = this.#task.options;
    const isInvalid = schema !== undefined && (await this.#checkInput());
    if (again && !isInvalid && !(await this.#provide(again.attempt))) {
      const { body, attempt, failure } = again;
      const held = this.#core.parking.leaveToStart(this.#call);
      if (held) await held;
      const context = this.#context(attempt, failure);
      const { host } = this.#core.options;
      await reach.run(this.#call, this.#counts, (scope) =>
        this.#settled(attempt, async () =>
          host.runInScope(scope, () => body(this.#freshInput(), context)),
        ),
      );
      context.abort(taskError(this.#abortFailure(attempt)));
    }
    reach.warnOfMissed();
  }

  #interruptedBody(): { body: Body; attempt: number; failure: Failure | null } | undefined {
    const { rollback, fallback } = this.#task.options;
    const at = reached(this.#call.recorded?.steps ?? []);
    if (at.kind === "attempt") {
      return { body: this.#task.fn, attempt: at.attempt, failure: null };
    }
    if (at.kind !== "unwinding") return undefined;
    const { failure, hasFallbackStarted } = at;
    const again: Body = (input, ctx) => fallback?.(input, failure, ctx);
    const body = hasFallbackStarted ? again : rollback;
    return body && { body, attempt: failure.attempts, failure };
  }

  async #completeFrom(cache: TaskCache): Promise<boolean> {
    const output = await cache.find(this.#input, this.#started);
    if (this.#call.isConcluded) return true;
    if (output) this.#core.complete(this.#call, output, { attempts: 0, cached: true });
    return output !== undefined;
  }

  /** Fetches what the attempt has declared; the failure if something does not exist. */
  async #provide(attempts: number): Promise<Failure | undefined> {
    if (!needsProvisions(this.#task, this.#declared)) return undefined;
    const { services } = this.#core.options.port;
    const fetched = await fetchProvisions(this.#task, this.#declared, services);
    if (fetched.failure) return { ...fetched.failure, ...this.#of(attempts) };
    this.#provisions = fetched.provisions;
    return undefined;
  }

  #complete(output: Stored, attempts: number): void {
    this.#core.cancelUnasked(this.#call);
    const { outputStorage } = this.#task.options;
    const meta = this.#meta(attempts);
    if (outputStorage === undefined || outputStorage === "engine") {
      this.#core.complete(this.#call, output, meta);
    } else void this.#completeStored(output, meta);
  }

  /** Hands the output to the storage that the task names; the log holds where it is (EXE-49). */
  async #completeStored(output: Stored, meta: Meta): Promise<void> {
    const id = `${this.#core.options.info.execution_id}/${this.#call.id}`;
    const kept = await keepOutput(output, id, this.#task.options.outputStorage);
    if (!kept.failure) return this.#core.complete(this.#call, output, meta, kept.text);
    this.#core.fail(this.#call, { ...kept.failure, ...this.#of(meta.attempts) }, meta);
  }

  #meta(attempts: number): Meta {
    const duration_ms = Math.max(0, this.#core.options.host.now() - this.#begunAt);
    return { attempts, duration_ms };
  }

  #completeWith(output: unknown, attempts: number): void {
    const { stored, failure } = storeOr(output, "output", this.#storing(attempts));
    if (failure) this.#fail(failure);
    else this.#complete(stored, attempts);
  }

  #fail(failure: Failure): void {
    this.#core.cancelUnasked(this.#call);
    this.#core.fail(this.#call, failure, this.#meta(failure.attempts));
  }

  async #attempt(attempt: number): Promise<Result> {
    const turn = this.#call.room?.enter();
    if (turn) await this.#core.parking.untilTurn(this.#call, turn);
    const missing = await this.#provide(attempt);
    if (missing) return { failure: missing };
    const held = this.#core.parking.leaveToStart(this.#call);
    if (held) await held;
    if (this.#isAborted) {
      // Given up meanwhile: there is no body yet that could be told.
      this.#core.cancel(this.#call);
      return { failure: this.#abortFailure(attempt) };
    }
    const { timeout, output: schema } = this.#task.options;
    const context = this.#context(attempt, null);
    const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout);
    const { name, fn } = this.#task;
    const late = () =>
      `attempt ${attempt} of ${name} took longer than its timeout of ${typeof timeout === "number" ? `${timeout}ms` : timeout}`;
    const running =
      timeoutMs === undefined
        ? this.#run(context, fn)
        : this.#runFor(timeoutMs, context, fn, late());
    this.#call.room?.started(this.#call.bodySettled);
    return this.#checked(await running, schema, attempt);
  }

  /**
   * Runs a function of the task for a limited time; what it gives later is ignored (EXE-41). Time
   * that it waits for the outside world does not count, whether the execution is parked or not.
   */
  async #runFor(ms: number, context: AttemptContext, body: Body, message: string): Promise<Result> {
    const { host } = this.#core.options;
    const call = this.#call;
    let cancelTimer = () => {};
    const end = host.now() - call.waitedMs + ms;
    const late = new Promise<Result>((resolve) => {
      const look = () => {
        if (call.waitingSince !== undefined) return;
        const left = end + call.waitedMs - host.now();
        if (left > 0) {
          cancelTimer = host.setTimer(look, left);
          return;
        }
        const failure = engineFailure("TaskTimeoutError", message, this.#of(context.attempt));
        context.abort(taskError(failure));
        resolve({ failure });
      };
      call.onRunsOn = () => {
        cancelTimer();
        look();
      };
      cancelTimer = host.setTimer(look, ms);
    });
    const result = await this.#run(context, body, late);
    cancelTimer();
    call.onRunsOn = undefined;
    return result;
  }

  /** Runs a rollback or fallback. */
  #body(failure: Failure, body: Body): Promise<Result> {
    const run = () => this.#run(this.#context(failure.attempts, failure), body);
    const held = this.#core.parking.leaveToStart(this.#call);
    return held ? held.then(run) : run();
  }

  /** Runs one function of the task in a scope and group of its own; open calls end with it. */
  async #run(context: AttemptContext, body: Body, late?: Promise<Result>): Promise<Result> {
    const core = this.#core;
    const call = this.#call;
    const group = new Group(call.scope.group);
    const ids = new CallIds(call.id, this.#counts);
    const inside = { ids, group, inTask: true, task: call, reach: undefined };
    const scope: Scope = scopeWithin(call, inside);
    call.onAbort = () => context.abort(taskError(this.#abortFailure(context.attempt)));
    const result = this.#settled(context.attempt, async () =>
      core.options.host.runInScope(scope, () => body(this.#freshInput(), context)),
    );
    call.bodySettled = result;
    const first = await (late ? Promise.race([result, late]) : result);
    this.#counts = ids.counts;
    if (group.open.size) await new Promise<void>((done) => abandon(core, group, done));
    else core.closeCombinators(group);
    group.abort();
    return first;
  }

  async #settled(attempts: number, body: () => Promise<unknown>): Promise<Result> {
    try {
      return storeOr(await body(), "output", this.#storing(attempts));
    } catch (error) {
      return { failure: toFailure(error, this.#of(attempts)) };
    }
  }

  async #checked(result: Result, schema: unknown, attempts: number): Promise<Result> {
    if (!schema || !result.stored) return result;
    const checked = await checkSchema(schema as StandardSchema, result.stored.value);
    if (checked.issues === undefined)
      return storeOr(checked.value, "output", this.#storing(attempts));
    const message = `output of ${this.#task.name} does not fit its schema: ${checked.issues}`;
    return { failure: engineFailure("InvalidOutputError", message, this.#of(attempts)) };
  }

  async #checkInput(): Promise<Failure | undefined> {
    const schema = this.#task.options.input as StandardSchema;
    const checked = await checkSchema(schema, this.#input);
    if (checked.issues !== undefined) {
      const message = `input of ${this.#task.name} does not fit its schema: ${checked.issues}`;
      return engineFailure("InvalidInputError", message, this.#of(1));
    }
    this.#input = checked.value;
    return undefined;
  }

  /** Every function gets a copy of its own, whatever the one before did to its. */
  #freshInput(): unknown {
    if (this.#isInputFresh) {
      this.#isInputFresh = false;
      return this.#input;
    }
    return this.#task.options.input ? this.#input : decode(JSON.parse(this.#started));
  }

  #context(attempt: number, failure: Failure | null): AttemptContext {
    const { host, info } = this.#core.options;
    return new AttemptContext({
      host,
      execution_id: info.execution_id,
      task_call_id: this.#call.id,
      name: this.#task.name,
      metadata: this.#task.options.metadata,
      attempt,
      failure,
      ...this.#provisions,
    });
  }

  #abortFailure(attempts: number): Failure {
    const message = `${this.#call.id} was given up: a sibling failed or the workflow ended`;
    return engineFailure("CancelledError", message, this.#of(attempts));
  }

  #of(attempts: number) {
    return { attempts, task_call_id: this.#call.id };
  }

  #storing(attempts: number) {
    return { maxBytes: this.#core.options.limits.max_value_bytes, ...this.#of(attempts) };
  }

  get #isAborted(): boolean {
    return this.#call.scope.group.isAborted;
  }

  #emit(type: Event["type"], value: unknown): void {
    this.#core.emit(this.#call, type, store(value, "value").text);
  }

  #emitDurably(type: Event["type"], value: unknown): Promise<void> {
    const { text } = store(value, "value");
    return new Promise((resolve) => {
      this.#core.emit(this.#call, type, text, { onDurable: () => resolve() });
    });
  }

  async #until(instant: number): Promise<void> {
    const { host, limits, info } = this.#core.options;
    const ms = instant - host.now();
    if (ms <= 0 || this.#isAborted) return;
    // A short delay keeps the slot; so does any of an execution that cannot be parked.
    if (ms > limits.inline_wait * 1000 && !info.transient) {
      this.#call.onAbort = () => this.#core.parking.wakeFromRest(this.#call);
      return this.#core.parking.rest(this.#call, instant);
    }
    await new Promise<void>((resolve) => {
      const cancelTimer = host.setTimer(resolve, ms);
      this.#call.onAbort = () => {
        cancelTimer();
        resolve();
      };
    });
  }
}

interface Meta extends Readonly<Record<string, unknown>> {
  readonly attempts: number;
}
