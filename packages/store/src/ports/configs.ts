import { type AuditEntry, EngineError, type Json } from "@engine/contract";
import {
  count,
  first,
  lock,
  now,
  type Operation,
  type Operations,
  page,
  reads,
  rows,
  run,
  writes,
} from "../operations/operation.ts";
import { anyOf, insertInto, overwriting, raw, type Sql, sql } from "../operations/sql.ts";
import { audited } from "./audit.ts";
import { changesBetween } from "./identity-write.ts";
import type { Page } from "./port.ts";
import type { NameFilter } from "./secrets.ts";

/** What is said of a configuration value. Instants are milliseconds since 1970. */
export interface ConfigInfo {
  readonly name: string;
  /** Grows with every value. */
  readonly version: number;
  readonly description: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** A subject; null: nobody, as without authorization. */
  readonly updated_by: string | null;
}

export interface ConfigRow extends ConfigInfo {
  readonly value: Json;
}

export interface NewConfig extends Pick<ConfigRow, "name" | "value" | "updated_by"> {
  /** As it was where it is undefined. */
  readonly description?: string | null | undefined;
  /** The version that it has to have now, 0 = none; any when undefined. */
  readonly if_version?: number | undefined;
}

/** Values that tasks read and nobody needs to hide (SEC-4). */
export interface ConfigPort {
  /** By name. */
  list(filter: NameFilter): Promise<Page<ConfigInfo>>;
  find(name: string): Promise<ConfigRow | undefined>;
  /** Those of these that there are, by name. */
  findAll(names: readonly string[]): Promise<readonly ConfigRow[]>;
  /** Rejects `conflict` where the version is another one. */
  put(config: NewConfig, audit?: AuditEntry): Promise<ConfigInfo>;
  /** False when there is none. */
  delete(name: string, audit?: AuditEntry): Promise<boolean>;
}

export const CONFIGS: Operations<ConfigPort> = {
  list: reads(({ names, limit, offset }) => {
    const from = sql`FROM configs WHERE ${names ? sql`name ${anyOf(names)}` : raw("true")}`;
    return page({ columns: INFO, from, order: raw("name"), limit, offset }, (info) => info);
  }),

  find: reads(function* (name) {
    const found = yield* first(
      sql<Stored>`SELECT ${INFO}, value FROM configs WHERE name = ${name}`,
    );
    return found && toRow(found);
  }),

  findAll: reads(function* (names) {
    const found = yield* rows(sql<Stored>`
      SELECT ${INFO}, value FROM configs WHERE name ${anyOf(names)} ORDER BY name`);
    return found.map(toRow);
  }),

  put: writes(function* ({ name, value, updated_by, description, if_version }, audit) {
    yield* lock(CONFIGS_LOCK);
    const before = yield* infoOf(name);
    refuseOtherVersion(`config ${name}`, before?.version ?? null, if_version);
    const at = yield* now();
    const info: ConfigInfo = {
      name,
      version: (before?.version ?? 0) + 1,
      description: description === undefined ? (before?.description ?? null) : description,
      created_at: before?.created_at ?? at,
      updated_at: at,
      updated_by,
    };
    const row = { ...info, value: JSON.stringify(value) };
    yield* run(sql`${insertInto("configs", row)} ${overwriting(row, ["name"])}`);
    yield* audited(audit && { ...audit, changes: changesBetween(before ?? null, info, AUDITED) });
    return info;
  }),

  delete: writes(function* (name, audit) {
    yield* lock(CONFIGS_LOCK);
    const before = yield* infoOf(name);
    const deleted = yield* count(sql`DELETE FROM configs WHERE name = ${name}`);
    if (!before || deleted === 0) return false;
    yield* audited(audit && { ...audit, changes: changesBetween(before, null, AUDITED) });
    return true;
  }),
};

/** @throws EngineError `conflict` for another version than the caller knows; 0 means none. */
export function refuseOtherVersion(
  what: string,
  current: number | null,
  if_version: number | undefined,
): void {
  if (if_version === undefined || if_version === (current ?? 0)) return;
  const is = current === null ? "does not exist" : `has version ${current}`;
  throw new EngineError("conflict", `${what} ${is}; read it again and decide anew`, {
    details: { version: current },
  });
}

const CONFIGS_LOCK = "configs";

/** Of a change, what the audit log keeps. */
const AUDITED = ["version", "description"] as const;

interface Stored extends ConfigInfo {
  readonly value: string;
}

const INFO: Sql<ConfigInfo> = raw("name, version, description, created_at, updated_at, updated_by");

function* infoOf(name: string): Operation<ConfigInfo | undefined> {
  return yield* first(sql<ConfigInfo>`SELECT ${INFO} FROM configs WHERE name = ${name}`);
}

function toRow({ value, ...info }: Stored): ConfigRow {
  return { ...info, value: JSON.parse(value) };
}
