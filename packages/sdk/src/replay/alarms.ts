import type { Call } from "./calls/call.ts";
import type { Host } from "./port.ts";

/** The clock is looked at this often even if nothing is due: it may be set, and a machine may sleep. */
const LOOK_MS = 10_000;

interface AlarmsOptions {
  readonly host: Pick<Host, "now" | "setTimer" | "drain">;
  /**
   * Takes back the message that nothing is left to do but wait. False: it has been sent, and another
   * worker may be given what is due.
   */
  readonly unpark: () => boolean;
}

interface Alarm {
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly ring: () => void;
}

/**
 * What a running copy waits for by its clock: sleeps, timeouts of pauses and signals, delays before a
 * retry. They end in the order of their instants, whatever kept the thread busy (EXE-50); that is why
 * a copy that runs times all waits of its execution, and the server only those of a parked one
 * (decision 0019).
 */
export class Alarms {
  readonly #options: AlarmsOptions;
  readonly #alarms: Map<Call, Alarm> = new Map();
  #cancelTimer: (() => void) | undefined;
  /** The instant that the timer is set for. */
  #setFor = Number.POSITIVE_INFINITY;
  #isStopped = false;
  #isRingingSoon = false;
  /** One function for all timers: by it a test's clock knows a timer that was set again. */
  readonly #look = (): void => this.#ring();

  constructor(options: AlarmsOptions) {
    this.#options = options;
  }

  /**
   * Rings once at that instant, and where it has passed when the code has come to rest: a replay sets
   * the alarms of one call after the other. A call has one alarm.
   */
  set(call: Call, until: number, ring: () => void): void {
    this.#alarms.set(call, { until, ring });
    if (this.#isStopped) return;
    if (until <= this.#options.host.now()) this.#ringSoon();
    else if (until < this.#setFor) this.#arm(until);
  }

  clear(call: Call): void {
    this.#alarms.delete(call);
  }

  /** Rings before its time. */
  ringNow(call: Call): void {
    const alarm = this.#alarms.get(call);
    this.#alarms.delete(call);
    alarm?.ring();
  }

  /** A parked copy's time stands still: the events that wake it say what is due. */
  stop(): void {
    this.#isStopped = true;
    this.#disarm();
  }

  /** Goes on. An instant may have come while the message that the copy waits was on its way. */
  start(): void {
    this.#isStopped = false;
    this.#ring();
  }

  #ringSoon(): void {
    if (this.#isRingingSoon) return;
    this.#isRingingSoon = true;
    this.#options.host.drain(() => {
      this.#isRingingSoon = false;
      if (!this.#isStopped) this.#ring();
    });
  }

  #ring(): void {
    const now = this.#options.host.now();
    // Of two alarms with one instant the one that was set first.
    const due = [...this.#alarms]
      .filter(([, { until }]) => until <= now)
      .sort(([, a], [, b]) => a.until - b.until);
    for (const [call, alarm] of due) {
      // What the alarm before has set in motion may have ended this one.
      if (this.#alarms.get(call) !== alarm) continue;
      if (this.#isStopped) return;
      if (!this.#options.unpark()) {
        this.#disarm();
        return;
      }
      this.#alarms.delete(call);
      alarm.ring();
    }
    let next = Number.POSITIVE_INFINITY;
    for (const { until } of this.#alarms.values()) if (until < next) next = until;
    this.#arm(next);
  }

  #arm(until: number): void {
    this.#disarm();
    if (this.#isStopped || until === Number.POSITIVE_INFINITY) return;
    this.#setFor = until;
    const ms = Math.max(0, until - this.#options.host.now());
    this.#cancelTimer = this.#options.host.setTimer(this.#look, Math.min(ms, LOOK_MS));
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#setFor = Number.POSITIVE_INFINITY;
  }
}
