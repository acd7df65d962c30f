import { engineFailure, type Failure } from "@engine/contract";
import { taskError } from "../../task-error.ts";
import type { Call, TaskDefinition, Undoing } from "../calls/call.ts";
import type { Core } from "../core.ts";
import { interruptedIn, Reach } from "../endings/reach.ts";
import { within } from "../within.ts";
import { recordStep, recordStepDurably } from "./record-step.ts";
import { TaskBody, type TaskCall, type TaskFunction } from "./task-body.ts";
import { reached, unwound } from "./task-steps.ts";

/** What a cancel leaves to do for a task call (EXE-42). */
export class TaskUnwinding {
  readonly #core: Core;
  readonly #call: Call;
  readonly #task: TaskDefinition;
  readonly #body: TaskBody;

  constructor(core: Core, of: TaskCall) {
    this.#core = core;
    this.#call = of.call;
    this.#task = of.task;
    this.#body = new TaskBody(core, of);
  }

  /** Runs the rollback of a call that had begun, bound in time, unless the log says that it has run. */
  async run(): Promise<void> {
    const { rollback, input: schema } = this.#task.options;
    const at = this.#call.isRolledBack ? "done" : unwound(this.#call.recorded?.steps ?? []);
    if (!rollback || at === "done") return;
    const { undoing } = this.#call;
    if (undoing) return this.#waitFor(undoing);
    const core = this.#core;
    const { host, limits } = core.options;
    // The body should stop before its work is undone; one that ignores its signal gets the grace.
    await within(host, limits.sibling_grace * 1000, this.#call.bodySettled);
    if (schema && (await this.#body.checkInput())) return;
    if (at === "none") {
      recordStep(core, this.#call, { type: "TASK_ROLLBACK_STARTED", value: { reason: "cancel" } });
    }
    const provided = await this.#body.provide(1);
    if (provided) return this.#record(provided);
    const { parking } = core;
    const held = parking.leaveToStart(this.#call);
    if (held) await held;
    const context = this.#body.context(1, null);
    parking.active++;
    const ms = limits.rollback_timeout * 1000;
    const { failure } = await this.#body.runFor(ms, context, rollback, this.#late);
    parking.active--;
    parking.soon();
    return this.#record(failure);
  }

  /** A rollback that was under way goes on: another one beside it would undo twice (I5). */
  async #waitFor({ result, stop }: Undoing): Promise<void> {
    const { host, limits } = this.#core.options;
    const ended = await within(host, limits.rollback_timeout * 1000, result);
    if (ended) return this.#record(ended.failure);
    const failure = engineFailure("TaskTimeoutError", this.#late, this.#body.of(1));
    stop(failure);
    return this.#record(failure);
  }

  #record(failure: Failure | undefined): Promise<void> {
    if (failure) this.#core.failures.ofTask(this.#call, this.#task, failure, "rollback");
    const step = failure
      ? ({ type: "TASK_ROLLBACK_FAILED", value: failure } as const)
      : ({ type: "TASK_ROLLBACK_COMPLETED", value: null } as const);
    return recordStepDurably(this.#core, this.#call, step);
  }

  get #late(): string {
    const { rollback_timeout } = this.#core.options.limits;
    return `rollback of ${this.#call.id} took longer than rollback_timeout, ${rollback_timeout}s`;
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
    // A body that runs here has been told to stop; it is not run a second time.
    if (!bodySettled) return this.#reach(reach);
    reach.warnOfMissed();
    return undefined;
  }

  async #reach(reach: Reach): Promise<void> {
    const again = this.#interruptedBody();
    const { input: schema } = this.#task.options;
    const isInvalid = schema !== undefined && (await this.#body.checkInput());
    if (again && !isInvalid && !(await this.#body.provide(again.attempt))) {
      const { body, attempt, failure } = again;
      const held = this.#core.parking.leaveToStart(this.#call);
      if (held) await held;
      const context = this.#body.context(attempt, failure);
      const { host } = this.#core.options;
      await reach.run(this.#call, this.#body.counts, (scope) =>
        this.#body.settled(attempt, async () =>
          this.#body.withInput((input) => host.runInScope(scope, () => body(input, context))),
        ),
      );
      context.abort(taskError(this.#body.abortFailure(attempt)));
    }
    reach.warnOfMissed();
  }

  #interruptedBody(): { body: TaskFunction; attempt: number; failure: Failure | null } | undefined {
    const { rollback, fallback } = this.#task.options;
    const at = reached(this.#call.recorded?.steps ?? []);
    if (at.kind === "attempt") {
      return { body: this.#task.fn, attempt: at.attempt, failure: null };
    }
    if (at.kind !== "unwinding") return undefined;
    const { failure, hasFallbackStarted } = at;
    const again: TaskFunction = (input, ctx) => fallback?.(input, failure, ctx);
    const body = hasFallbackStarted ? again : rollback;
    return body && { body, attempt: failure.attempts, failure };
  }
}
