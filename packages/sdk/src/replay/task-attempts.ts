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
import { AttemptContext } from "./attempt-context.ts";
import { Call, Group, type Scope, type TaskDefinition } from "./call.ts";
import { CallIds } from "./call-ids.ts";
import { type Core, scopeWithin } from "./core.ts";
import { toFailure } from "./failure.ts";
import type { RecordedCall } from "./journal.ts";
import { storeOr } from "./stored.ts";
import { countsBefore, type Reached, reached, withRollback } from "./task-steps.ts";

type Result = { stored: Stored; failure?: undefined } | { stored?: undefined; failure: Failure };
type Unwinding = Omit<Extract<Reached, { kind: "unwinding" }>, "kind">;

/** A failure that no rollback or fallback follows (EXE-40). */
const FINAL: ReadonlySet<string> = new Set(["InvalidInputError"]);

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

  constructor(core: Core, of: { call: Call; task: TaskDefinition; input: Stored }) {
    this.#core = core;
    this.#call = of.call;
    this.#task = of.task;
    this.#started = of.input.text;
    this.#input = of.input.value;
    const { steps = [], children = [] } = of.call.recorded ?? {};
    this.#counts = countsBefore(steps, children);
  }

  async run(): Promise<void> {
    this.#core.enterBody(this.#call);
    const invalid = this.#task.options.input && (await this.#checkInput());
    if (invalid) return this.#fail(invalid);
    const at = reached(this.#call.recorded?.steps ?? []);
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
      const result = known ? { failure: known } : await this.#attempt(attempt);
      if (this.#call.isConcluded) return;
      const of = { attempt, max_attempts: maxAttempts };
      if (result.stored) {
        if (attempt > 1) this.#emit("TASK_RETRY_COMPLETED", { ...of, output: result.stored.value });
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

  #mayRetry(failure: Failure, attempt: number, maxAttempts: number): boolean {
    if (!failure.retryable || attempt >= maxAttempts || this.#isAborted) return false;
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
        this.#emit("TASK_ROLLBACK_FAILED", result.failure);
        return this.#fail(withRollback(failure, result.failure));
      }
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

  #complete(output: Stored, attempts: number): void {
    this.#cancelUnasked(this.#call.recorded?.children ?? []);
    this.#core.complete(this.#call, output, { attempts });
  }

  #completeWith(output: unknown, attempts: number): void {
    const { stored, failure } = storeOr(output, "output", this.#storing(attempts));
    if (failure) this.#fail(failure);
    else this.#complete(stored, attempts);
  }

  #fail(failure: Failure): void {
    this.#cancelUnasked(this.#call.recorded?.children ?? []);
    this.#core.fail(this.#call, failure, { attempts: failure.attempts });
  }

  /** Calls that a lost copy left open inside this task and that nobody has made again. */
  #cancelUnasked(children: readonly RecordedCall[]): void {
    for (const child of children) {
      this.#cancelUnasked(child.children);
      if (child.outcome || child.asked) continue;
      const open = new Call(child.id, { ...child, scope: this.#call.scope, recorded: child });
      this.#core.emit(open, "TASK_CANCELLED", "null");
    }
  }

  async #attempt(attempt: number): Promise<Result> {
    if (this.#isAborted) return { failure: this.#abortFailure(attempt) };
    const { host } = this.#core.options;
    const { timeout, output: schema } = this.#task.options;
    const context = this.#context(attempt, null);
    const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout);
    if (timeoutMs === undefined)
      return this.#checked(await this.#run(context, this.#task.fn), schema, attempt);

    let cancelTimer = () => {};
    const late = new Promise<Result>((resolve) => {
      cancelTimer = host.setTimer(() => {
        const message = `attempt ${attempt} of ${this.#task.name} took longer than its timeout of ${typeof timeout === "number" ? `${timeout}ms` : timeout}`;
        const failure = engineFailure("TaskTimeoutError", message, this.#of(attempt));
        context.abort(taskError(failure));
        resolve({ failure });
      }, timeoutMs);
    });
    const result = await this.#run(context, this.#task.fn, late);
    cancelTimer();
    return this.#checked(result, schema, attempt);
  }

  /** Runs a rollback or fallback. */
  #body(failure: Failure, body: (input: unknown, ctx: TaskContext) => unknown): Promise<Result> {
    return this.#run(this.#context(failure.attempts, failure), body);
  }

  /** Runs one function of the task in a scope and group of its own; open calls end with it. */
  async #run(
    context: AttemptContext,
    body: (input: unknown, ctx: TaskContext) => unknown,
    late?: Promise<Result>,
  ): Promise<Result> {
    const core = this.#core;
    const call = this.#call;
    const group = new Group(call.scope.group);
    const ids = new CallIds(call.id, this.#counts);
    const scope: Scope = scopeWithin(call, { ids, group, inTask: true, task: call });
    call.onAbort = () => context.abort(taskError(this.#abortFailure(context.attempt)));
    const result = this.#settled(context.attempt, async () =>
      core.options.host.runInScope(scope, () => body(this.#freshInput(), context)),
    );
    const first = await (late ? Promise.race([result, late]) : result);
    this.#counts = ids.counts;
    if (group.open.size) await new Promise<void>((done) => core.abandon(group, done));
    else core.closeCombinators(group);
    group.abort();
    group.close();
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

  #until(instant: number): Promise<void> {
    const { host } = this.#core.options;
    const ms = instant - host.now();
    if (ms <= 0 || this.#isAborted) return Promise.resolve();
    return new Promise((resolve) => {
      const cancelTimer = host.setTimer(resolve, ms);
      this.#call.onAbort = () => {
        cancelTimer();
        resolve();
      };
    });
  }
}
