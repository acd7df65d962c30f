import {
  type AuditEntry,
  type ChangeAttributes,
  SERVICE_PREFIX,
  type WorkerActivity,
} from "@engine/contract";
import {
  type Desk,
  first,
  lock,
  type Operation,
  type Operations,
  reads,
  rows,
  run,
  writes,
  writesInSteps,
} from "../operations/operation.ts";
import { allOf, anyOf, type ByDialect, raw, type Sql, sql } from "../operations/sql.ts";
import {
  SESSION_COLUMNS,
  type SessionRow,
  type StoredSession,
  toSession,
} from "../session-record.ts";
import { audited } from "./audit.ts";
import {
  ATTRIBUTE_COLUMNS,
  attributesOf,
  changingAttributes,
  type HeldAttributes,
  isDescribed,
  type StoredAttributes,
  toAttributes,
  UNDESCRIBED,
} from "./worker-attributes.ts";
import { workerLock } from "./worker-lock.ts";

/** A worker's name and what operators have said of it. It outlives its sessions (WRK-1). */
export interface WorkerRow {
  readonly name: string;
  readonly desired_state: WorkerActivity;
  readonly registered_at: number;
  /** Its newest session, live or ended; null only for names made by an operator. */
  readonly session: SessionRow | null;
  /** Executions it owns. */
  readonly load: number;
  readonly attributes: HeldAttributes;
}

export interface WorkerFilter {
  /** Each label with this value, those of granted services too. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly name?: string | undefined;
  /** Any of these; an empty list is none of them. */
  readonly names?: readonly string[] | undefined;
}

/** The names of workers, which outlive their sessions. */
export interface WorkerPort {
  /** Workers by name, those that an operator may see. */
  list(filter?: WorkerFilter): Promise<readonly WorkerRow[]>;
  find(name: string): Promise<WorkerRow | undefined>;
  /** Undefined when the name never registered. Holds for every claim that begins after it. */
  desire(name: string, desired: WorkerActivity, audit?: AuditEntry): Promise<WorkerRow | undefined>;
  /**
   * Writes metadata and grants; undefined when the name never registered. Holds for every claim that
   * begins after it (WMD-2). What stays as it was is no write.
   *
   * @param change Must be pure: it may be asked again. What it throws leaves everything as it was.
   */
  changeAttributes(
    name: string,
    change: ChangeAttributes,
    audit?: AuditEntry,
  ): Promise<WorkerRow | undefined>;
  /** Forgets a name with its sessions and what was said of it; undefined: there is none, false: its session lives. */
  delete(name: string, audit?: AuditEntry): Promise<boolean | undefined>;
  /**
   * Forgets names that were offline since before an instant and of which operators have said nothing:
   * no pause, no metadata, no grant. Answers which.
   */
  deleteUnused(before: number, limit: number): Promise<readonly string[]>;
}

export const WORKERS: Operations<WorkerPort> = {
  list: reads(function* ({ labels = {}, name, names } = {}) {
    const named = name === undefined ? raw("") : sql`AND w.name = ${name}`;
    const among = names ? sql`AND w.name ${anyOf(names)}` : raw("");
    const found = yield* rows(sql<StoredWorker>`
      ${SELECT} WHERE ${hasLabels(labels)} ${named} ${among} ORDER BY w.name`);
    return found.map(toWorker);
  }),

  find: reads(find),

  desire: writes(function* (name, desired, audit) {
    yield* run(sql`UPDATE workers SET desired_state = ${desired} WHERE name = ${name}`);
    const worker = yield* find(name);
    if (worker) yield* audited(audit);
    return worker;
  }),

  changeAttributes: writes(function* (name, change, audit) {
    yield* lock(workerLock(name));
    yield* changingAttributes(name, change, audit);
    return yield* find(name);
  }),

  delete: writes(function* (name, audit) {
    yield* lock(workerLock(name));
    const worker = yield* find(name);
    if (!worker) return undefined;
    const { session } = worker;
    if (session?.ended_at === null && session.lost_at === null) return false;
    yield* forget(name);
    yield* audited(audit);
    return true;
  }),

  deleteUnused: writesInSteps(async (desk: Desk, before, limit) => {
    const unused = await desk.read(() =>
      rows(sql<{ name: string }>`
        SELECT w.name FROM workers AS w JOIN sessions ON session_id = (${NEWEST_SESSION})
        WHERE desired_state <> 'paused' AND ${UNDESCRIBED}
          AND coalesce(ended_at, lost_at) < ${before}
        ORDER BY w.name LIMIT ${limit}`),
    );
    const deleted: string[] = [];
    for (const { name } of unused) {
      if (await desk.write(() => forgetUnused(name, before))) deleted.push(name);
    }
    return deleted;
  }),
};

