import {
  type AuditEntry,
  EngineError,
  type SchedulePatch,
  type ScheduleRow,
  type ScheduleSource,
  type ScheduleStatus,
  scheduleDueAt,
  type WorkflowRecord,
} from "@engine/contract";
import {
  count,
  first,
  type Operation,
  type Operations,
  page,
  reads,
  rows,
  run,
  writes,
} from "../operations/operation.ts";
import {
  anyOf,
  assigned,
  forUpdate,
  insertInto,
  matching,
  raw,
  type Sql,
  sql,
} from "../operations/sql.ts";
import type { WrappedKey } from "../sealing/envelope.ts";
import type { Rewrapped, StoredDataKey } from "../stored-keys.ts";
import { seen, type Visible } from "../visible.ts";
import { audited } from "./audit.ts";
import type { Page } from "./port.ts";

export interface ScheduleFilter {
  readonly namespace?: string | undefined;
  readonly workflow?: string | undefined;
  /** Only of workflows that may be seen. */
  readonly visible?: Visible | undefined;
  /** Any of these; an empty list is none of them. */
  readonly names?: readonly string[] | undefined;
  readonly status?: ScheduleStatus | undefined;
  readonly source?: ScheduleSource | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A place in the order in which schedules are due. */
export interface DueSchedule {
  readonly name: string;
  readonly due_at: number;
}

export interface DueSchedulePage {
  /** The latest instant to be listed. */
  readonly until: number;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: DueSchedule | undefined;
}

/**
 * Looks at a schedule inside the transaction and says what to write; undefined writes nothing. Must
 * be pure: it may run again.
 */
export type DecideSchedule = (row: ScheduleRow) => SchedulePatch | undefined;

/** The row of the audit log for a change that was written; undefined for one of the engine's own. */
export type AuditSchedule = (before: ScheduleRow, after: ScheduleRow) => AuditEntry | undefined;

/** What becomes of a schedule, if there is one: another row, none (null), or nothing is written. */
export type PutSchedule = (row: ScheduleRow | undefined) => ScheduleRow | null | undefined;

/** The schedules a registration declares, saved with its versions (EXE-66). */
export interface DeclaredSchedules {
  readonly name: string;
  readonly put: PutSchedule;
}

/** What becomes of each schedule of a workflow when versions of it are deleted (EXE-70). */
export type PutAfterDeletion = (
  row: ScheduleRow,
  left: {
    /** The latest version that lives; undefined when none does. */
    readonly current: WorkflowRecord | undefined;
    readonly deleted: readonly number[];
  },
) => ReturnType<PutSchedule>;

/** Workflows that the engine starts by itself at instants (EXE-72). */
export interface SchedulePort {
  /** Rejects `schedule_exists` when the name is taken. */
  create(row: ScheduleRow, audit?: AuditEntry): Promise<ScheduleRow>;
  find(name: string): Promise<ScheduleRow | undefined>;
  /** By name. */
  list(filter: ScheduleFilter): Promise<Page<ScheduleRow>>;
  /**
   * Writes what `decide` says and counts a revision. Answers the row as it is then; undefined when
   * there is none. Rejects with what the decision threw.
   */
  change(
    name: string,
    decide: DecideSchedule,
    audit?: AuditSchedule,
  ): Promise<ScheduleRow | undefined>;
  /** False when there is none. */
  delete(name: string, audit?: AuditEntry): Promise<boolean>;
  /** Those the engine has to look at, by `scheduleDueAt` and name. */
  listDue(page: DueSchedulePage): Promise<readonly ScheduleRow[]>;
  /** Names of those whose routing input was stored before there was a key, at most `limit` (RIN-3). */
  listUnsealed(limit: number): Promise<readonly string[]>;
  /** The first instant behind `after` at which one is due; null when none is. */
  nextAt(after: number): Promise<number | null>;
}

export const SCHEDULES: Operations<SchedulePort> = {
  create: writes(function* (row, audit) {
    yield* insert(row);
    yield* audited(audit);
    return row;
  }),

  find: reads(function* (name) {
    const found = yield* first(sql<Stored>`SELECT record FROM schedules WHERE name = ${name}`);
    return found && readSchedule(found);
  }),

  list: reads(({ namespace, workflow, status, source, visible, names, limit, offset }) => {
    const named = names ? sql`name ${anyOf(names)}` : raw("true");
    const from = sql`FROM schedules
      WHERE ${matching({ namespace, workflow, status, source })}
        AND ${seen(visible, "workflow")} AND ${named}`;
    const order = raw("name");
    return page({ columns: sql<Stored>`record`, from, order, limit, offset }, readSchedule);
  }),

  change: writes(function* (name, decide, audit) {
    const found = yield* first(sql<Stored>`
      SELECT record FROM schedules WHERE name = ${name} ${forUpdate}`);
    const row = found && readSchedule(found);
    const patch = row && decide(row);
    if (!row || !patch) return row;
    const changed = { ...row, ...patch, revision: row.revision + 1 };
    yield* update(changed);
    yield* audited(audit?.(row, changed));
    return changed;
  }),

  delete: writes(function* (name, audit) {
    const isDeleted = (yield* count(deletion(name))) > 0;
    if (isDeleted) yield* audited(audit);
    return isDeleted;
  }),

  listDue: reads(function* ({ until, limit, after }) {
    const { due_at = Number.MIN_SAFE_INTEGER, name = "" } = after ?? {};
    const found = yield* rows(sql<Stored>`
      SELECT record FROM schedules
      WHERE due_at IS NOT NULL AND due_at <= ${until} AND (due_at, name) > (${due_at}, ${name})
      ORDER BY due_at, name LIMIT ${limit}`);
    return found.map(readSchedule);
  }),

  listUnsealed: reads(function* (limit) {
    const isEmpty = {
      sqlite: raw("record -> '$.routing_input' = '{}'"),
      postgres: raw("(record::jsonb -> 'routing_input') = '{}'::jsonb"),
    };
    const found = yield* rows(sql<{ name: string }>`
      SELECT name FROM schedules WHERE NOT (${isEmpty}) ORDER BY name LIMIT ${limit}`);
    return found.map(({ name }) => name);
  }),

  nextAt: reads(function* (after) {
    const found = yield* first(sql<{ due_at: number | null }>`
      SELECT min(due_at) AS due_at FROM schedules WHERE due_at IS NOT NULL AND due_at > ${after}`);
    return found?.due_at ?? null;
  }),
};

/** Inside a transaction of the catalog: what a registration declares. */
export function* putSchedules(
  declared: readonly DeclaredSchedules[],
  { dryRun }: { readonly dryRun: boolean },
): Operation<void> {
  const names = declared.map(({ name }) => name);
  const found = yield* rows(sql<Stored>`
    SELECT record FROM schedules WHERE name ${anyOf(names)} ORDER BY name ${forUpdate}`);
  const before = new Map(found.map(readSchedule).map((row) => [row.name, row]));
  for (const { name, put } of declared) {
    const row = put(before.get(name));
    if (!dryRun) yield* replace(name, before.has(name), row);
  }
}

/** Inside a transaction of the catalog: what becomes of a workflow's schedules. */
export function* putSchedulesOf(
  { namespace, workflow }: Pick<ScheduleRow, "namespace" | "workflow">,
  put: (row: ScheduleRow) => ReturnType<PutSchedule>,
): Operation<void> {
  const found = yield* rows(sql<Stored>`
    SELECT record FROM schedules WHERE ${matching({ namespace, workflow })}
    ORDER BY name ${forUpdate}`);
  for (const before of found.map(readSchedule)) {
    yield* replace(before.name, true, put(before));
  }
}

/** Keys of routing inputs that are wrapped with another key (SEC-3). */
export function* staleRouting(
  key_id: string,
  after: string,
  limit: number,
): Operation<readonly StoredDataKey[]> {
  const found = yield* rows(sql<Stored>`
    SELECT record FROM schedules WHERE routing_key_id <> ${key_id} AND name > ${after}
    ORDER BY name LIMIT ${limit}`);
  return found
    .map(readSchedule)
    .flatMap(({ name, id: version, routing_sealed: sealed }) =>
      sealed ? [{ of: "schedules", name, version, ...keyIn(sealed) }] : [],
    );
}

/** Keeps such keys wrapped anew, where they are still those they were; answers how many. */
export function* rewrapRouting(keys: readonly Rewrapped[]): Operation<number> {
  const names = keys.map(({ name }) => name);
  const found = yield* rows(sql<Stored>`
    SELECT record FROM schedules WHERE name ${anyOf(names)} ORDER BY name ${forUpdate}`);
  let rewrapped = 0;
  for (const row of found.map(readSchedule)) {
    const sealed = row.routing_sealed;
    const key = keys.find(({ name, before }) => name === row.name && before === sealed?.wrapped);
    if (!key || !sealed) continue;
    // Nothing that anybody sees of it has changed: it counts no revision.
    yield* update({ ...row, routing_sealed: { ...sealed, ...keyIn(key) } });
    rewrapped++;
  }
  return rewrapped;
}

function keyIn({ key_id, wrapped }: WrappedKey): WrappedKey {
  return { key_id, wrapped };
}

function* replace(name: string, isThere: boolean, row: ReturnType<PutSchedule>): Operation<void> {
  if (row === null) yield* run(deletion(name));
  else if (row) yield* isThere ? update(row) : insert(row);
}

/** A schedule is stored as its record; the columns beside it are what it is found by. */
interface Stored {
  readonly record: string;
}

function readSchedule({ record }: Stored): ScheduleRow {
  const row: ScheduleRow = JSON.parse(record);
  // Before there were keys a record said nothing of what is sealed.
  return { ...row, routing_sealed: row.routing_sealed ?? null };
}

type StoredColumn =
  | "name"
  | "namespace"
  | "workflow"
  | "status"
  | "source"
  | "due_at"
  | "routing_key_id"
  | "record";

function stored(row: ScheduleRow): Readonly<Record<StoredColumn, string | number | null>> {
  const { name, namespace, workflow, status, source } = row;
  const found_by = { name, namespace, workflow, status, source, due_at: scheduleDueAt(row) };
  const routing_key_id = row.routing_sealed?.key_id ?? null;
  return { ...found_by, routing_key_id, record: JSON.stringify(row) };
}

/** @throws EngineError `schedule_exists`, also when somebody created it since it was looked for. */
function* insert(row: ScheduleRow): Operation<void> {
  const inserted = yield* count(
    sql`${insertInto("schedules", stored(row))} ON CONFLICT DO NOTHING`,
  );
  if (inserted > 0) return;
  throw new EngineError("schedule_exists", `there is a schedule ${row.name} already`);
}

function* update(row: ScheduleRow): Operation<void> {
  const { name, ...columns } = stored(row);
  yield* run(sql`UPDATE schedules SET ${assigned(columns)} WHERE name = ${name}`);
}

function deletion(name: string): Sql {
  return sql`DELETE FROM schedules WHERE name = ${name}`;
}
