import { createHash } from "node:crypto";
import {
  type AuditEntry,
  ExtractedWorkflow,
  formatInstant,
  type SourceFile,
  type WorkflowRecord,
} from "@engine/contract";
import { type DeclaredHooks, dropHooks, putHooks } from "../hooks/declared-hooks.ts";
import {
  first,
  lock,
  now,
  type Operation,
  type Operations,
  page,
  reads,
  rows,
  run,
  together,
  writes,
  writesInSteps,
} from "../operations/operation.ts";
import {
  anyOf,
  type ByDialect,
  greatest,
  matching,
  raw,
  rowsOf,
  type Sql,
  sql,
} from "../operations/sql.ts";
import { seen, type Visible } from "../visible.ts";
import { audited } from "./audit.ts";
import { raise } from "./epochs.ts";
import type { Page } from "./port.ts";
import {
  type DeclaredSchedules,
  type PutAfterDeletion,
  putSchedules,
  putSchedulesOf,
} from "./schedules.ts";
import { CATALOG_LOCK, deleteUnusedVersions } from "./unused-versions.ts";

export interface NewVersions {
  readonly workflows: readonly { extracted: ExtractedWorkflow; content_hash: string }[];
  readonly module: { readonly hash: string; readonly bundle: string };
  readonly files: readonly SourceFile[];
  readonly source_hash: string;
  readonly created_by: string | null;
  /** Written in the same transaction; left alone when absent. */
  readonly schedules?: readonly DeclaredSchedules[] | undefined;
  /** The same of hooks. */
  readonly hooks?: readonly DeclaredHooks[] | undefined;
}

export interface StoredVersion {
  readonly record: WorkflowRecord;
  readonly module_hash: string;
}

