import { type Event, type Failure, timeoutFailure } from "@engine/contract";
import type { Call, CallGroup } from "../calls/call.ts";
import { STORED_NULL } from "../log/event-entry.ts";
import type { GivingUp, Living } from "./giving-up.ts";

/** What unwinding needs of the copy it unwinds. */
interface Unwound extends Living {
  readonly timeout_ms: number | null;
  readonly root: CallGroup;
  readonly givingUp: GivingUp;
  readonly isStopped: boolean;
  readonly isDoomed: boolean;
  readonly isLive: boolean;
  isBodyOver: boolean;
  terminate(state: "CANCELLED", value: string, meta: Readonly<Record<string, unknown>>): void;
  terminateFailed(failure: Failure): void;
}

/**
 * Unwinds a cancelled execution (EXE-42): open calls are told and recorded as cancelled, innermost
 * first, rollbacks of those that had begun run, no new call starts; then the end is written. After a
 * crash it goes on where the log ends.
 */
export class Cancellation {
  readonly #core: Unwound;
  readonly #cause: string;
  /** `seq` of the cancel's event: a call recorded as cancelled after it was ended by it. */
  readonly since: number;
  /** What is still to do for each call: it settles when that is done. */
  readonly #unwinding: Map<Call, Promise<void>> = new Map();
  /** Bodies of tasks that have been told to stop and have not ended. */
  readonly #stopping: Set<Promise<unknown>> = new Set();
  #isBodyOver = false;
  /** The code waits for a timer that was given up: where nothing else is open, it goes no further. */
  #hasLostTimer = false;
  #isGraceOver = false;
  #isFinished = false;

  constructor(core: Unwound, event: Event) {
    this.#core = core;
    this.since = event.seq;
    this.#cause = String(event.meta?.["cause"] ?? "request");
  }

  /** The cancel reaches the code. Calls that were cancelled after it in the log are ended by replay. */
  begin(): void {
    const core = this.#core;
    core.root.abort();
    core.whenLive(() => {
      const { givingUp, root } = core;
      for (const call of innermostFirst([...root.open, ...givingUp.combinators])) {
        if (givingUp.combinators.has(call)) givingUp.closeCombinator(call);
        // A sibling's failure ended the call, and the log has that behind the cancel: a replay cannot
        // tell it from calls that the cancel ended.
        else if (call.isCalledOff) this.unwind(call);
        // A call made while the cancel was on its way never begins, and learns that in its turn.
        else if (call.isBegun || call.recorded) givingUp.cancel(call);
      }
      void Promise.all(this.#unwinding.values()).then(() => this.#waitForBodies());
      this.#finishSoon();
    });
  }

  /**
   * Gives a call up after all calls that were made in it. While a rollback is left to run that only the
   * call's body knows, the call must not have an outcome: its body would never run again (I4).
   */
  giveUp(call: Call, record: () => void): void {
    if (call.bodySettled) this.#waitFor(call.bodySettled);
    const reached = call.reach?.();
    if (!reached && this.#below(call).length === 0) {
      record();
      this.unwind(call);
      return;
    }
    this.#track(call, async () => {
      await reached;
      await Promise.all(this.#below(call));
      if (this.#core.isStopped) return;
      record();
      await call.unwind?.();
    });
  }

  /** A call's TASK_CANCELLED is written, perhaps by an earlier copy: its rollback follows. */
  unwind(call: Call): void {
    if (call.unwind) this.#track(call, call.unwind);
  }

  bodyIsOver(): void {
    this.#isBodyOver = true;
    this.#finishSoon();
  }

  /** A timer has been given up whose callback alone would have told the code of it (EXE-42). */
  lostTimer(): void {
    this.#hasLostTimer = true;
    this.#finishSoon();
  }

  /** The outcome of a call has reached the code. */
  settled(): void {
    if (this.#hasLostTimer) this.#finishSoon();
  }

  #track(call: Call, work: () => Promise<void>): void {
    const over = new Promise<void>((resolve) => {
      this.#core.whenLive(() => void work().finally(resolve));
    });
    const forget = () => {
      this.#unwinding.delete(call);
      this.#finishSoon();
    };
    this.#unwinding.set(call, over.then(forget));
  }

  /** The body of a call that is recorded as cancelled ends, if it ends at all. */
  #waitFor(body: Promise<unknown>): void {
    this.#stopping.add(body);
    void body.finally(() => {
      this.#stopping.delete(body);
      this.#finishSoon();
    });
  }

  #below({ id }: Call): Promise<void>[] {
    const inside = [...this.#unwinding].filter(([call]) => call.id.startsWith(`${id}/`));
    return inside.map(([, over]) => over);
  }

  /** Code that ignores its signal, or goes on with something of its own, is abandoned in the end. */
  #waitForBodies(): void {
    const { host, limits, cancel_grace = limits.sibling_grace } = this.#core.options;
    host.setTimer(() => {
      this.#isGraceOver = true;
      this.#finishSoon();
    }, cancel_grace * 1000);
  }

  #finishSoon(): void {
    this.#core.releases.afterTurn(() => this.#finish());
  }

  #finish(): void {
    const core = this.#core;
    if (this.#isFinished || core.isStopped || core.isDoomed || !core.isLive) return;
    if (this.#unwinding.size > 0) return;
    const isCodeOver = this.#isBodyOver || (this.#hasLostTimer && core.root.open.size === 0);
    if (!this.#isGraceOver && !(isCodeOver && this.#stopping.size === 0)) return;
    this.#isFinished = true;
    // Calls made while it unwound never began; those that did are recorded by now.
    core.isBodyOver = true;
    if (this.#cause !== "timeout") {
      core.terminate("CANCELLED", STORED_NULL, { cause: this.#cause });
      return;
    }
    const failure = timeoutFailure({ ...core.options.info, timeout_ms: core.timeout_ms });
    core.terminateFailed(failure);
  }
}

/** Deeper calls before those they were made in, later ones before earlier ones. */
function innermostFirst(calls: readonly Call[]): Call[] {
  const depth = ({ id }: Call) => id.split("/").length;
  return [...calls].reverse().sort((a, b) => depth(b) - depth(a));
}
