/**
 * Fires schedules when they are due (EXE-75), on the server that leads. The rows are the truth:
 * `next_run_at` says when. The timer aims at the earliest of them. The clock is looked at every second
 * all the same, since it may be set and a machine may sleep; and the store is looked at now and then,
 * in case the message of a change was lost.
 */
import { isTerminal, scheduleDueAt } from "@engine/contract";
import type { Changed, DueSchedule, Store } from "@engine/store";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { LedWork } from "../replicas/leadership.ts";
import type { Firing } from "./firing.ts";

const LOOK_MS = 1000;
/** How often a start looks whether the execution it waits for has ended on another server. */
const WAIT_MS = 5000;
const PAGE = 100;

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "clock" | "setTimer" | "config" | "log">;
  readonly firing: Pick<Firing, "fire">;
}

/** Two servers that fire at once do no harm. */
export class Scheduler implements Domain, LedWork {
  readonly led: LedWork = this;
  readonly #parts: Parts;
  readonly #store: Store;
  /** Schedules with a start that waits for an execution to end. */
  readonly #waiting = new Set<string>();
  /** When the store is looked at next, unless {@link wake} asks for it before. */
  #lookAt = 0;
  #looking: Promise<void> | undefined;
  #isAskedAgain = false;
  #cancelTimer: (() => void) | undefined;
  #isRunning = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#store = parts.ports.store;
  }

  /** Takes up what is due, also what fell due while no server ran. */
  async start(): Promise<void> {
    this.#isRunning = true;
    await this.wake();
  }

  /** Fires nothing more, until it is started again; what is under way comes to its end. */
  stop(): void {
    this.#isRunning = false;
    this.#cancelTimer?.();
    this.#waiting.clear();
  }

  /** Settles once nothing is being fired any more. */
  async close(): Promise<void> {
    this.stop();
    await this.#looking;
  }

  /** Looks at the store now: a schedule was written, here or elsewhere. */
  wake(): Promise<void> {
    if (!this.#isRunning) return Promise.resolve();
    if (this.#looking) {
      this.#isAskedAgain = true;
      return this.#looking;
    }
    const looking = this.#lookUntilQuiet().finally(() => {
      this.#looking = undefined;
      this.#arm();
    });
    this.#looking = looking;
    return looking;
  }

  /** The end of an execution may free a start that waits for it. */
  onCommit({ row: { schedule, state } }: Changed): void {
    if (schedule === null || !isTerminal(state)) return;
    // During a look it is not known yet which schedules wait.
    if (this.#looking || this.#waiting.has(schedule)) void this.wake();
  }

  #arm(): void {
    this.#cancelTimer?.();
    if (!this.#isRunning) return;
    const { clock, setTimer } = this.#parts.ports;
    const tick = () => {
      if (clock() >= this.#lookAt) void this.wake();
      else this.#arm();
    };
    const wait = Math.max(this.#lookAt - clock(), 0);
    this.#cancelTimer = setTimer(tick, Math.min(wait, LOOK_MS));
  }

  async #lookUntilQuiet(): Promise<void> {
    const { ports } = this.#parts;
    do {
      this.#isAskedAgain = false;
      try {
        await this.#look();
      } catch (error) {
        ports.log.error({ err: error }, "could not look for schedules that are due");
        this.#lookAt = ports.clock() + LOOK_MS;
      }
    } while (this.#isAskedAgain && this.#isRunning);
  }

  async #look(): Promise<void> {
    const { ports } = this.#parts;
    const now = ports.clock();
    const isTroubled = await this.#fireDue(now);
    const next = await this.#store.schedules.nextAt(now);
    this.#lookAt = Math.min(
      next ?? Number.POSITIVE_INFINITY,
      now + ports.config.scheduling.poll_interval * 1000,
      this.#waiting.size > 0 ? now + WAIT_MS : Number.POSITIVE_INFINITY,
      isTroubled ? now + LOOK_MS : Number.POSITIVE_INFINITY,
    );
  }

  /** Answers whether a schedule could not be fired for a reason that is not its own. */
  async #fireDue(until: number): Promise<boolean> {
    let isTroubled = false;
    let after: DueSchedule | undefined;
    const waiting = new Set<string>();
    do {
      const page = await this.#store.schedules.listDue({ until, limit: PAGE, after });
      await Promise.all(
        page.map(async (row) => {
          try {
            const fired = await this.#parts.firing.fire(row);
            if (fired === "waiting") waiting.add(row.name);
            if (fired === "more") this.#isAskedAgain = true;
          } catch (error) {
            isTroubled = true;
            const fields = { err: error, schedule: row.name };
            this.#parts.ports.log.error(fields, "could not fire a schedule that is due");
          }
        }),
      );
      const last = page.length === PAGE ? page.at(-1) : undefined;
      const due_at = last && scheduleDueAt(last);
      after = last && due_at != null ? { name: last.name, due_at } : undefined;
    } while (after && this.#isRunning);
    this.#waiting.clear();
    for (const name of waiting) this.#waiting.add(name);
    return isTroubled;
  }
}
