/**
 * Group commit. A durable commit costs one wait for the disk, however much it holds: so writes
 * queue up during a turn of the event loop and one transaction takes them all. Each is answered
 * after the commit, in the order of asking.
 */
import { EngineError } from "@engine/contract";
import { commitDone, committing } from "../failpoints.ts";
import { type Connection, isDatabaseFailure, unavailable } from "./connection.ts";
import type { DatabaseFile } from "./database-file.ts";

/** For so long a commit is taken as a sign that the next one succeeds too. */
const BELIEVED_MS = 5_000;

/** Runs inside the transaction; `at` is the clock at the commit. Runs again when it is retried. */
export type Write<Value> = (at: number) => Value;

interface Job {
  readonly write: Write<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
}

/** What becomes of a job once the transaction has ended. */
type Settle = () => void;

/** The attempts to commit the same jobs. */
interface Trial {
  /**
   * The clock of them all: an answer may tell what another job writes, so that has to come out the same
   * when it goes again.
   */
  at: number | undefined;
  /** What has to be undone with all that was written beside it, and is not tried again. */
  readonly brokenOff: Map<Job, Settle>;
}

export class GroupCommit {
  readonly #connection: Connection;
  readonly #clock: () => number;
  readonly #file: DatabaseFile | undefined;
  #queue: Job[] = [];
  #afterwards: (() => void)[] = [];
  #ready: () => Promise<unknown> | undefined = () => undefined;
  #closed = false;
  /** When something was written last; undefined since a commit has failed. */
  #writtenAt: number | undefined;

  /** @param file Looked at before each commit; absent for a database in memory. */
  constructor(connection: Connection, clock: () => number, file?: DatabaseFile) {
    this.#connection = connection;
    this.#clock = clock;
    this.#file = file;
  }

  /**
   * Asked before each commit, which waits for what it returns; writes that are asked for meanwhile go with
   * it. What it rejects with refuses them.
   */
  waitFor(ready: () => Promise<unknown> | undefined): void {
    this.#ready = ready;
  }

  write<Value>(write: Write<Value>): Promise<Value> {
    return new Promise<Value>((resolve, reject) => {
      if (this.#closed) {
        reject(new EngineError("unavailable", "the store is closed"));
        return;
      }
      if (this.#queue.length === 0) setImmediate(() => void this.#flush());
      this.#queue.push({ write, resolve: resolve as Job["resolve"], reject });
    });
  }

  /** From inside of a write: called once that is durable, and not at all when it is undone. */
  afterwards(then: () => void): void {
    this.#afterwards.push(then);
  }

  /** Rejects while nothing can be written; tries it unless something was written a moment ago. */
  async assertWritable(): Promise<void> {
    this.#file?.assertInPlace();
    const age = Math.abs(this.#clock() - (this.#writtenAt ?? Number.NEGATIVE_INFINITY));
    if (age > BELIEVED_MS) await this.write(() => this.#connection.touch());
  }

  /** Commits what is queued and takes nothing more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#flush();
  }

  #flush(): Promise<void> | undefined {
    if (this.#queue.length === 0) return undefined;
    let wait: Promise<unknown> | undefined;
    try {
      wait = this.#ready();
    } catch (error) {
      this.#refuseQueued(error);
    }
    if (wait)
      return wait.then(
        () => this.#flushNow(),
        (error) => this.#refuseQueued(error),
      );
    this.#flushNow();
    return undefined;
  }

  #refuseQueued(error: unknown): void {
    const failure = error instanceof EngineError ? error : unavailable(error);
    for (const job of this.#queue.splice(0)) job.reject(failure);
  }

  #flushNow(): void {
    const jobs = this.#queue;
    this.#queue = [];
    if (jobs.length === 0) return;
    for (const settle of this.#commit(jobs)) settle();
    for (const then of this.#afterwards.splice(0)) then();
  }

  #commit(jobs: readonly Job[]): readonly Settle[] {
    const trial: Trial = { at: undefined, brokenOff: new Map() };
    try {
      for (;;) {
        const settled = this.#attempt(jobs, trial);
        if (settled) return settled;
        this.#connection.rollback();
      }
    } catch (error) {
      this.#writtenAt = undefined;
      this.#afterwards = [];
      const failure = error instanceof EngineError ? error : unavailable(error);
      this.#rollback(failure);
      // Refused ones too: what they were refused for may be what was not committed.
      return jobs.map((job) => () => job.reject(failure));
    }
  }

  /** Undefined when a job broke off after it had begun to write: then the others go again. */
  #attempt(jobs: readonly Job[], trial: Trial): readonly Settle[] | undefined {
    const connection = this.#connection;
    this.#afterwards = [];
    this.#file?.assertInPlace();
    connection.begin();
    trial.at ??= this.#clock();
    const before = connection.writes;
    const settled: Settle[] = [];
    for (const job of jobs) {
      const known = trial.brokenOff.get(job);
      if (known) {
        settled.push(known);
        continue;
      }
      const writes = connection.writes;
      try {
        const value = job.write(trial.at) as never;
        settled.push(() => job.resolve(value));
      } catch (error) {
        if (isDatabaseFailure(error)) throw error;
        const refuse = () => job.reject(error);
        if (connection.writes !== writes) {
          trial.brokenOff.set(job, refuse);
          return undefined;
        }
        settled.push(refuse);
      }
    }
    if (committing.hasSubscribers) committing.publish({ of: [] });
    connection.commit();
    if (connection.writes !== before) this.#writtenAt = trial.at;
    if (commitDone.hasSubscribers) commitDone.publish({ of: [] });
    return settled;
  }

  /** A handle that cannot even roll back fails the next transaction too, which then says so. */
  #rollback(failure: EngineError): void {
    try {
      this.#connection.rollback();
    } catch (error) {
      Object.defineProperty(failure, "cause", {
        value: new AggregateError([failure.cause, error]),
      });
    }
  }
}
