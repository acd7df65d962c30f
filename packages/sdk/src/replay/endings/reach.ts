import { type Call, CallGroup, type Reaching, type Scope, scopeWithin } from "../calls/call.ts";
import { CallIds } from "../calls/call-ids.ts";
import type { Core } from "../core.ts";
import type { RecordedCall } from "../log/journal.ts";
import { unwound } from "../tasks/task-steps.ts";
import { within } from "../within.ts";
import type { Cancellation } from "./cancellation.ts";
import { cancelled } from "./failure.ts";

/**
 * A task's body that runs again after a cancel, as far as the calls that a lost copy made in it:
 * only the body knows their rollbacks (EXE-42). Calls with recorded outcomes get them. The others wait
 * until all that are looked for have been made or the grace is over, since a call that is given up
 * early might keep the body from the rest. Nothing new starts.
 */
export class Reach implements Reaching {
  isOver = false;
  readonly #core: Core;
  readonly #cancellation: Cancellation;
  readonly #left: readonly RecordedCall[];
  readonly #waiting: Call[] = [];
  readonly #reached: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(core: Core, cancellation: Cancellation, left: readonly RecordedCall[]) {
    this.#core = core;
    this.#cancellation = cancellation;
    this.#left = left;
  }

  /** @param start Runs the body of `task` in a scope; what it gives back settles with the body. */
  async run(
    task: Call,
    counts: ReadonlyMap<string, number>,
    start: (scope: Scope) => Promise<unknown>,
  ): Promise<void> {
    const { host, limits } = this.#core.options;
    const group = new CallGroup(task.scope.group);
    const ids = new CallIds(task.id, counts);
    task.bodySettled = start(scopeWithin(task, { ids, group, inTask: true, task, reach: this }));
    // Not before the body is over: a branch that fails at once may overtake another on its way.
    await within(host, limits.sibling_grace * 1000, this.#reached.promise);
    this.isOver = true;
    if (this.#core.isStopped) return;
    for (const call of this.#waiting.reverse()) this.#giveUp(call);
    this.#core.givingUp.closeCombinators(group);
  }

  /** Says in the log which calls it could not find again. */
  warnOfMissed(): void {
    const { warned } = this.#core.journal;
    for (const { id, asked } of this.#left) {
      if (asked || warned.has(id)) continue;
      warned.add(id);
      const message = `the body that made ${id} did not make it again: if it has a rollback, that has not run`;
      this.#core.warn("not_unwound", message, id);
    }
  }

  /** The body makes a call. */
  arrive(call: Call): Promise<unknown> {
    const { recorded } = call;
    if (recorded?.outcome && !isInterrupted(recorded, this.#cancellation.since)) {
      this.#core.replayNested(call, recorded.outcome);
    } else this.#waiting.push(call);
    if (this.#left.every(({ asked }) => asked)) this.#reached.resolve();
    return call.promise;
  }

  #giveUp(call: Call): void {
    const { recorded } = call;
    if (recorded && !recorded.outcome) {
      this.#core.givingUp.cancel(call);
      return;
    }
    call.isConcluded = true;
    call.reject(cancelled(call));
    if (recorded) this.#cancellation.unwind(call);
  }
}

/**
 * The nearest task calls inside another that were not made again since a cancel interrupted them,
 * and that may have a rollback to run.
 */
export function interruptedIn(call: RecordedCall, since: number): RecordedCall[] {
  return call.children.flatMap((child) => {
    if (child.kind !== null) return interruptedIn(child, since);
    const isLeft = isInterrupted(child, since) && unwound(child.steps) !== "done";
    return isLeft && !child.asked ? [child] : [];
  });
}

/** Whether a cancel ends the call, which the log may tell already. */
function isInterrupted({ outcome }: RecordedCall, since: number): boolean {
  return !outcome || (outcome.type === "TASK_CANCELLED" && outcome.seq > since);
}