type StoredWorker = StoredSession & StoredAttributes & Omit<WorkerRow, "session" | "attributes">;

/** The live session of a name, else the one that began last. */
const NEWEST_SESSION = raw(`
  SELECT n.session_id FROM sessions AS n WHERE n.worker = w.name
  ORDER BY (ended_at IS NULL) DESC, created_at DESC, session_id DESC LIMIT 1`);

const SELECT: Sql = sql`
  SELECT w.name, w.desired_state, w.registered_at, ${ATTRIBUTE_COLUMNS}, ${SESSION_COLUMNS}, (
    SELECT count(*) FROM executions AS e
    WHERE e.session IS NOT NULL AND e.session = sessions.session_id
  ) AS load
  FROM workers AS w LEFT JOIN sessions ON session_id = (${NEWEST_SESSION})`;

function hasLabels(labels: Readonly<Record<string, string>>): Sql {
  const isMade = ([key]: readonly [string, string]) => key.startsWith(SERVICE_PREFIX);
  const asked = Object.entries(labels);
  const own = asked.filter((label) => !isMade(label));
  return allOf([
    ...(own.length > 0 ? [sql`${hasOwnLabels(Object.fromEntries(own))}`] : []),
    ...asked.filter(isMade).map(hasService),
  ]);
}

function hasOwnLabels(labels: Readonly<Record<string, string>>): ByDialect {
  const text = JSON.stringify(labels);
  return {
    sqlite: sql`NOT EXISTS (
      SELECT 1 FROM json_each(${text}) AS asked WHERE NOT EXISTS (
        SELECT 1 FROM json_each(sessions.labels) AS has
        WHERE has.key = asked.key AND has.value = asked.value))`,
    postgres: sql`labels::jsonb @> ${text}::jsonb`,
  };
}

/** Whether it has the label that the server makes of a service which is offered and granted (WMD-3). */
function hasService([key, value]: readonly [string, string]): Sql {
  if (value !== "true") return raw("false");
  const service = key.slice(SERVICE_PREFIX.length);
  const offers: ByDialect = {
    sqlite: sql`EXISTS (
      SELECT 1 FROM json_each(sessions.services) AS offered WHERE offered.value = ${service})`,
    postgres: sql`sessions.services::jsonb @> ${JSON.stringify([service])}::jsonb`,
  };
  return sql`${offers} AND EXISTS (
    SELECT 1 FROM worker_services AS g WHERE g.worker = w.name AND g.service = ${service})`;
}

function* find(name: string): Operation<WorkerRow | undefined> {
  const row = yield* first(sql<StoredWorker>`${SELECT} WHERE w.name = ${name}`);
  return row && toWorker(row);
}

/** Forgets a name that was found to be unused, unless its worker has come back since. */
function* forgetUnused(name: string, before: number): Operation<boolean> {
  yield* lock(workerLock(name));
  const worker = yield* find(name);
  if (!worker?.session || worker.desired_state === "paused") return false;
  if (isDescribed(worker.attributes)) return false;
  const { ended_at, lost_at } = worker.session;
  if ((ended_at ?? lost_at ?? before) >= before) return false;
  yield* forget(name);
  return true;
}

function forget(name: string): Operation<void> {
  return run(
    sql`DELETE FROM session_beats WHERE session_id IN (
      SELECT session_id FROM sessions WHERE worker = ${name})`,
    sql`DELETE FROM sessions WHERE worker = ${name}`,
    ...attributesOf(name),
    sql`DELETE FROM workers WHERE name = ${name}`,
  );
}

function toWorker(row: StoredWorker): WorkerRow {
  const { name, desired_state, registered_at, load, ...rest } = row;
  const { revision, metadata, granted, ...session } = rest;
  return {
    name,
    desired_state,
    registered_at,
    session: session.session_id === null ? null : toSession(session),
    load,
    attributes: toAttributes({ revision, metadata, granted }),
  };
}
