import type { ExecutionRow, NewExecution } from "@engine/contract";
import { type StoredRow, toSummary } from "../execution-columns.ts";
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
import type { Database, Statement } from "./database.ts";
import { LIST_OPEN_RUNS_SQL, listExecutions } from "./execution-list.ts";

/** The hot part of the store: what changes an execution goes into a group commit. */
export class Executions implements ExecutionPort {
  readonly #database: Database;
  readonly #statements: ExecutionStatements;
  readonly #commits: GroupCommit;
  readonly #openRuns: Statement;

  constructor(parts: {
    readonly database: Database;
    readonly statements: ExecutionStatements;
    readonly commits: GroupCommit;
  }) {
    this.#database = parts.database;
    this.#statements = parts.statements;
    this.#commits = parts.commits;
    this.#openRuns = parts.database.prepare(LIST_OPEN_RUNS_SQL, "array");
  }

  create(fresh: NewExecution, claimant?: GuardedClaimant): Promise<Changed> {
    const { execution_id } = fresh;
    return this.#commits.write({ kind: "create", execution_id, fresh, claimant });
  }

  change(
    execution_id: string,
    decide: Decide,
    { above, guard }: ChangeOptions = {},
  ): Promise<Changed> {
    return this.#commits.write({ kind: "change", execution_id, decide, above, guard });
  }

  find(execution_id: string): Promise<ExecutionRow | undefined> {
    return this.#read(this.#statements.find(execution_id));
  }

  findByKey(unique_key: string): Promise<ExecutionRow | undefined> {
    return this.#read(this.#statements.holders([unique_key]));
  }

  list(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    return listExecutions(this.#database, filter);
  }

  async listOpenRuns(schedule: string, limit: number): Promise<readonly ExecutionRow[]> {
    const rows = await this.#database.read<StoredRow>(this.#openRuns, schedule, limit);
    return rows.map(toSummary);
  }

  async #read({ query, read }: RowQuery): Promise<ExecutionRow | undefined> {
    const [rows = []] = await this.#database.readAll<StoredRow>(query);
    const [row] = read(rows).values();
    return row;
  }
}
