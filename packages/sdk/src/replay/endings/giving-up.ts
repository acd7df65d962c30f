import type { EventType } from "@engine/contract";
import { Call, type CallGroup } from "../calls/call.ts";
import { STORED_NULL } from "../log/event-entry.ts";
import type { Entry } from "../log/outbox.ts";
import type { Releases } from "../log/releases.ts";
import type { Parking } from "../parking.ts";
import type { RunOptions } from "../port.ts";
import { cancelled } from "./failure.ts";

/** What giving up needs of the copy whose calls are given up. */
export interface Living {
  readonly options: RunOptions;
  readonly parking: Parking;
  readonly releases: Releases;
  readonly calls: Map<string, Call>;
  readonly isBodyOver: boolean;
  /** Set once a cancel has reached the code. */
  readonly cancellation: { giveUp(call: Call, record: () => void): void } | undefined;
  whenLive(then: () => void): void;
  emit(call: Call, type: EventType, value: string, sending?: Pick<Entry, "onDurable">): void;
  decide(call: Call): void;
  settle(call: Call, settle: () => void, seq: number): void;
}

/** Ends calls whose outcome is not wanted any more (EXE-33, EXE-42, EXE-46). */
export class GivingUp {
  /** Combinators without an outcome. */
  readonly combinators: Set<Call> = new Set();
  readonly #core: Living;

  constructor(core: Living) {
    this.#core = core;
  }

  /**
   * Gives up every open call of a group: bodies are told, waits end at once, and calls still open after
   * the grace are recorded as cancelled. `then` runs when none is open any more.
   */
  abandon(group: CallGroup, then: () => void): void {
    const core = this.#core;
    const { parking, options } = core;
    const finish = () => {
      core.releases.afterTurn(() => {
        this.closeCombinators(group);
        then();
      });
    };
    group.abort();
    group.whenEmpty(finish);
    core.whenLive(() => {
      for (const call of [...group.open]) if (call.activity === "waits") this.cancel(call);
      if (![...group.open].some((call) => !call.isConcluded)) return;
      parking.active++;
      let isPassing = true;
      const cancelTimer = options.host.setTimer(() => {
        done();
        // Innermost first: the call made last is the deepest one still open.
        for (const call of [...group.open].reverse()) this.cancel(call);
      }, options.limits.sibling_grace * 1000);
      const done = () => {
        if (!isPassing) return;
        isPassing = false;
        parking.active--;
        parking.soon();
      };
      group.whenEmpty(() => {
        cancelTimer();
        done();
        finish();
      });
    });
  }

  /** Gives an open call up. */
  cancel(call: Call): void {
    const core = this.#core;
    if (call.isConcluded) return;
    if (!call.isBegun && !call.recorded) {
      this.refuse(call);
      return;
    }
    core.decide(call);
    call.isCalledOff = core.cancellation === undefined;
    // Once the body is over no code is left to catch a rejection: the promise stays as it is.
    const settle = () => {
      if (!core.isBodyOver) call.reject(cancelled(call));
    };
    const onDurable = (seq: number) => core.settle(call, settle, seq);
    const record = () => {
      this.cancelUnasked(call);
      core.emit(call, "TASK_CANCELLED", STORED_NULL, { onDurable });
    };
    if (core.cancellation) core.cancellation.giveUp(call, record);
    else record();
  }

  /** Ends a call that never began: there is nothing to record. */
  refuse(call: Call): void {
    call.isConcluded = true;
    this.#core.calls.delete(call.id);
    if (!this.#core.isBodyOver) call.reject(cancelled(call));
    call.scope.group.leave(call);
  }

  /** Calls that a lost copy left open inside a task, and that the task has not made again. */
  cancelUnasked({ recorded, scope }: Pick<Call, "recorded" | "scope">): void {
    for (const child of recorded?.children ?? []) {
      this.cancelUnasked({ recorded: child, scope });
      if (child.outcome || child.asked || !child.inTask) continue;
      child.asked = true;
      const lost = new Call(child.id, { ...child, scope, recorded: child });
      this.#core.emit(lost, "TASK_CANCELLED", STORED_NULL);
    }
  }

  /** Ends combinators of a group whose branches never came to an end. */
  closeCombinators(group: CallGroup): void {
    for (const call of [...this.combinators].reverse()) {
      if (call.scope.group.isBelow(group)) this.closeCombinator(call);
    }
  }

  closeCombinator(call: Call): void {
    const core = this.#core;
    call.isConcluded = true;
    this.combinators.delete(call);
    if (call.isBegun && !call.recorded?.outcome) core.emit(call, "TASK_CANCELLED", STORED_NULL);
    if (!core.isBodyOver) call.reject(cancelled(call));
  }
}
