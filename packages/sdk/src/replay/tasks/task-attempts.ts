import {
  type EventType,
  type Failure,
  formatInstant,
  parseDuration,
  type Stored,
  taskRequests,
} from "@engine/contract";
import type { Call, TaskDefinition } from "../calls/call.ts";
import type { Core } from "../core.ts";
import { changed } from "../endings/failure-stacks.ts";
import { isFull } from "../log/history-limit.ts";
import { copyOf, keepOutput, storeOr } from "../stored.ts";
import { BodyRoom } from "./body-room.ts";
import { CachedOutput } from "./cached-output.ts";
import { recordStep, recordStepDurably } from "./record-step.ts";
import { TaskBody, type TaskCall } from "./task-body.ts";
import { type Reached, reached, withDetails } from "./task-steps.ts";

/** What another attempt takes: its start, its end, and the end of the execution after it. */
const ATTEMPT_EVENTS = 3;

type Unwinding = Omit<Extract<Reached, { kind: "unwinding" }>, "kind">;

/** Failures that no retry, rollback or fallback follows (EXE-40). */
const FINAL: ReadonlySet<string> = new Set([
  "InvalidInputError",
  "SecretMissingError",
  "ConfigMissingError",
  "TaskNotAuthorizedError",
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
  readonly #body: TaskBody;
  readonly #begunAt: number;
  readonly #cache: CachedOutput | undefined;

  constructor(core: Core, of: TaskCall) {
    this.#core = core;
    this.#begunAt = core.options.host.now();
    this.#call = of.call;
    this.#task = of.task;
    this.#body = new TaskBody(core, of, { input: of.input.value });
    const { cache } = of.task.options;
    const inKey = <T>(work: () => T) => this.#body.aside("cache.key", work);
    this.#cache = cache
      ? new CachedOutput(core.options, of.task, { cache, run: inKey })
      : undefined;
  }

  async run(): Promise<void> {
    this.#core.parking.enter(this.#call);
    const caughtUp = this.#core.ahead.caughtUp();
    if (caughtUp) {
      await caughtUp;
      if (this.#call.isConcluded) return;
    }
    // Where the principal cannot be used it is not known yet what may begin (AUTH-36).
    while (this.#core.parking.isSuspended) {
      await this.#core.parking.keepBack(this.#call);
      if (this.#call.isConcluded) return;
      if (this.#body.isAborted) return this.#core.givingUp.cancel(this.#call);
    }
    const steps = this.#call.recorded?.steps ?? [];
    const at = reached(steps);
    const refused = this.#refused(at);
    if (refused) return this.#fail(refused);
    this.#call.room = this.#room();
    const invalid = this.#task.options.input && (await this.#body.checkInput());
    if (invalid) return this.#fail(invalid);
    if (this.#cache && steps.length === 0 && (await this.#completeFrom(this.#cache))) return;
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

  /** Why none of the task's functions may run here; what the log answers needs no right (AUTH-35). */
  #refused(at: Reached): Failure | undefined {
    if (at.kind === "completed" || at.kind === "ended") return undefined;
    const attempts = at.kind === "unwinding" ? at.failure.attempts : at.attempt;
    return this.#core.granted.refusal(this.#task, this.#body.of(attempts));
  }

  /** Room for a function that requests some, where there is a budget (RES-4). */
  #room(): BodyRoom | undefined {
    const { budget } = this.#core.options.port;
    const asked = this.#task.options.requests;
    const requests = budget && asked ? taskRequests(asked) : undefined;
    if (!budget || !requests) return undefined;
    const above: BodyRoom[] = [];
    for (let c = this.#call.scope.parent; c; c = c.scope.parent) if (c.room) above.push(c.room);
    return new BodyRoom({ budget, call: this.#call.id, requests, above });
  }

  async #attempts(at: Extract<Reached, { kind: "attempt" | "failed" }>): Promise<void> {
    const { maxAttempts = 1 } = this.#task.options.retry ?? {};
    let known: Failure | undefined = at.kind === "failed" ? at.failure : undefined;
    // The server woke the execution because the delay is over, whatever the clock says here.
    const isDue = at.kind === "failed" || this.#call.recorded?.isRestOver === true;
    let notBefore = isDue ? undefined : at.not_before;
    for (let attempt = at.attempt; ; attempt++) {
      if (notBefore !== undefined) await this.#until(notBefore);
      if (this.#call.isConcluded) return;
      // The call was given up before this attempt began: no function runs that could still settle.
      if (this.#body.isAborted) return this.#core.givingUp.cancel(this.#call);
      const result = known ? { failure: known } : await this.#body.attempt(attempt);
      if (this.#call.isConcluded) return;
      const of = { attempt, max_attempts: maxAttempts };
      if (result.stored) return this.#succeed(result.stored, of);
      const { failure } = result;
      if (!known) this.#core.failures.ofTask(this.#call, this.#task, failure);
      if (attempt > 1 && !known) this.#emit("TASK_RETRY_FAILED", { ...of, error: failure });
      known = undefined;
      const last = await this.#lastFailure(failure, attempt, maxAttempts);
      if (this.#call.isConcluded) return;
      if (last) return this.#unwind({ failure: last, rollback: "none", hasFallbackStarted: false });
      if (isFull(this.#core, ATTEMPT_EVENTS)) return;
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

  /**
   * The end of a retry has its output, so that another copy that takes over completes the call with
   * it. A large output stands in the call's outcome alone, whose value may lie outside of the log; then
   * both events are written at once, as the end alone would not keep the attempt from running again.
   */
  async #succeed(output: Stored, of: Attempt): Promise<void> {
    const { inline_value_bytes } = this.#core.options.limits;
    const isLarge = output.text.length > inline_value_bytes;
    const tell = (value: object) => {
      if (of.attempt > 1) this.#emit("TASK_RETRY_COMPLETED", { ...of, ...value });
    };
    if (!isLarge) tell({ output: output.value });
    if (this.#cache) {
      await this.#cache.keep(output);
      if (this.#call.isConcluded) return;
    }
    this.#complete(output, of.attempt, isLarge ? () => tell({}) : undefined);
  }

  /**
   * The failure that the call goes on with if this one ends the attempts; undefined when another one
   * follows. A `retryIf` that fails itself ends them too.
   */
  async #lastFailure(
    failure: Failure,
    attempt: number,
    maxAttempts: number,
  ): Promise<Failure | undefined> {
    const isLast = !failure.retryable || attempt >= maxAttempts || this.#body.isAborted;
    if (isLast || FINAL.has(failure.type)) return failure;
    const { retryIf } = this.#task.options.retry ?? {};
    if (retryIf === undefined) return undefined;
    try {
      const again = await this.#body.aside("retryIf", () => retryIf(copyOf(failure)));
      return again === false ? failure : undefined;
    } catch (error) {
      return withDetails(failure, { retry_if: this.#body.told(this.#core.failures.from(error)) });
    }
  }

  #delayBefore(attempt: number): number {
    const { delay = "1s", backoff = 2, maxDelay = "10m" } = this.#task.options.retry ?? {};
    const grown = (parseDuration(delay) ?? 0) * backoff ** (attempt - 2);
    return Math.min(grown, parseDuration(maxDelay) ?? grown);
  }

  /** Rollback, then fallback, then the outcome. */
  async #unwind({ failure, rollback: undone, hasFallbackStarted }: Unwinding): Promise<void> {
    const { rollback, fallback } = this.#task.options;
    if (this.#body.isAborted || FINAL.has(failure.type)) return this.#fail(failure);

    if (rollback && undone !== "completed") {
      if (undone === "none") {
        this.#emit("TASK_ROLLBACK_STARTED", { reason: "failure", error: failure });
      }
      const result = await this.#body.undo(failure, rollback);
      if (this.#call.isConcluded) return;
      if (result.failure) {
        this.#call.isRolledBack = true;
        this.#core.failures.ofTask(this.#call, this.#task, result.failure, "rollback");
        this.#emit("TASK_ROLLBACK_FAILED", result.failure);
        return this.#fail(withDetails(failure, { rollback: result.failure }));
      }
      this.#call.isRolledBack = true;
      await this.#emitDurably("TASK_ROLLBACK_COMPLETED", null);
      if (this.#call.isConcluded) return;
    }
    if (!fallback) return this.#fail(failure);

    if (!hasFallbackStarted) this.#emit("TASK_FALLBACK_STARTED", { error: failure });
    const result = await this.#body.fallBack(failure, (input, ctx) =>
      fallback(input, copyOf(failure), ctx),
    );
    if (this.#call.isConcluded) return;
    if (result.stored) {
      this.#core.emit(this.#call, "TASK_FALLBACK_COMPLETED", result.stored.text);
      return this.#complete(result.stored, failure.attempts);
    }
    const failed = changed(result.failure, { cause: failure, attempts: failure.attempts });
    this.#core.failures.ofTask(this.#call, this.#task, failed, "fallback");
    this.#emit("TASK_FALLBACK_FAILED", failed);
    this.#fail(failed);
  }

  async #completeFrom(cache: CachedOutput): Promise<boolean> {
    const output = await cache.find(await this.#body.freshInput(), this.#body.started);
    if (this.#call.isConcluded) return true;
    if (output) this.#core.complete(this.#call, output, { attempts: 0, cached: true });
    return output !== undefined;
  }

  /** @param tell Says what goes into the log with the outcome, just before it. */
  #complete(output: Stored, attempts: number, tell: () => void = () => {}): void {
    this.#core.givingUp.cancelUnasked(this.#call);
    const { outputStorage } = this.#task.options;
    const meta = this.#meta(attempts);
    if (outputStorage === undefined || outputStorage === "engine") {
      tell();
      this.#core.complete(this.#call, output, meta);
    } else void this.#completeStored(output, meta, tell);
  }

  /** Hands the output to the storage that the task names; the log holds where it is (EXE-49). */
  async #completeStored(output: Stored, meta: Meta, tell: () => void): Promise<void> {
    const id = `${this.#core.options.info.execution_id}/${this.#call.id}`;
    const kept = await keepOutput(this.#core, output, id, {
      storage: this.#task.options.outputStorage,
      run: (work) => this.#body.aside("outputStorage", work),
    });
    if (this.#call.isConcluded) return;
    tell();
    if (!kept.failure) return this.#core.complete(this.#call, output, meta, kept.text);
    const failure = changed(this.#body.told(kept.failure), this.#body.of(meta.attempts));
    this.#core.fail(this.#call, failure, meta);
  }

  #meta(attempts: number): Meta {
    const duration_ms = Math.max(0, this.#core.options.host.now() - this.#begunAt);
    return { attempts, duration_ms };
  }

  #completeWith(output: unknown, attempts: number): void {
    const { stored, failure } = storeOr(this.#core, output, "output", this.#body.of(attempts));
    if (failure) this.#fail(failure);
    else this.#complete(stored, attempts);
  }

  #fail(failure: Failure): void {
    this.#core.givingUp.cancelUnasked(this.#call);
    this.#core.fail(this.#call, failure, this.#meta(failure.attempts));
  }

  #emit(type: EventType, value: unknown): void {
    recordStep(this.#core, this.#call, { type, value });
  }

  #emitDurably(type: EventType, value: unknown): Promise<void> {
    return recordStepDurably(this.#core, this.#call, { type, value });
  }

  async #until(instant: number): Promise<void> {
    const { host, limits, info } = this.#core.options;
    const ms = instant - host.now();
    if (ms <= 0 || this.#body.isAborted) return;
    // A short delay keeps the slot; so does any of an execution that cannot be parked.
    if (ms > limits.inline_wait * 1000 && !info.transient) {
      this.#call.onAbort = () => this.#core.alarms.ringNow(this.#call);
      return this.#core.parking.rest(this.#call, instant);
    }
    // The clock may be put right meanwhile; one that is set back by more does not lengthen the delay.
    let before = Number.POSITIVE_INFINITY;
    for (let left = ms; left > 0 && left < before && !this.#body.isAborted; ) {
      before = left;
      await new Promise<void>((resolve) => {
        const cancelTimer = host.setTimer(resolve, left);
        this.#call.onAbort = () => {
          cancelTimer();
          resolve();
        };
      });
      left = instant - host.now();
    }
  }
}

interface Attempt {
  readonly attempt: number;
  readonly max_attempts: number;
}

interface Meta extends Readonly<Record<string, unknown>> {
  readonly attempts: number;
}
