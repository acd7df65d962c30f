import { formatInstant, type Wait } from "@engine/contract";
import type { Alarms } from "./alarms.ts";
import type { Call } from "./calls/call.ts";
import type { Host } from "./port.ts";

interface ParkingOptions {
  readonly host: Host;
  readonly alarms: Alarms;
  /** Whether anything else keeps the copy busy. */
  readonly isBusy: () => boolean;
  /** Whether something is on its way: an event to the log, an outcome to the code. */
  readonly isMoving: () => boolean;
  /** Nothing is left to do but wait. */
  readonly park: (waiting: readonly Wait[], oldestPause: Call | undefined) => void;
  /** Nothing is left to do but to start functions that are held. */
  readonly stalled: () => void;
  readonly isHeld: boolean;
  readonly isSuspended: boolean;
}

/** A body that waits for leave to start. */
interface Held {
  readonly goOn: () => void;
  /** The body waits for resources, and not for the hold to end. */
  readonly isCrowdedOut: boolean;
}

/**
 * Knows what an execution waits for and what it does meanwhile, and so the moment when only the outside
 * world can bring it further: then the execution gives its slot back (EXE-17 rows 4 and 5), or says
 * that it is held (WRK-8, WRK-12).
 */
export class Parking {
  /** Bodies that run, and graces that pass: while there are any, nothing is parked. */
  active = 0;
  /** Bodies of tasks are kept from starting; set by {@link hold}. */
  isHeld: boolean;
  /** The principal that the execution runs as cannot be used; set by {@link suspend}. */
  isSuspended: boolean;
  readonly #options: ParkingOptions;
  readonly #waits: Set<Call> = new Set();
  /** Tasks between two attempts, with the instant of the next. */
  readonly #rests: Map<Call, number> = new Map();
  readonly #held: Map<Call, Held> = new Map();
  /** A cancel is known here and has not reached the code. */
  #isCancelComing = false;

  constructor(options: ParkingOptions) {
    this.#options = options;
    this.isHeld = options.isHeld;
    this.isSuspended = options.isSuspended;
  }

  /** Whether bodies of tasks are kept from starting; those that run go on. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    if (isHeld) this.soon();
    else this.#letGo();
  }

  /**
   * As {@link hold}, for this execution alone: no task begins for a principal that cannot be used
   * (AUTH-36).
   */
  suspend(isSuspended: boolean): void {
    if (isSuspended === this.isSuspended) return;
    this.isSuspended = isSuspended;
    if (isSuspended) this.soon();
    else this.#letGo();
  }

  /**
   * Whether a cancel is on its way to the code. No body starts meanwhile: where the cancel stands in
   * the log may not be known before a checkpoint is answered, and that may take long (I13).
   */
  cancelComes(isComing: boolean): void {
    this.#isCancelComing = isComing;
    if (!isComing) this.#letGo();
  }

  /** Asked before a body starts. Undefined: now. */
  leaveToStart(call: Call): Promise<void> | undefined {
    return this.#isKeptBack ? this.keepBack(call) : undefined;
  }

  get #isKeptBack(): boolean {
    return this.isHeld || this.isSuspended || this.#isCancelComing;
  }

  #letGo(): void {
    if (this.#isKeptBack) return;
    for (const { goOn, isCrowdedOut } of [...this.#held.values()]) if (!isCrowdedOut) goOn();
  }

  /** A body of the user's, or a short wait that keeps its slot, begins. */
  enter(call: Call): void {
    call.activity = "runs";
    this.active++;
  }

  /** A wait for the outside world begins. */
  wait(call: Call): void {
    call.activity = "waits";
    this.#waits.add(call);
    this.#countAbove(call, 1);
    this.soon();
  }

  /** The call's outcome is decided: it neither runs nor waits any more. */
  leave(call: Call): void {
    this.#stopRunning(call);
    this.#options.alarms.clear(call);
    this.#rests.delete(call);
    if (this.#held.delete(call)) this.#countAbove(call, -1);
    call.room?.leave();
    if (this.#waits.delete(call)) this.#countAbove(call, -1);
  }

  /** Waits between two attempts; the time is waited here, or parked if nothing else runs. */
  rest(call: Call, until: number): Promise<void> {
    return new Promise((resolve) => {
      const goOn = () => {
        if (!this.#rests.delete(call)) return;
        call.activity = "none";
        if (this.#waits.delete(call)) this.#countAbove(call, -1);
        if (!call.isConcluded) this.enter(call);
        resolve();
      };
      this.#stopRunning(call);
      this.#rests.set(call, until);
      this.wait(call);
      this.#options.alarms.set(call, until, goOn);
    });
  }

  /** Ends the wait between two attempts, whatever the clock says here. */
  endRest(call: Call | undefined): void {
    if (call && this.#rests.has(call)) this.#options.alarms.ringNow(call);
  }

  /** Looks whether to park once the code has done all it can do by itself. */
  soon(): void {
    if (this.#waits.size || this.#held.size) this.#options.host.drain(() => this.consider());
  }

  consider(): void {
    if (this.#held.size > 0) {
      if (this.active === 0 && !this.#options.isMoving()) this.#options.stalled();
      return;
    }
    if (this.#waits.size === 0 || this.active > 0 || this.#options.isBusy()) return;
    const waiting: Wait[] = [];
    for (const [{ id, name }, until] of this.#rests) {
      waiting.push({ kind: "retry", task_call_id: id, name, until: formatInstant(until) });
    }
    const oldestPause = [...this.#waits].find(({ kind }) => kind === "pause");
    this.#options.park(waiting, oldestPause);
  }

  /** Keeps a body back: until its turn to have the resources it requests, or until nothing is held. */
  keepBack(call: Call, turn?: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const wasRunning = this.#stopRunning(call);
      const goOn = () => {
        if (!this.#held.delete(call)) return;
        call.activity = "none";
        this.#countAbove(call, -1);
        if (wasRunning && !call.isConcluded) this.enter(call);
        resolve();
      };
      // A call that is given up here gets no grace period, since none of its code is running.
      call.activity = "waits";
      this.#held.set(call, { goOn, isCrowdedOut: turn !== undefined });
      turn?.then(goOn, reject);
      this.#countAbove(call, 1);
      this.soon();
    });
  }

  /** Whether it was running. */
  #stopRunning(call: Call): boolean {
    if (call.activity !== "runs") return false;
    call.activity = "none";
    this.active--;
    return true;
  }

  /** While a call waits, the bodies it was made in wait with it. */
  #countAbove(call: Call, by: 1 | -1): void {
    for (let c = call.scope.parent; c; c = c.scope.parent) {
      if (c.activity !== "runs") continue;
      const before = c.openWaits;
      c.openWaits += by;
      const now = this.#options.host.now();
      if (before === 0) {
        this.active--;
        c.waitingSince = now;
        c.room?.lend();
      } else if (c.openWaits === 0) {
        this.active++;
        c.waitedMs += now - (c.waitingSince ?? now);
        c.waitingSince = undefined;
        c.room?.takeBack();
        c.onRunsOn?.();
      }
    }
  }
}
