import { createHash } from "node:crypto";
import {
  ExtractedWorkflow,
  formatInstant,
  type SourceFile,
  type WorkflowRecord,
} from "@engine/contract";
import type { PutAfterDeletion } from "../schedules.ts";
import type { NewVersions, Page, StoredVersion, WorkflowFilter } from "../store.ts";
import { SEEN_IN_SQLITE, type Visible, visibleJson, visibleSql } from "../visible.ts";
import type { Connection, Statement } from "./connection.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Schedules } from "./schedules.ts";

interface VersionRow {
  readonly extracted: string;
  readonly version: number;
  readonly content_hash: string;
  readonly source_hash: string;
  readonly module_hash: string;
  readonly created_at: number;
  readonly created_by: string | null;
  readonly deleted_at: number | null;
}

interface Total {
  readonly total: number;
}

const COLUMNS =
  "extracted, version, content_hash, source_hash, module_hash, created_at, created_by, deleted_at";

/** The latest live version of each workflow that a namespace and a beginning of the name match. */
const LATEST = `
  FROM workflow_versions AS v
  WHERE version = (
    SELECT max(version) FROM workflow_versions
    WHERE namespace = v.namespace AND name = v.name AND deleted_at IS NULL
  ) AND namespace = coalesce(?, namespace) AND substr(name, 1, length(?)) = ?
    AND ${visibleSql(SEEN_IN_SQLITE, "name")}`;

/**
 * Workflows by version. What a version holds never changes once it is written; deleting one only
 * marks it, so that its number stays taken and executions pinned to it keep their code. Retention takes
 * away what nobody needs any more, but not the number.
 */
export class Catalog {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #schedules: Schedules;
  readonly #latest: Statement<VersionRow>;
  readonly #exact: Statement<VersionRow>;
  readonly #ofModule: Statement<VersionRow>;
  readonly #before: Statement<{ version: number; content_hash: string | null }>;
  readonly #delete: Statement<{ version: number }>;
  readonly #insertVersion: Statement<unknown>;
  readonly #insertModule: Statement<unknown>;
  readonly #insertFiles: Statement<unknown>;
  readonly #module: Statement<{ bundle: string }>;

