import { createHash } from "node:crypto";
import {
  ExtractedWorkflow,
  formatInstant,
  type SourceFile,
  type WorkflowRecord,
} from "@engine/contract";
import type { PutAfterDeletion } from "../schedules.ts";
import type { NewVersions, Page, StoredVersion, WorkflowFilter } from "../store.ts";
import { seenInPostgres, type Visible, visibleJson, visibleSql } from "../visible.ts";
import type { Database, Lane, Query, Statement } from "./database.ts";
import type { Schedules } from "./schedules.ts";
import type { Serial } from "./serial.ts";

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

type Registered = readonly (WorkflowRecord & { created: boolean })[];

type Made = NewVersions["workflows"][number] & { readonly version: number };

/** What there is of a workflow: its last number, and the content of its latest live version. */
interface Before {
  readonly version: number | null;
  readonly content_hash: string | null;
}

/** Workflows that one statement looks up or writes. */
const BATCH = 1_000;

const COLUMNS =
  "extracted, version, content_hash, source_hash, module_hash, created_at, created_by, deleted_at";

/** Whoever registers or deletes versions holds it: numbers have no gaps, and code does not vanish. */
export const LOCK_CATALOG_SQL =
  "SELECT pg_advisory_xact_lock(hashtextextended('engine catalog', 0))";

const LIVE = "FROM workflow_versions WHERE deleted_at IS NULL";

/** The latest live version of each workflow that a namespace and a beginning of the name match. */
const LATEST = `
  FROM workflow_versions AS v
  WHERE version = (
    SELECT max(version) FROM workflow_versions
    WHERE namespace = v.namespace AND name = v.name AND deleted_at IS NULL
  ) AND namespace = coalesce($1::text, namespace) AND starts_with(name, $2)
    AND ${visibleSql(seenInPostgres("$3"), "name")}`;

export interface CatalogParts {
  readonly clock: () => number;
  readonly schedules: Schedules;
}

/**
 * Workflows by version. What a version holds never changes once it is written; deleting one only
 * marks it, so that its number stays taken and executions pinned to it keep their code. Retention takes
 * away what nobody needs any more, but not the number.
 */
export class Catalog {
  readonly #database: Database;
  readonly #writes: Serial;
  readonly #clock: () => number;
  readonly #schedules: Schedules;
  readonly #lock: Statement;
  readonly #latest: Statement;
  readonly #exact: Statement;
  readonly #ofModule: Statement;
  readonly #before: Statement;
  readonly #delete: Statement;
  readonly #insertVersions: Statement;
  readonly #insertModule: Statement;
  readonly #insertFiles: Statement;
  readonly #module: Statement;
  readonly #files: Statement;

