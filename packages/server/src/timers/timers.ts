/**
 * Wakes executions when something about them is due (EXE-50). The rows are the truth: `wake_at` says
 * when, a commit writes what has to happen, and a second look at the same row finds nothing to do. Only
 * executions that are due soon are in memory; the others stay in the store until their time comes near.
 */
import { decideWake, EngineError, type ExecutionRow, type WaitsFor } from "@engine/contract";
import type { Changed, DueExecution } from "@engine/store";
import type { Commits } from "../commits.ts";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { RowNews } from "../replicas/bus-message.ts";
import type { LedWork } from "../replicas/leadership.ts";
import { compareDue, WakeQueue } from "./wake-queue.ts";

/** Executions due within this time are kept in memory. */
const WINDOW_MS = 60_000;
/** So many are kept in memory at most; with more due soon, half as many are read at a time. */
const MOST = 20_000;
/** Wakes under way at a time: they share commits, and leave room for requests. */
const IN_FLIGHT = 500;
/** The clock may be set, and a machine may sleep: it is looked at this often, whatever is due. */
const LOOK_MS = 1000;
const RETRY_MS = 1000;

export interface TimersParts {
  readonly ports: Pick<EnginePorts, "store" | "clock" | "setTimer" | "config" | "log">;
  readonly commits: Commits;
  /** Whether a worker is connected that could unwind an execution. */
  readonly hasWorker: (row: ExecutionRow) => boolean;
  /** What an execution waits for while no worker takes it. */
  readonly waitsFor: (row: ExecutionRow) => WaitsFor;
  /** Executions kept in memory at most. */
  readonly most?: number;
}

export class Timers implements Domain, LedWork {
  readonly led: LedWork = this;
  readonly #parts: TimersParts;
  readonly #most: number;
  /** How many are read at once, and how many are kept when there are too many. */
  readonly #page: number;
  readonly #queue = new WakeQueue();
  readonly #waking = new Set<string>();
  /** Everything due up to here is in memory; undefined before the first look at the store. */
  #horizon: DueExecution | undefined;
  /** Executions of which commits told while the store is read: that is newer than the answer. */
  #heardWhileReading: Set<string> | undefined;
  #cancelTimer: (() => void) | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #isClosed = false;
  /** Only one server at a time wakes executions. */
  #isLeading = false;

  constructor(parts: TimersParts) {
    this.#parts = parts;
    this.#most = parts.most ?? MOST;
    this.#page = this.#most / 2;
  }

  /** Wakes everything that is due, also what fell due while no server ran. */
  async start(): Promise<void> {
    this.#isLeading = true;
    await this.#readAhead();
    this.#look();
  }

  /** Another server wakes executions from now on. */
  stop(): void {
    this.#isLeading = false;
    this.#horizon = undefined;
    this.#heardWhileReading = undefined;
    this.#cancelTimer?.();
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#queue.clear();
  }

