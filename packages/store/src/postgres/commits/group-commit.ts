/**
 * Group commit. What is asked for while the connections are busy is committed together by the next
 * one that is free. No two commits of one store work on the same execution at once: what is asked of
 * it later waits here, in the order of asking, and not for a lock in the database.
 */
import type { Changed } from "../../ports/executions.ts";
import { closedStore } from "../database-failure.ts";
import type { BatchCommit } from "./batch-commit.ts";
import { type Job, limitsAskedBy } from "./workspace.ts";

interface Request {
  readonly job: Job;
  /** What no other commit may work on meanwhile. */
  readonly subjects: readonly string[];
  readonly resolve: (changed: Changed) => void;
  readonly reject: (reason: unknown) => void;
}

/** More would make each of them wait longer without making all of them quicker. */
const MAX_BATCH = 256;

export class GroupCommit {
  readonly #batches: BatchCommit;
  readonly #lanes: number;
  #queue: Request[] = [];
  readonly #busy = new Set<string>();
  #underWay = 0;
  #scheduled = false;
  #closed = false;
  readonly #idle: (() => void)[] = [];

  constructor(batches: BatchCommit, lanes: number) {
    this.#batches = batches;
    this.#lanes = lanes;
  }

  write(job: Job): Promise<Changed> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(closedStore());
        return;
      }
      this.#queue.push({ job, subjects: subjectsOf(job), resolve, reject });
      this.#schedule();
    });
  }

  /** Takes nothing more; resolves when all that was asked for has been answered. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#queue.length > 0 || this.#underWay > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  /** At the end of this turn of the event loop, so that what is asked in one turn goes together. */
  #schedule(): void {
    if (this.#scheduled || this.#underWay >= this.#lanes) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#start();
    });
  }

  #start(): void {
    while (this.#underWay < this.#lanes) {
      const batch = this.#take();
      if (batch.length === 0) return;
      this.#underWay++;
      void this.#run(batch);
    }
  }

  #take(): readonly Request[] {
    const batch: Request[] = [];
    const left: Request[] = [];
    for (const request of this.#queue) {
      const isFree =
        batch.length < MAX_BATCH && !request.subjects.some((one) => this.#busy.has(one));
      (isFree ? batch : left).push(request);
    }
    this.#queue = left;
    for (const { subjects } of batch) for (const one of subjects) this.#busy.add(one);
    return batch;
  }

  async #run(batch: readonly Request[]): Promise<void> {
    const outcomes = await this.#batches.commit(batch.map(({ job }) => job));
    for (const { subjects } of batch) for (const one of subjects) this.#busy.delete(one);
    this.#underWay--;
    batch.forEach(({ resolve, reject }, i) => {
      const outcome = outcomes[i];
      if (outcome && "changed" in outcome) resolve(outcome.changed);
      else reject(outcome?.refusal);
    });
    this.#schedule();
    for (const tell of this.#idle.splice(0)) tell();
  }
}

/**
 * An execution, the unique key it is to have, and what its claim counts: of those who race for one, one
 * waits here.
 */
function subjectsOf(job: Job): readonly string[] {
  const key = job.kind === "create" ? job.fresh.unique?.key : undefined;
  const subjects = key === undefined ? [job.execution_id] : [job.execution_id, `unique ${key}`];
  const limits = limitsAskedBy(job);
  return limits ? [...subjects, ...limits.map(({ bucket }) => `limit ${bucket}`)] : subjects;
}
