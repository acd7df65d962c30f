import type { Desk, Operation, Question } from "../operations/operation.ts";
import { rendered, type Sql } from "../operations/sql.ts";
import type { Database, Query } from "./database.ts";
import { Serial } from "./serial.ts";

/** What asks a question's statements and gives their rows. */
type Ask = (queries: readonly Query[]) => Promise<unknown[][]>;

/** Does operations off the hot path: reads at once, the writes of one port one after the other. */
export class PostgresDesk implements Desk {
  readonly #database: Database;
  readonly #clock: () => number;
  readonly #writes = new Serial();

  constructor(database: Database, clock: () => number) {
    this.#database = database;
    this.#clock = clock;
  }

  read<Value>(run: () => Operation<Value>): Promise<Value> {
    return this.#do(run(), (queries) => this.#database.readAll(...queries));
  }

  write<Value>(run: () => Operation<Value>): Promise<Value> {
    return this.#writes.write(() =>
      this.#database.transaction((lane) =>
        this.#do(run(), (queries) => lane.pipelined(...queries)),
      ),
    );
  }

  writeOnce<Value>(run: () => Operation<Value>): Promise<Value> {
    let asked = 0;
    return this.#writes.write(() =>
      this.#do(run(), async ([query, ...more]) => {
        if (!query || more.length > 0 || asked++ > 0) throw new Error("more than one statement");
        return [await this.#database.write(...query)];
      }),
    );
  }

  /** Resolves when all that was asked for has been answered. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  async #do<Value>(operation: Operation<Value>, ask: Ask): Promise<Value> {
    let step = operation.next();
    while (!step.done) step = operation.next(await this.#answer(step.value, ask));
    return step.value;
  }

  async #answer(question: Question, ask: Ask): Promise<number | undefined | unknown[][]> {
    switch (question.kind) {
      case "clock":
        return this.#clock();
      case "lock":
        await ask([[this.#database.prepare(LOCK_SQL), question.name]]);
        return undefined;
      case "queries":
        return ask(question.queries.map((query) => this.#query(query)));
    }
  }

  #query(query: Sql): Query {
    const { text, values } = rendered(query, "postgres");
    return [this.#database.prepare(text), ...values];
  }
}

const LOCK_SQL = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
