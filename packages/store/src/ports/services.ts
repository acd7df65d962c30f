import { type AuditEntry, EngineError } from "@engine/contract";
import {
  first,
  lock,
  now,
  type Operation,
  type Operations,
  page,
  reads,
  run,
  writes,
} from "../operations/operation.ts";
import { anyOf, assigned, insertInto, raw, type Sql, sql } from "../operations/sql.ts";
import { audited } from "./audit.ts";
import { raise } from "./epochs.ts";
import { changesBetween } from "./identity-write.ts";
import type { Page } from "./port.ts";
import type { NameFilter } from "./secrets.ts";

/** What a service chooses, and how it shows itself. */
export interface ServiceChoice {
  readonly description: string | null;
  readonly namespaces: readonly string[];
  /** As `<namespace>/<name>`, like exclusions. */
  readonly workflows: readonly string[];
  readonly exclusions: readonly string[];
  readonly mcp_enabled: boolean;
}

/** A service. Instants are milliseconds since 1970. */
export interface ServiceRow extends ServiceChoice {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  readonly updated_at: number;
}

export type NewServiceRow = Omit<ServiceRow, "created_at" | "updated_at">;

/** Named choices of workflows. Each change raises the epoch of services. */
export interface ServicePort {
  /** By name. */
  list(filter: NameFilter): Promise<Page<ServiceRow>>;
  find(name: string): Promise<ServiceRow | undefined>;
  /** Rejects `service_exists` where the name is taken. */
  create(service: NewServiceRow, audit?: AuditEntry): Promise<ServiceRow>;
  /**
   * Changes a service in one transaction; undefined where there is none. One that stays as it was keeps
   * its instant, and nothing is written down of it.
   *
   * @param decide Must be pure: it may be asked again. What it throws leaves the service as it was.
   */
  change(
    name: string,
    decide: (service: ServiceChoice) => ServiceChoice,
    audit?: AuditEntry,
  ): Promise<ServiceRow | undefined>;
  /** False when there is none. */
  delete(name: string, audit?: AuditEntry): Promise<boolean>;
}

export const SERVICES: Operations<ServicePort> = {
  list: reads(({ names, limit, offset }) => {
    const from = sql`FROM services WHERE ${names ? sql`name ${anyOf(names)}` : raw("true")}`;
    return page({ columns: COLUMNS, from, order: raw("name"), limit, offset }, toRow);
  }),

  find: reads(find),

  create: writes(function* (service, audit) {
    yield* lock(SERVICES_LOCK);
    if (yield* find(service.name)) throw serviceExists(service.name);
    const at = yield* now();
    const row: ServiceRow = { ...service, created_at: at, updated_at: at };
    yield* run(insertInto("services", stored(row)));
    yield* raise("services");
    yield* audited(audit && { ...audit, changes: changesBetween(null, row, AUDITED) });
    return row;
  }),

  change: writes(function* (name, decide, audit) {
    yield* lock(SERVICES_LOCK);
    const before = yield* find(name);
    if (!before) return undefined;
    const { description, namespaces, workflows, exclusions, mcp_enabled } = decide(before);
    const choice = { description, namespaces, workflows, exclusions, mcp_enabled };
    const changes = changesBetween({ ...before }, { ...before, ...choice }, AUDITED);
    if (changes === null) return before;
    const after: ServiceRow = { ...before, ...choice, updated_at: yield* now() };
    const { name: _, ...columns } = stored(after);
    yield* run(sql`UPDATE services SET ${assigned(columns)} WHERE name = ${name}`);
    yield* raise("services");
    yield* audited(audit && { ...audit, changes });
    return after;
  }),

  delete: writes(function* (name, audit) {
    yield* lock(SERVICES_LOCK);
    const before = yield* find(name);
    if (!before) return false;
    yield* run(sql`DELETE FROM services WHERE name = ${name}`);
    yield* raise("services");
    yield* audited(audit && { ...audit, changes: changesBetween(before, null, AUDITED) });
    return true;
  }),
};

const SERVICES_LOCK = "services";

/** Of a change, what the audit log keeps. */
const AUDITED = ["description", "namespaces", "workflows", "exclusions", "mcp_enabled"] as const;

interface StoredService {
  readonly name: string;
  readonly id: string;
  readonly description: string | null;
  readonly namespaces: string;
  readonly workflows: string;
  readonly exclusions: string;
  readonly mcp_enabled: number;
  readonly created_at: number;
  readonly updated_at: number;
}

const COLUMNS: Sql<StoredService> = raw(
  "name, id, description, namespaces, workflows, exclusions, mcp_enabled, created_at, updated_at",
);

function* find(name: string): Operation<ServiceRow | undefined> {
  const found = yield* first(sql<StoredService>`
    SELECT ${COLUMNS} FROM services WHERE name = ${name}`);
  return found && toRow(found);
}

function toRow(row: StoredService): ServiceRow {
  return {
    ...row,
    namespaces: JSON.parse(row.namespaces),
    workflows: JSON.parse(row.workflows),
    exclusions: JSON.parse(row.exclusions),
    mcp_enabled: row.mcp_enabled === 1,
  };
}

function stored(row: ServiceRow): Readonly<Record<keyof StoredService, string | number | null>> {
  return {
    ...row,
    namespaces: JSON.stringify(row.namespaces),
    workflows: JSON.stringify(row.workflows),
    exclusions: JSON.stringify(row.exclusions),
    mcp_enabled: row.mcp_enabled ? 1 : 0,
  };
}

function serviceExists(name: string): EngineError {
  return new EngineError("service_exists", `service ${name} exists; choose another name`);
}
