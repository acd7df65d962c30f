import { type Operations, reads, rows } from "../operations/operation.ts";
import { allOf, matching, raw, rowsOf, type Sql, sql } from "../operations/sql.ts";
import { seen, type Visible } from "../visible.ts";

/** Executions that have not ended, by whose rights they have. */
export interface ActingFilter {
  /** Subject of their principal, also of one that was deleted; null: they are nobody's. */
  readonly subject: string | null;
  readonly namespace?: string | undefined;
  readonly workflow?: string | undefined;
  /** Only of workflows that may be seen. */
  readonly visible?: Visible | undefined;
}

/** Those of them that are pinned to one version. */
export interface ActingVersion {
  readonly namespace: string;
  readonly workflow: string;
  readonly version: number;
  readonly module_hash: string;
  readonly count: number;
}

export interface ActingExecution {
  readonly execution_id: string;
  readonly run_as: string | null;
}

/** Whose rights executions have that have not ended. Local runs are nobody's business. */
export interface ActingPort {
  /** By namespace, workflow and version. */
  versions(filter: ActingFilter): Promise<readonly ActingVersion[]>;
  /** At most so many of some versions, oldest first. */
  ofVersions(
    filter: ActingFilter,
    versions: readonly ActingVersion[],
    limit: number,
  ): Promise<readonly ActingExecution[]>;
}

export const ACTING: Operations<ActingPort> = {
  versions: reads((filter) =>
    rows(sql<ActingVersion>`
      SELECT namespace, workflow, version, module_hash, count(*) AS count FROM executions
      WHERE ${isMeant(filter)} GROUP BY namespace, workflow, version, module_hash
      ORDER BY namespace, workflow, version, module_hash`),
  ),

  ofVersions: reads((filter, versions, limit) => {
    const columns = {
      namespace: "text",
      workflow: "text",
      version: "integer",
      module_hash: "text",
    };
    const named = versions.map(({ count: _, ...version }) => version);
    return rows(sql<ActingExecution>`
      SELECT execution_id, run_as FROM executions
      WHERE ${isMeant(filter)} AND EXISTS (
        SELECT 1 FROM ${rowsOf(columns as Readonly<Record<string, "text" | "integer">>, named)}
        WHERE r.namespace = executions.namespace AND r.workflow = executions.workflow
          AND r.version = executions.version AND r.module_hash = executions.module_hash)
      ORDER BY execution_id LIMIT ${limit}`);
  }),
};

function isMeant({ subject, namespace, workflow, visible }: ActingFilter): Sql {
  const whose =
    subject === null
      ? raw("run_as IS NULL")
      : sql`run_as IN (SELECT id FROM principals WHERE subject = ${subject})`;
  return allOf([
    raw("finished_at IS NULL AND version IS NOT NULL AND module_hash IS NOT NULL"),
    whose,
    matching({ namespace, workflow }),
    seen(visible, "workflow"),
  ]);
}