  onCommit({ row: { execution_id, version, wake_at } }: Changed): void {
    // Local rows are woken by the process that runs them.
    if (version === null || !this.#isLeading || this.#isClosed) return;
    this.#heardWhileReading?.add(execution_id);
    this.#note(execution_id, wake_at);
    const { first } = this.#queue;
    if (first && first.wake_at < this.#timerAt) this.#arm();
  }

  /**
   * Takes from other servers when executions are due. Such news may be older than what is known, so it
   * only makes a look at the row earlier; a look too many changes nothing.
   */
  onNews(rows: readonly RowNews[]): void {
    if (!this.#isLeading || this.#isClosed) return;
    for (const { id, wake_at } of rows) {
      if (wake_at === undefined) continue;
      this.#heardWhileReading?.add(id);
      if (wake_at >= this.#queue.at(id)) continue;
      this.#note(id, wake_at);
      if (wake_at < this.#timerAt) this.#arm();
    }
  }

  /** Finds executions that are overdue, but neither in the queue nor being woken. */
  async refresh(): Promise<void> {
    if (!this.#isLeading) return;
    const until = this.#parts.ports.clock() - LOOK_MS;
    for (const due of await this.#parts.ports.store.queue.listDue({ until, limit: IN_FLIGHT })) {
      if (!this.#waking.has(due.execution_id)) this.#queue.set(due);
    }
    this.#look();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer?.();
    this.#queue.clear();
  }

  /** How many are waited for in memory. */
  get size(): number {
    return this.#queue.size + this.#waking.size;
  }

  #note(execution_id: string, wake_at: number | null): void {
    const horizon = this.#horizon;
    if (wake_at === null || !horizon || compareDue({ execution_id, wake_at }, horizon) > 0) {
      this.#queue.remove(execution_id);
      return;
    }
    this.#queue.set({ execution_id, wake_at });
    // Those that are dropped are read from the store again when their time comes near.
    if (this.#queue.size > this.#most) this.#horizon = this.#queue.keep(this.#page);
  }

  /** Wakes what is due, reads ahead when the window has moved, and sets the timer for the next. */
  #look(): void {
    if (this.#isClosed || !this.#isLeading) return;
    const now = this.#parts.ports.clock();
    while (this.#waking.size < IN_FLIGHT) {
      const { first } = this.#queue;
      if (!first || first.wake_at > now) break;
      this.#queue.shift();
      void this.#wake(first.execution_id);
    }
    if (this.#isShort(now)) {
      this.#readAhead().then(
        () => this.#look(),
        (error) => this.#parts.ports.log.error({ err: error }, "could not read what is due"),
      );
    }
    this.#arm();
  }

  #arm(): void {
    this.#cancelTimer?.();
    const now = this.#parts.ports.clock();
    const { first } = this.#queue;
    // With as many wakes under way as there may be, the end of one looks again.
    const next = first && this.#waking.size < IN_FLIGHT ? first.wake_at : now + LOOK_MS;
    const wait = Math.min(Math.max(next - now, 0), LOOK_MS);
    this.#timerAt = now + wait;
    this.#cancelTimer = this.#parts.ports.setTimer(() => this.#look(), wait);
  }

  #isShort(now: number): boolean {
    if (this.#heardWhileReading || this.size > this.#page) return false;
    return !this.#horizon || this.#horizon.wake_at < now + WINDOW_MS / 2;
  }

  async #readAhead(): Promise<void> {
    const { store, clock } = this.#parts.ports;
    const after = this.#horizon;
    const until = clock() + WINDOW_MS;
    // From here on commits are noted up to the new horizon, so that the read misses none.
    this.#horizon = { wake_at: until, execution_id: LAST_ID };
    const heard = new Set<string>();
    this.#heardWhileReading = heard;
    try {
      const page = await store.queue.listDue({ until, limit: this.#page, after });
      // This server has stopped leading since; another start reads for itself.
      if (this.#heardWhileReading !== heard) return;
      const last = page.at(-1);
      // The horizon may have been drawn nearer meanwhile.
      if (page.length === this.#page && last && compareDue(last, this.#horizon) < 0)
        this.#horizon = last;
      for (const due of page) if (!heard.has(due.execution_id)) this.#queue.set(due);
    } catch (error) {
      if (this.#heardWhileReading === heard) this.#horizon = after;
      throw error;
    } finally {
      if (this.#heardWhileReading === heard) this.#heardWhileReading = undefined;
    }
  }

  async #wake(execution_id: string): Promise<void> {
    const { commits, ports, hasWorker, waitsFor } = this.#parts;
    this.#waking.add(execution_id);
    try {
      const cancel_timeout_ms = ports.config.executions.cancel_timeout * 1000;
      const { changed, wrote } = await commits.change(execution_id, (row) => {
        const now = ports.clock();
        return decideWake(row, { now, cancel_timeout_ms, hasWorker, waitsFor });
      });
      const { wake_at } = changed.row;
      // Somebody moved the instant, perhaps in another process, whose commits are not told here.
      if (!wrote && wake_at !== null && wake_at > ports.clock()) this.#note(execution_id, wake_at);
    } catch (error) {
      this.#failed(execution_id, error);
    } finally {
      this.#waking.delete(execution_id);
      this.#look();
    }
  }

  #failed(execution_id: string, error: unknown): void {
    const { log, clock } = this.#parts.ports;
    const code = error instanceof EngineError ? error.code : undefined;
    if (this.#isClosed || code === "not_found") return;
    log.error({ err: error, execution_id }, "could not wake an execution that is due");
    // Any other error would come again at once: the safety tick tries again, now and then.
    if (code === "unavailable") {
      this.#queue.set({ execution_id, wake_at: clock() + RETRY_MS });
    }
  }
}

/** Comes after every id. */
const LAST_ID = "\uffff";