export interface WorkflowFilter {
  readonly namespace?: string | undefined;
  /** Beginning of the name. */
  readonly name?: string | undefined;
  /** Only of workflows that may be seen. */
  readonly visible?: Visible | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** All workflows of some namespaces, and some one by one. */
export interface WorkflowChoice {
  readonly namespaces: readonly string[];
  readonly workflows: readonly { readonly namespace: string; readonly name: string }[];
}

/** A version, and whether the registration has made it. */
export type RegisteredVersion = WorkflowRecord & { readonly created: boolean };

/**
 * Workflows by version. What a version holds never changes once it is written; deleting one only
 * marks it, so that its number stays taken and executions pinned to it keep their code. Retention takes
 * away what nobody needs any more, but not the number.
 */
export interface CatalogPort {
  /**
   * One transaction; content equal to the latest live version makes none (EXE-67). A dry run
   * answers what would be made now, and writes nothing.
   */
  register(
    versions: NewVersions,
    options?: { readonly dryRun?: boolean | undefined; readonly audit?: AuditEntry | undefined },
  ): Promise<readonly RegisteredVersion[]>;
  /** The latest live version, or the one asked for; with `deleted` also when it was deleted. */
  find(
    namespace: string,
    name: string,
    version?: number,
    options?: { readonly deleted?: boolean },
  ): Promise<StoredVersion | undefined>;
  /**
   * The version of a workflow that was registered with a module, deleted or not: what executions of
   * the same file call. Of several a live one, then the newest.
   */
  findOfModule(
    namespace: string,
    name: string,
    module_hash: string,
  ): Promise<StoredVersion | undefined>;
  /**
   * Marks one live version deleted, or all: no list and no new run finds them, while their record,
   * files and module stay for executions pinned to them. Numbers are not used again (EXE-70). With the
   * last one go the hooks that the workflow has declared (HOOK-51).
   *
   * @param put What becomes of the workflow's schedules, in the same transaction.
   * @returns The versions deleted now, newest first; none when none of them lived.
   */
  delete(
    namespace: string,
    name: string,
    version?: number,
    put?: PutAfterDeletion,
    audit?: AuditEntry,
  ): Promise<readonly number[]>;
  /**
   * Deletes versions that no execution needs, with code nobody else has; how many.
   *
   * @param deleted_before When they were marked deleted at the latest: a start that has looked one up
   * before that has been written by now. Any time unless given.
   */
  deleteUnused(limit: number, deleted_before?: number): Promise<number>;
  listWorkflows(filter: WorkflowFilter): Promise<Page<WorkflowRecord>>;
  /**
   * The latest live version of each workflow that is chosen, once each, by name and then by namespace.
   */
  chosen(choice: WorkflowChoice): Promise<readonly StoredVersion[]>;
  listVersions(
    namespace: string,
    name: string,
    page: { limit: number; offset: number },
  ): Promise<Page<WorkflowRecord>>;
  listNamespaces(page: {
    limit: number;
    offset: number;
    /** Counts only workflows that may be seen. */
    visible?: Visible | undefined;
  }): Promise<Page<{ namespace: string; workflow_count: number }>>;
  readFiles(namespace: string, name: string, version: number): Promise<readonly SourceFile[]>;
  readModule(hash: string): Promise<string | undefined>;
}

export const CATALOG: Operations<CatalogPort> = {
  register: writes(function* (fresh, { dryRun = false, audit } = {}) {
    yield* lock(CATALOG_LOCK);
    const at = yield* now();
    const registered: RegisteredVersion[] = [];
    let file_set_hash: string | undefined;
    for (const workflows of inBatches(fresh.workflows)) {
      const batch = { ...fresh, workflows };
      const versions = yield* versionsOf(batch, at);
      registered.push(...versions);
      const made = newOf(batch, versions);
      if (dryRun || made.length === 0) continue;
      file_set_hash ??= yield* insertCode(fresh);
      yield* insertVersions(made, { ...fresh, file_set_hash, at });
    }
    if (fresh.schedules) yield* putSchedules(fresh.schedules, { dryRun });
    if (fresh.hooks) yield* putHooks("workflow", fresh.hooks, { dryRun });
    if (file_set_hash !== undefined) {
      yield* raise("catalog");
      yield* audited(audit);
    }
    return registered;
  }),

  find: reads(function* (namespace, name, version, { deleted = false } = {}) {
    const isAsked = version === undefined ? LIVE : sql`version = ${version}`;
    const row = yield* first(sql<VersionRow>`
      SELECT ${COLUMNS} FROM workflow_versions
      WHERE ${matching({ namespace, name })} AND ${isAsked} ORDER BY version DESC LIMIT 1`);
    if (!row || (row.deleted_at !== null && !deleted)) return undefined;
    return versionOf(row);
  }),

  findOfModule: reads(function* (namespace, name, module_hash) {
    const row = yield* first(sql<VersionRow>`
      SELECT ${COLUMNS} FROM workflow_versions
      WHERE ${matching({ namespace, name, module_hash })}
      ORDER BY (deleted_at IS NULL) DESC, version DESC LIMIT 1`);
    return row && versionOf(row);
  }),

  delete: writes(function* (namespace, name, version, put, audit) {
    yield* lock(CATALOG_LOCK);
    const marked = yield* rows(sql<{ version: number }>`
      UPDATE workflow_versions SET deleted_at = ${yield* now()}
      WHERE ${matching({ namespace, name, version })} AND ${LIVE} RETURNING version`);
    const deleted = marked.map((row) => row.version).sort((a, b) => b - a);
    if (deleted.length === 0) return deleted;
    yield* raise("catalog");
    const latest = yield* first(latestOf(namespace, name));
    const hooks = latest ? [] : yield* dropHooks("workflow", `${namespace}/${name}`);
    const changes = hooks.length === 0 ? null : { hooks: { before: [...hooks], after: null } };
    yield* audited(audit && { ...audit, changes });
    if (!put) return deleted;
    const left = { current: latest && recordOf(latest), deleted };
    yield* putSchedulesOf({ namespace, workflow: name }, (schedule) => put(schedule, left));
    return deleted;
  }),

  deleteUnused: writesInSteps(deleteUnusedVersions),

  listWorkflows: reads(({ namespace, name = "", visible, limit, offset }) => {
    const from = sql`FROM workflow_versions AS v
      WHERE ${IS_LATEST} AND ${matching({ namespace })} AND ${nameBeginsWith(name)}
        AND ${seen(visible, "name")}`;
    return page({ columns: COLUMNS, from, order: raw("namespace, name"), limit, offset }, recordOf);
  }),

  chosen: reads(function* ({ namespaces, workflows }) {
    const found = yield* rows(sql<VersionRow>`
      SELECT ${COLUMNS} FROM workflow_versions AS v
      WHERE (namespace ${anyOf(namespaces)} OR EXISTS (
        SELECT 1 FROM ${rowsOf({ namespace: "text", name: "text" }, workflows)}
        WHERE r.namespace = v.namespace AND r.name = v.name)) AND ${IS_LATEST}
      ORDER BY name, namespace`);
    return found.map(versionOf);
  }),

  listVersions: reads((namespace, name, { limit, offset }) => {
    const from = sql`FROM workflow_versions WHERE ${matching({ namespace, name })} AND ${LIVE}`;
    return page({ columns: COLUMNS, from, order: raw("version DESC"), limit, offset }, recordOf);
  }),

  listNamespaces: reads(({ limit, offset, visible }) => {
    const columns = sql<{ namespace: string; workflow_count: number }>`namespace, workflow_count`;
    const from = sql`FROM (
      SELECT namespace, count(DISTINCT name) AS workflow_count FROM workflow_versions
      WHERE ${LIVE} AND ${seen(visible, "name")} GROUP BY namespace) AS n`;
    return page({ columns, from, order: raw("namespace"), limit, offset }, (row) => row);
  }),

  readFiles: reads(function* (namespace, name, version) {
    const row = yield* first(sql<{ files: string }>`
      SELECT files FROM file_sets WHERE hash = (
        SELECT file_set_hash FROM workflow_versions
        WHERE ${matching({ namespace, name, version })})`);
    return row ? (JSON.parse(row.files) as readonly SourceFile[]) : [];
  }),

  readModule: reads(function* (hash) {
    const row = yield* first(sql<{ bundle: string }>`
      SELECT bundle FROM modules WHERE hash = ${hash}`);
    return row?.bundle;
  }),
};

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

const COLUMNS: Sql<VersionRow> = sql`extracted, version, content_hash, source_hash, module_hash,
  created_at, created_by, deleted_at`;

const LIVE = raw("deleted_at IS NULL");

/** Of a version `v`: it is the latest live one of its workflow. */
const IS_LATEST = sql`version = (SELECT max(version) FROM workflow_versions
  WHERE namespace = v.namespace AND name = v.name AND ${LIVE})`;

function latestOf(namespace: string, name: string): Sql<VersionRow> {
  return sql`SELECT ${COLUMNS} FROM workflow_versions
    WHERE ${matching({ namespace, name })} AND ${LIVE} ORDER BY version DESC LIMIT 1`;
}

/** Not LIKE: its wildcards are characters that a beginning may have. */
function nameBeginsWith(beginning: string): ByDialect {
  return {
    sqlite: sql`substr(name, 1, length(${beginning})) = ${beginning}`,
    postgres: sql`starts_with(name, ${beginning})`,
  };
}

/** What there is of a workflow: its last number, and the content of its latest live version. */
interface Before {
  readonly version: number;
  readonly content_hash: string | null;
}

/** What registering makes of workflows, or the versions that are there and equal. */
function* versionsOf(
  { workflows, source_hash, created_by }: NewVersions,
  at: number,
): Operation<readonly RegisteredVersion[]> {
  const asked = workflows.map(({ extracted: { namespace, name } }, place) => {
    return { place, namespace, name };
  });
  const before = yield* rows(sql<Before>`
    SELECT ${greatest}(
      coalesce((SELECT max(v.version) FROM workflow_versions AS v
        WHERE v.namespace = r.namespace AND v.name = r.name), 0),
      coalesce((SELECT max(t.version) FROM retired_versions AS t
        WHERE t.namespace = r.namespace AND t.name = r.name), 0)
    ) AS version, (
      SELECT v.content_hash FROM workflow_versions AS v
      WHERE v.namespace = r.namespace AND v.name = r.name AND v.deleted_at IS NULL
      ORDER BY v.version DESC LIMIT 1
    ) AS content_hash
    FROM ${rowsOf({ place: "integer", namespace: "text", name: "text" }, asked)} ORDER BY place`);
  const equal = workflows.filter(({ content_hash }, i) => before[i]?.content_hash === content_hash);
  const latest = yield* together<VersionRow[]>(
    ...equal.map(({ extracted }) => latestOf(extracted.namespace, extracted.name)),
  );
  const found = new Map(equal.map((each, i) => [each, latest[i]?.[0]]));
  return workflows.map((each, i): RegisteredVersion => {
    const { extracted, content_hash } = each;
    const row = found.get(each);
    if (row) return { ...recordOf(row), created: false };
    const version = (before[i]?.version ?? 0) + 1;
    const created_at = formatInstant(at);
    return {
      ...extracted,
      version,
      content_hash,
      source_hash,
      created_at,
      created_by,
      created: true,
    };
  });
}

/** A row of a new version; what it shares with the others of its file comes apart. */
type NewVersionRow = Readonly<Record<keyof typeof NEW_VERSION, string | number>>;

const NEW_VERSION = {
  namespace: "text",
  name: "text",
  extracted: "text",
  version: "integer",
  content_hash: "text",
} as const;

function newOf(
  { workflows }: NewVersions,
  versions: readonly RegisteredVersion[],
): readonly NewVersionRow[] {
  return workflows.flatMap(({ extracted, content_hash }, i) => {
    const { namespace, name } = extracted;
    const { version = 0, created = false } = versions[i] ?? {};
    const row = { namespace, name, extracted: JSON.stringify(extracted), version, content_hash };
    return created ? [row] : [];
  });
}

/** Writes module and files unless they are there; answers what the files are found by. */
function* insertCode({ module, files }: NewVersions): Operation<string> {
  const text = JSON.stringify(files);
  const hash = createHash("sha256").update(text).digest("hex");
  yield* run(
    sql`INSERT INTO modules (hash, bundle) VALUES (${module.hash}, ${module.bundle})
      ON CONFLICT DO NOTHING`,
    sql`INSERT INTO file_sets (hash, files) VALUES (${hash}, ${text}) ON CONFLICT DO NOTHING`,
  );
  return hash;
}

function* insertVersions(
  made: readonly NewVersionRow[],
  of: NewVersions & { readonly file_set_hash: string; readonly at: number },
): Operation<void> {
  yield* run(sql`
    INSERT INTO workflow_versions (namespace, name, file_set_hash, ${COLUMNS})
    SELECT namespace, name, ${of.file_set_hash}, extracted, version, content_hash,
      ${of.source_hash}, ${of.module.hash}, ${of.at}, ${of.created_by}, NULL
    FROM ${rowsOf(NEW_VERSION, made)}`);
}

/** Workflows that one statement looks up or writes. */
const BATCH = 1_000;

function inBatches<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / BATCH);
  return Array.from({ length: count }, (_, i) => items.slice(i * BATCH, (i + 1) * BATCH));
}

function versionOf(row: VersionRow): StoredVersion {
  return { record: recordOf(row), module_hash: row.module_hash };
}

function recordOf(row: VersionRow): WorkflowRecord {
  return {
    // Parsed, since a record of an engine that read fewer options lacks them.
    ...ExtractedWorkflow.parse(JSON.parse(row.extracted)),
    version: row.version,
    content_hash: row.content_hash,
    source_hash: row.source_hash,
    created_at: formatInstant(row.created_at),
    created_by: row.created_by,
  };
}
