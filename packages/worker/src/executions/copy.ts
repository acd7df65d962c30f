import type { Assignment, Holding } from "@engine/contract";
import type { TaskRights } from "@engine/sdk/node";
import { beginning } from "../failpoints.ts";
import type { Held } from "../metrics/builtin-metrics.ts";
import type { ToRunner } from "../runners/messages.ts";
import type { Runner } from "../runners/runner.ts";

/** An execution this worker holds, from its assignment until the server knows that it is given up. */
export interface Copy extends Held {
  /** Names the copy between the main thread and its runner. */
  readonly number: number;
  readonly execution_id: string;
  readonly module_hash: string;
  /** An operator's label of the execution. */
  readonly name: string | null;
  /** Grows when the server lets this worker keep an execution that it had handed over (WRK-9). */
  generation: number;
  /** `seq` of the newest event that this worker knows to be durable. */
  seq: number;
  /** Events that the server told of while those before them were not known to be durable yet. */
  ahead: { readonly base_seq: number; readonly end: number } | undefined;
  /** Whether somebody watches its progress. */
  listening: boolean;
  /** What its principal may do; undefined: nobody's rights are checked. */
  rights: TaskRights | undefined;
  /** Where the copy runs, once it was started there. */
  runner: Runner | undefined;
  /** What the runner has to hear right after it is given the copy; undefined from then on. */
  early: ToRunner[] | undefined;
  /** What to start the execution with, should the warm copy not be able to go on. */
  cold: Assignment | undefined;
  /** Settles when the answer to the newest checkpoint of the copy is certain. */
  writing: Promise<void> | undefined;
  /** `releasing`: the body is stopped and the server has to hear so. `gone`: nothing is written. */
  state: "held" | "releasing" | "gone";
}

type Fresh = Pick<
  Copy,
  "execution_id" | "module_hash" | "name" | "generation" | "seq" | "listening"
> &
  Partial<Pick<Copy, "rights">>;

/** The copies of a worker, by both their names. */
export class Copies {
  readonly #byExecution = new Map<string, Copy>();
  readonly #byNumber = new Map<number, Copy>();
  #lastNumber = 0;
  #onEmpty: (() => void)[] = [];

  get size(): number {
    return this.#byExecution.size;
  }

  /** @param number That of the warm copy that goes on; a fresh one when absent (RUN-4). */
  add(fresh: Fresh, number: number = ++this.#lastNumber): Copy {
    const copy: Copy = {
      rights: undefined,
      ...fresh,
      number,
      assignedAt: undefined,
      isStarting: undefined,
      ahead: undefined,
      runner: undefined,
      early: [],
      cold: undefined,
      writing: undefined,
      state: "held",
    };
    this.#byExecution.set(copy.execution_id, copy);
    this.#byNumber.set(number, copy);
    return copy;
  }

  find(execution_id: string): Copy | undefined {
    return this.#byExecution.get(execution_id);
  }

  numbered(number: number): Copy | undefined {
    return this.#byNumber.get(number);
  }

  all(): Copy[] {
    return [...this.#byExecution.values()];
  }

  /** Forgets a copy: nothing is written for it any more. */
  remove(copy: Copy): void {
    copy.state = "gone";
    this.#byNumber.delete(copy.number);
    if (this.#byExecution.get(copy.execution_id) === copy) {
      this.#byExecution.delete(copy.execution_id);
    }
    if (this.size === 0) for (const settle of this.#onEmpty.splice(0)) settle();
  }

  holdings(): Holding[] {
    return this.all().map(({ execution_id, generation, seq }) => ({
      execution_id,
      generation,
      seq,
    }));
  }

  /** Settles as soon as nothing is held. */
  empty(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }
}

/** The log is known to reach from `base_seq` to `end`: what a heartbeat says of it (DSP-9). */
export function learn(copy: Copy, base_seq: number, end: number): void {
  if (base_seq > copy.seq) {
    copy.ahead = { base_seq, end };
    return;
  }
  copy.seq = Math.max(copy.seq, end);
  const { ahead } = copy;
  if (!ahead || ahead.base_seq > copy.seq) return;
  copy.ahead = undefined;
  copy.seq = Math.max(copy.seq, ahead.end);
}

/** Tells a copy's runner something, after what it is begun with. */
export function tell(copy: Copy, message: ToRunner): void {
  if (copy.early) copy.early.push(message);
  else copy.runner?.post([message]);
}

/** Gives a copy to its runner, and behind it the messages that came for the copy meanwhile. */
export function begin(copy: Copy, runner: Runner, message: ToRunner): void {
  if (beginning.hasSubscribers) beginning.publish({ of: [message.kind] });
  const early = copy.early ?? [];
  copy.early = undefined;
  runner.post([message, ...early]);
}
