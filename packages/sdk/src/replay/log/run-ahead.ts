import type { Event } from "@engine/contract";
import type { Call } from "../calls/call.ts";
import type { RunOptions } from "../port.ts";

/** Most events that code may be ahead of the log: a loop of recorded values makes no endless delta. */
const MOST_AHEAD = 100;

interface RunAheadOptions {
  readonly run: Pick<RunOptions, "runsAhead" | "info" | "limits">;
  /** Calls whose outcome the code has not received. */
  readonly open: ReadonlySet<Call>;
  /** Events that are not durable. */
  readonly unsent: () => number;
  /**
   * Whether what comes next in the log is this copy's to say, and will stand there as it is said: the
   * log is replayed, no end and no cancel is known, nothing of the server's waits to be merged, nothing
   * is on its way that may still change its form or be taken back.
   */
  readonly isCertain: () => boolean;
  /** The code goes no further. */
  readonly onOvertaken: () => void;
}

/**
 * Lets code run ahead of its log (decision 0018): it has the outcome of a call before that is durable,
 * so that what it says next shares the commit, and a step costs one way to the server instead of two.
 * These are the rules, all of them:
 *
 * 1. Code runs ahead only while no other call is open, since the function of another one would be lost
 *    with the code, and only while it is certain what the log will say next.
 * 2. It has each outcome once it has come to rest, as it does in a replay, and what was decoded of the
 *    stored form, as in a replay.
 * 3. Nothing that the outside could notice follows from what is not durable: functions of tasks and
 *    storages of the user's wait for {@link caughtUp}. Waits, children and ends are events of the same
 *    checkpoint. A delta is sent when the code has come to rest, and holds at most some 100 events.
 * 4. If the server has written something first, that comes first in the log, and the code has gone a
 *    way that no replay would go. Then the first outcome it ran ahead with is recorded behind that,
 *    everything behind the outcome is dropped, and the code goes no further: another core runs it from
 *    the log, in the same copy and under the same claim. No function of a task is lost by that: the one
 *    that ran has its outcome, and by rule 3 none behind it has begun.
 */
export class RunAhead {
  readonly #options: RunAheadOptions;
  /** Outcomes that the code has received and the log has not. */
  #outcomes = 0;
  #isOvertaken = false;
  #onCaughtUp: (() => void)[] = [];

  constructor(options: RunAheadOptions) {
    this.#options = options;
  }

  /** Whether code may have the outcome of a call, stored as `value`, at once. */
  may(call: Call, value: string): boolean {
    const { run, open, unsent, isCertain } = this.#options;
    if (run.runsAhead === false || run.info.transient || this.#isOvertaken) return false;
    // A large value stands elsewhere, and the log would not read as it does here.
    if (value.length > run.limits.inline_value_bytes || unsent() >= MOST_AHEAD) return false;
    return open.size === 1 && open.has(call) && isCertain();
  }

  get isAhead(): boolean {
    return this.#outcomes > 0;
  }

  /** The log has gone another way: events added before are still sent, and no more are taken. */
  get isOvertaken(): boolean {
    return this.#isOvertaken;
  }

  /** The code is given an outcome that the log does not have. */
  begin(): void {
    this.#outcomes++;
  }

  /** So many of them are durable now. */
  confirm(outcomes: number): void {
    this.#outcomes -= outcomes;
    if (this.#outcomes === 0) for (const resolve of this.#onCaughtUp.splice(0)) resolve();
  }

  /** Undefined: all that the code has received is durable. It stays open if that never comes to be. */
  caughtUp(): Promise<void> | undefined {
    if (this.#outcomes === 0) return undefined;
    return new Promise((resolve) => this.#onCaughtUp.push(resolve));
  }

  /** The server has written something before what waits in `queue`; gives the part that stays. */
  overtake<Entry extends { readonly isAhead?: boolean | undefined }>(
    queue: readonly Entry[],
  ): Entry[] {
    const first = queue.findIndex(({ isAhead }) => isAhead);
    this.#outcomes = 1;
    this.#isOvertaken = true;
    // Functions that waited for the log belong to code that goes no further.
    this.#onCaughtUp = [];
    this.#options.onOvertaken();
    return queue.slice(0, first + 1);
  }

  /** The copy has ended: no other core follows. */
  end(): void {
    this.#isOvertaken = false;
  }
}

/** Events the server wrote by itself, and how long the log was before them. */
export interface Pushed {
  readonly base_seq: number;
  readonly events: readonly Event[];
}

/** The log that goes on from where code has run ahead of another one. */
export interface Overtaken {
  readonly history: readonly Event[];
  /** What the server has written behind it. */
  readonly pushed: readonly Pushed[];
}
