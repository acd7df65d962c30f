import type { Desk, Operation, Question } from "../operations/operation.ts";
import { rendered } from "../operations/sql.ts";
import type { Bindable, Connection } from "./connection.ts";
import type { GroupCommit } from "./group-commit.ts";

/** Does operations at once, writes among them inside of the group commit. */
export class SqliteDesk implements Desk {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #clock: () => number;
  readonly #onWrite: () => void;

  /** @param onWrite Called in each transaction, before it writes. */
  constructor(parts: {
    readonly connection: Connection;
    readonly commits: GroupCommit;
    readonly clock: () => number;
    readonly onWrite?: () => void;
  }) {
    this.#connection = parts.connection;
    this.#commits = parts.commits;
    this.#clock = parts.clock;
    this.#onWrite = parts.onWrite ?? (() => undefined);
  }

  read<Value>(run: () => Operation<Value>): Promise<Value> {
    return this.#connection.read(() => this.#do(run(), this.#clock));
  }

  write<Value>(run: () => Operation<Value>): Promise<Value> {
    return this.#commits.write((at) => {
      this.#onWrite();
      return this.#do(run(), () => at);
    });
  }

  writeOnce<Value>(run: () => Operation<Value>): Promise<Value> {
    return this.write(run);
  }

  #do<Value>(operation: Operation<Value>, clock: () => number): Value {
    let step = operation.next();
    while (!step.done) step = operation.next(this.#answer(step.value, clock));
    return step.value;
  }

  #answer(question: Question, clock: () => number): number | undefined | unknown[][] {
    if (question.kind === "clock") return clock();
    // There is one writer at a time.
    if (question.kind === "lock") return undefined;
    return question.queries.map((query) => {
      const { text, values } = rendered(query, "sqlite");
      return this.#connection.prepareOnce(text).ask(values as readonly Bindable[]);
    });
  }
}
