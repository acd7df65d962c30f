import type { ExecutionRow, NewExecution } from "@engine/contract";
import { type StoredRow, toSummary } from "../execution-columns.ts";
import { listQueries, openRuns, toPage } from "../execution-list.ts";
import { rendered } from "../operations/sql.ts";
import type {
  Changed,
  ChangeOptions,
  Decide,
  ExecutionFilter,
  ExecutionPort,
  GuardedClaimant,
} from "../ports/executions.ts";
import type { Page } from "../ports/port.ts";
import type { ExecutionStatements, RowQuery } from "./commits/execution-statements.ts";
import type { GroupCommit } from "./commits/group-commit.ts";
import type { Database, Query } from "./database.ts";

/** The hot part of the store: what changes an execution goes into a group commit. */
export class Executions implements ExecutionPort {
  readonly #database: Database;
  readonly #statements: ExecutionStatements;
  readonly #commits: GroupCommit;

  constructor(parts: {
    readonly database: Database;
    readonly statements: ExecutionStatements;
    readonly commits: GroupCommit;
  }) {
    this.#database = parts.database;
    this.#statements = parts.statements;
    this.#commits = parts.commits;
  }

  create(fresh: NewExecution, claimant?: GuardedClaimant): Promise<Changed> {
    const { execution_id } = fresh;
    return this.#commits.write({ kind: "create", execution_id, fresh, claimant });
  }

  change(
    execution_id: string,
    decide: Decide,
    { above, guard, limits }: ChangeOptions = {},
  ): Promise<Changed> {
    return this.#commits.write({ kind: "change", execution_id, decide, above, guard, limits });
  }

  find(execution_id: string): Promise<ExecutionRow | undefined> {
    return this.#read(this.#statements.find(execution_id));
  }

  findByKey(unique_key: string): Promise<ExecutionRow | undefined> {
    return this.#read(this.#statements.holders([unique_key]));
  }

  /** Planned for the values of each call: which index serves depends on them. */
  async list(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    const queries = listQueries(filter).map((query): Query => {
      const { text, values } = rendered(query, "postgres");
      return [{ text, rowMode: "array" }, ...values];
    });
    return toPage(await this.#database.readAll<StoredRow>(...queries));
  }

  async listOpenRuns(schedule: string, limit: number): Promise<readonly ExecutionRow[]> {
    const { text, values } = rendered(openRuns(schedule, limit), "postgres");
    const statement = this.#database.prepare(text, "array");
    const rows = await this.#database.read<StoredRow>(statement, ...values);
    return rows.map(toSummary);
  }

  async #read({ query, read }: RowQuery): Promise<ExecutionRow | undefined> {
    const [rows = []] = await this.#database.readAll<StoredRow>(query);
    const [row] = read(rows).values();
    return row;
  }
}