  constructor(database: Database, writes: Serial, { clock, schedules }: CatalogParts) {
    this.#database = database;
    this.#writes = writes;
    this.#clock = clock;
    this.#schedules = schedules;
    const one = "FROM workflow_versions WHERE namespace = $1 AND name = $2";
    this.#lock = database.prepare(LOCK_CATALOG_SQL);
    this.#latest = database.prepare(
      `SELECT ${COLUMNS} ${one} AND deleted_at IS NULL ORDER BY version DESC LIMIT 1`,
    );
    this.#exact = database.prepare(`SELECT ${COLUMNS} ${one} AND version = $3`);
    this.#ofModule = database.prepare(
      `SELECT ${COLUMNS} ${one} AND module_hash = $3
       ORDER BY (deleted_at IS NULL) DESC, version DESC LIMIT 1`,
    );
    this.#before = database.prepare(`
      SELECT greatest(
        (SELECT max(version) FROM workflow_versions AS v
          WHERE v.namespace = asked.namespace AND v.name = asked.name),
        (SELECT max(version) FROM retired_versions AS r
          WHERE r.namespace = asked.namespace AND r.name = asked.name)
      ) AS version, (
        SELECT content_hash FROM workflow_versions AS v
        WHERE v.namespace = asked.namespace AND v.name = asked.name AND deleted_at IS NULL
        ORDER BY version DESC LIMIT 1
      ) AS content_hash
      FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (namespace, name, place)
      ORDER BY place`);
    this.#delete = database.prepare(`
      UPDATE workflow_versions SET deleted_at = $1
      WHERE namespace = $2 AND name = $3 AND version = coalesce($4, version) AND deleted_at IS NULL
      RETURNING version`);
    this.#insertVersions = database.prepare(`
      INSERT INTO workflow_versions (namespace, name, file_set_hash, ${COLUMNS})
      SELECT namespace, name, $6, extracted, version, content_hash, $7, $8, $9, $10, NULL
      FROM unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[])
        AS made (namespace, name, extracted, version, content_hash)`);
    this.#insertModule = database.prepare(
      "INSERT INTO modules (hash, bundle) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    );
    this.#insertFiles = database.prepare(
      "INSERT INTO file_sets (hash, files) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    );
    this.#module = database.prepare("SELECT bundle FROM modules WHERE hash = $1");
    this.#files = database.prepare(`
      SELECT files FROM file_sets WHERE hash = (SELECT file_set_hash ${one} AND version = $3)`);
  }

  register(
    fresh: NewVersions,
    { dryRun = false }: { readonly dryRun?: boolean | undefined } = {},
  ): Promise<Registered> {
    const files = JSON.stringify(fresh.files);
    const fileSetHash = createHash("sha256").update(files).digest("hex");
    return this.#writes.write(() =>
      this.#database.transaction(async (lane) => {
        // One registration at a time on all replicas: the numbers of versions have no gaps.
        await lane.pipelined([this.#lock]);
        const at = this.#clock();
        const items: Registered[number][] = [];
        const kept: Query[] = [
          [this.#insertModule, fresh.module.hash, fresh.module.bundle],
          [this.#insertFiles, fileSetHash, files],
        ];
        let isKept = false;
        for (const workflows of inBatches(fresh.workflows)) {
          const batch = await this.#versionsOf(lane, { ...fresh, workflows }, at);
          items.push(...batch);
          const made = workflows.flatMap((each, index): Made[] => {
            const { version = 0, created = false } = batch[index] ?? {};
            return created ? [{ ...each, version }] : [];
          });
          if (dryRun || made.length === 0) continue;
          await lane.pipelined(
            ...(isKept ? [] : kept),
            this.#insertion(made, { fileSetHash, at, fresh }),
          );
          isKept = true;
        }
        if (fresh.schedules) await this.#schedules.put(lane, fresh.schedules, { dryRun });
        return items;
      }),
    );
  }

  /** What registering makes of workflows, or the versions that are there and equal. */
  async #versionsOf(lane: Lane, fresh: NewVersions, at: number): Promise<Registered> {
    const { workflows } = fresh;
    const [before = []] = await lane.pipelined<Before>([
      this.#before,
      workflows.map(({ extracted }) => extracted.namespace),
      workflows.map(({ extracted }) => extracted.name),
    ]);
    const equal = workflows.filter(
      ({ content_hash }, index) => before[index]?.content_hash === content_hash,
    );
    const latest = await lane.pipelined<VersionRow>(
      ...equal.map(({ extracted }): Query => [this.#latest, extracted.namespace, extracted.name]),
    );
    const found = new Map(equal.map((each, index) => [each, latest[index]?.[0]]));
    return workflows.map((each, index): Registered[number] => {
      const { extracted, content_hash } = each;
      const row = found.get(each);
      if (row) return { ...recordOf(row), created: false };
      return {
        ...extracted,
        version: (before[index]?.version ?? 0) + 1,
        content_hash,
        source_hash: fresh.source_hash,
        created_at: formatInstant(at),
        created_by: fresh.created_by,
        created: true,
      };
    });
  }

  #insertion(
    made: readonly Made[],
    { fileSetHash, at, fresh }: { fileSetHash: string; at: number; fresh: NewVersions },
  ): Query {
    const { source_hash, module, created_by } = fresh;
    return [
      this.#insertVersions,
      made.map(({ extracted }) => extracted.namespace),
      made.map(({ extracted }) => extracted.name),
      made.map(({ extracted }) => JSON.stringify(extracted)),
      made.map(({ version }) => String(version)),
      made.map(({ content_hash }) => content_hash),
      fileSetHash,
      source_hash,
      module.hash,
      at,
      created_by,
    ];
  }

  delete(
    namespace: string,
    name: string,
    version?: number,
    put?: PutAfterDeletion,
  ): Promise<readonly number[]> {
    return this.#writes.write(() =>
      this.#database.transaction(async (lane) => {
        const at = this.#clock();
        const [, rows = []] = await lane.pipelined<{ version: number }>(
          [this.#lock],
          [this.#delete, at, namespace, name, version ?? null],
        );
        const deleted = rows.map((row) => row.version).sort((a, b) => b - a);
        if (deleted.length === 0 || !put) return deleted;
        const [[latest] = []] = await lane.pipelined<VersionRow>([this.#latest, namespace, name]);
        const current = latest && recordOf(latest);
        for (const schedule of await this.#schedules.ofWorkflow(lane, namespace, name)) {
          const after = put(schedule, { current, deleted });
          const { name } = schedule;
          await this.#schedules.put(lane, [{ name, put: () => after }], { dryRun: false });
        }
        return deleted;
      }),
    );
  }

  async find(
    namespace: string,
    name: string,
    version?: number,
    { deleted = false }: { readonly deleted?: boolean } = {},
  ): Promise<StoredVersion | undefined> {
    const [row] = await (version === undefined
      ? this.#database.read<VersionRow>(this.#latest, namespace, name)
      : this.#database.read<VersionRow>(this.#exact, namespace, name, version));
    if (!row || (row.deleted_at !== null && !deleted)) return undefined;
    return { record: recordOf(row), module_hash: row.module_hash };
  }

  async findOfModule(
    namespace: string,
    name: string,
    module_hash: string,
  ): Promise<StoredVersion | undefined> {
    const [row] = await this.#database.read<VersionRow>(
      this.#ofModule,
      namespace,
      name,
      module_hash,
    );
    return row && { record: recordOf(row), module_hash };
  }

  listWorkflows({
    namespace = undefined,
    name = "",
    visible = undefined,
    ...page
  }: WorkflowFilter): Promise<Page<WorkflowRecord>> {
    const where = [namespace ?? null, name, visibleJson(visible)];
    return this.#page<VersionRow, WorkflowRecord>(
      [
        { text: `SELECT ${COLUMNS} ${LATEST} ORDER BY namespace, name LIMIT $4 OFFSET $5` },
        ...where,
        page.limit,
        page.offset,
      ],
      [{ text: `SELECT count(*) AS total ${LATEST}` }, ...where],
      recordOf,
    );
  }

  listVersions(
    namespace: string,
    name: string,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<Page<WorkflowRecord>> {
    const from = `${LIVE} AND namespace = $1 AND name = $2`;
    return this.#page<VersionRow, WorkflowRecord>(
      [
        { text: `SELECT ${COLUMNS} ${from} ORDER BY version DESC LIMIT $3 OFFSET $4` },
        namespace,
        name,
        limit,
        offset,
      ],
      [{ text: `SELECT count(*) AS total ${from}` }, namespace, name],
      recordOf,
    );
  }

  listNamespaces({
    limit,
    offset,
    visible,
  }: {
    limit: number;
    offset: number;
    visible?: Visible | undefined;
  }): Promise<Page<{ namespace: string; workflow_count: number }>> {
    const from = `${LIVE} AND ${visibleSql(seenInPostgres("$1"), "name")}`;
    const seen = visibleJson(visible);
    const text = `SELECT namespace, count(DISTINCT name) AS workflow_count ${from}
      GROUP BY namespace ORDER BY namespace LIMIT $2 OFFSET $3`;
    return this.#page<NamespaceRow, NamespaceRow>(
      [{ text }, seen, limit, offset],
      [{ text: `SELECT count(DISTINCT namespace) AS total ${from}` }, seen],
      (row) => row,
    );
  }

  async readFiles(
    namespace: string,
    name: string,
    version: number,
  ): Promise<readonly SourceFile[]> {
    const [row] = await this.#database.read<{ files: string }>(
      this.#files,
      namespace,
      name,
      version,
    );
    return row ? JSON.parse(row.files) : [];
  }

  async readModule(hash: string): Promise<string | undefined> {
    const [row] = await this.#database.read<{ bundle: string }>(this.#module, hash);
    return row?.bundle;
  }

  async #page<Row, Item>(
    items: Query,
    total: Query,
    toItem: (row: Row) => Item,
  ): Promise<Page<Item>> {
    const [rows, totals] = (await this.#database.readAll<unknown>(items, total)) as [
      Row[],
      Total[],
    ];
    return { items: rows.map(toItem), total: totals[0]?.total ?? 0 };
  }
}

interface NamespaceRow {
  readonly namespace: string;
  readonly workflow_count: number;
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

function inBatches<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / BATCH);
  return Array.from({ length: count }, (_, i) => items.slice(i * BATCH, (i + 1) * BATCH));
}