  constructor(connection: Connection, commits: GroupCommit, schedules: Schedules) {
    this.#connection = connection;
    this.#commits = commits;
    this.#schedules = schedules;
    const one = "FROM workflow_versions WHERE namespace = ? AND name = ?";
    this.#latest = connection.prepare(
      `SELECT ${COLUMNS} ${one} AND deleted_at IS NULL ORDER BY version DESC LIMIT 1`,
    );
    this.#exact = connection.prepare(`SELECT ${COLUMNS} ${one} AND version = ?`);
    this.#ofModule = connection.prepare(`
      SELECT ${COLUMNS} ${one} AND module_hash = ?
      ORDER BY deleted_at IS NOT NULL, version DESC LIMIT 1`);
    const asked = "WHERE namespace = asked.namespace AND name = asked.name";
    this.#before = connection.prepare(`
      SELECT max(
        coalesce((SELECT max(version) FROM workflow_versions ${asked}), 0),
        coalesce((SELECT max(version) FROM retired_versions ${asked}), 0)
      ) AS version, (
        SELECT content_hash FROM workflow_versions ${asked} AND deleted_at IS NULL
        ORDER BY version DESC LIMIT 1
      ) AS content_hash
      FROM (SELECT ? AS namespace, ? AS name) AS asked`);
    this.#delete = connection.prepare(`
      UPDATE workflow_versions SET deleted_at = ?
      WHERE namespace = ? AND name = ? AND version = coalesce(?, version) AND deleted_at IS NULL
      RETURNING version`);
    this.#insertVersion = connection.prepare(`
      INSERT INTO workflow_versions (namespace, name, file_set_hash, ${COLUMNS})
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)`);
    this.#insertModule = connection.prepare("INSERT OR IGNORE INTO modules VALUES (?, ?)");
    this.#insertFiles = connection.prepare("INSERT OR IGNORE INTO file_sets VALUES (?, ?)");
    this.#module = connection.prepare("SELECT bundle FROM modules WHERE hash = ?");
  }

  register(
    fresh: NewVersions,
    { dryRun = false }: { readonly dryRun?: boolean | undefined } = {},
  ): Promise<readonly (WorkflowRecord & { created: boolean })[]> {
    const files = JSON.stringify(fresh.files);
    const fileSetHash = createHash("sha256").update(files).digest("hex");
    return this.#commits.write((at) => {
      let isKept = false;
      const registered = fresh.workflows.map(({ extracted, content_hash }) => {
        const { namespace, name } = extracted;
        const before = this.#before.get(namespace, name);
        const latest =
          before?.content_hash === content_hash ? this.#latest.get(namespace, name) : undefined;
        if (latest) return { ...recordOf(latest), created: false };

        const row: VersionRow = {
          extracted: JSON.stringify(extracted),
          version: (before?.version ?? 0) + 1,
          content_hash,
          source_hash: fresh.source_hash,
          module_hash: fresh.module.hash,
          created_at: at,
          created_by: fresh.created_by,
          deleted_at: null,
        };
        const record = { ...recordWith(extracted, row), created: true };
        if (dryRun) return record;

        if (!isKept) {
          this.#insertModule.run(fresh.module.hash, fresh.module.bundle);
          this.#insertFiles.run(fileSetHash, files);
          isKept = true;
        }
        this.#insertVersion.run(
          namespace,
          name,
          fileSetHash,
          row.extracted,
          row.version,
          row.content_hash,
          row.source_hash,
          row.module_hash,
          row.created_at,
          row.created_by,
        );
        return record;
      });
      for (const { name, put } of fresh.schedules ?? []) {
        this.#schedules.put(name, put, { dryRun });
      }
      return registered;
    });
  }

  delete(
    namespace: string,
    name: string,
    version?: number,
    put?: PutAfterDeletion,
  ): Promise<readonly number[]> {
    return this.#commits.write((at) => {
      const rows = this.#delete.all(at, namespace, name, version ?? null);
      const deleted = rows.map((row) => row.version).sort((a, b) => b - a);
      if (deleted.length === 0 || !put) return deleted;
      const latest = this.#latest.get(namespace, name);
      const current = latest && recordOf(latest);
      for (const schedule of this.#schedules.ofWorkflow(namespace, name)) {
        const after = put(schedule, { current, deleted });
        this.#schedules.put(schedule.name, () => after, { dryRun: false });
      }
      return deleted;
    });
  }

  find(
    namespace: string,
    name: string,
    version?: number,
    { deleted = false }: { readonly deleted?: boolean } = {},
  ): Promise<StoredVersion | undefined> {
    return this.#connection.read(() => {
      const row =
        version === undefined
          ? this.#latest.get(namespace, name)
          : this.#exact.get(namespace, name, version);
      if (!row || (row.deleted_at !== null && !deleted)) return undefined;
      return { record: recordOf(row), module_hash: row.module_hash };
    });
  }

  findOfModule(
    namespace: string,
    name: string,
    module_hash: string,
  ): Promise<StoredVersion | undefined> {
    return this.#connection.read(() => {
      const row = this.#ofModule.get(namespace, name, module_hash);
      return row && { record: recordOf(row), module_hash };
    });
  }

  listWorkflows(filter: WorkflowFilter): Promise<Page<WorkflowRecord>> {
    return this.#connection.read(() => {
      const { namespace = null, name = "", visible } = filter;
      const where = [namespace, name, name, visibleJson(visible)];
      const rows = this.#connection.prepareOnce<VersionRow>(
        `SELECT ${COLUMNS} ${LATEST} ORDER BY namespace, name LIMIT ? OFFSET ?`,
      );
      const total = this.#connection.prepareOnce<Total>(`SELECT count(*) AS total ${LATEST}`);
      return {
        items: rows.all(...where, filter.limit, filter.offset).map(recordOf),
        total: total.get(...where)?.total ?? 0,
      };
    });
  }

  listVersions(
    namespace: string,
    name: string,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<Page<WorkflowRecord>> {
    return this.#connection.read(() => {
      const from = "FROM workflow_versions WHERE namespace = ? AND name = ? AND deleted_at IS NULL";
      const rows = this.#connection.prepareOnce<VersionRow>(
        `SELECT ${COLUMNS} ${from} ORDER BY version DESC LIMIT ? OFFSET ?`,
      );
      const total = this.#connection.prepareOnce<Total>(`SELECT count(*) AS total ${from}`);
      return {
        items: rows.all(namespace, name, limit, offset).map(recordOf),
        total: total.get(namespace, name)?.total ?? 0,
      };
    });
  }

  listNamespaces(page: {
    limit: number;
    offset: number;
    visible?: Visible | undefined;
  }): Promise<Page<{ namespace: string; workflow_count: number }>> {
    return this.#connection.read(() => {
      const seen = `WHERE deleted_at IS NULL AND ${visibleSql(SEEN_IN_SQLITE, "name")}`;
      const rows = this.#connection.prepareOnce<{ namespace: string; workflow_count: number }>(`
        SELECT namespace, count(DISTINCT name) AS workflow_count FROM workflow_versions
        ${seen} GROUP BY namespace ORDER BY namespace LIMIT ? OFFSET ?`);
      const total = this.#connection.prepareOnce<Total>(
        `SELECT count(DISTINCT namespace) AS total FROM workflow_versions ${seen}`,
      );
      const visible = visibleJson(page.visible);
      const items = rows.all(visible, page.limit, page.offset);
      return { items, total: total.get(visible)?.total ?? 0 };
    });
  }

  readFiles(namespace: string, name: string, version: number): Promise<readonly SourceFile[]> {
    return this.#connection.read(() => {
      const files = this.#connection.prepareOnce<{ files: string }>(`
        SELECT files FROM file_sets WHERE hash = (
          SELECT file_set_hash FROM workflow_versions
          WHERE namespace = ? AND name = ? AND version = ?
        )`);
      const row = files.get(namespace, name, version);
      return row ? JSON.parse(row.files) : [];
    });
  }

  readModule(hash: string): Promise<string | undefined> {
    return this.#connection.read(() => this.#module.get(hash)?.bundle);
  }
}

function recordOf(row: VersionRow): WorkflowRecord {
  // Parsed, since a record of an engine that read fewer options lacks them.
  return recordWith(ExtractedWorkflow.parse(JSON.parse(row.extracted)), row);
}

function recordWith(extracted: ExtractedWorkflow, row: VersionRow): WorkflowRecord {
  return {
    ...extracted,
    version: row.version,
    content_hash: row.content_hash,
    source_hash: row.source_hash,
    created_at: formatInstant(row.created_at),
    created_by: row.created_by,
  };
}
