import type { AuditEntry } from "@engine/contract";
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
  writes,
} from "../operations/operation.ts";
import {
  anyOf,
  forUpdate,
  insertInto,
  overwriting,
  raw,
  type Sql,
  sql,
} from "../operations/sql.ts";
import type { Sealed } from "../sealing/envelope.ts";
import { audited } from "./audit.ts";
import { raise } from "./epochs.ts";
import { changesBetween } from "./identity-write.ts";
import type { Page } from "./port.ts";

/** What is said of a secret without opening it. Instants are milliseconds since 1970. */
export interface SecretInfo {
  readonly name: string;
  /** Grows with every value; it goes on behind one that was deleted and is still masked. */
  readonly version: number;
  readonly description: string | null;
  /** Its values are shown wherever they turn up. */
  readonly unmasked: boolean;
  /** How many of its values are masked. */
  readonly masked_values: number;
  readonly key_id: string;
  readonly created_at: number;
  readonly updated_at: number;
  /** A subject; null: nobody, as without authorization. */
  readonly updated_by: string | null;
}

/** With its value, which only those who have the key can read. */
export interface SecretRow extends SecretInfo, Sealed {}

/** What the next value of a secret comes after: it is sealed for its version before it is written. */
export interface SecretSlot {
  /** Null: there is no such secret. */
  readonly current_version: number | null;
  readonly next_version: number;
  readonly description: string | null;
}

export type NewSecret = Omit<SecretRow, "created_at" | "updated_at">;

export interface NameFilter {
  /** Any of these; an empty list is none of them. */
  readonly names?: readonly string[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Values that only tasks and those who may read them see (SEC-4). */
export interface SecretPort {
  /** By name. */
  list(filter: NameFilter): Promise<Page<SecretInfo>>;
  find(name: string): Promise<SecretRow | undefined>;
  /** Those of these that there are, by name. */
  findAll(names: readonly string[]): Promise<readonly SecretRow[]>;
  slot(name: string): Promise<SecretSlot>;
  /**
   * Keeps a value. What it replaces stays masked (RED-2). Undefined, and nothing was written, where
   * somebody else was faster: the slot is another one by now.
   */
  put(
    secret: NewSecret,
    slot: Pick<SecretSlot, "current_version">,
    audit?: AuditEntry,
  ): Promise<SecretInfo | undefined>;
  /** False when there is none. Its value stays masked. */
  delete(name: string, audit?: AuditEntry): Promise<boolean>;
}

export const SECRETS: Operations<SecretPort> = {
  list: reads(({ names, limit, offset }) => {
    const from = sql`FROM secrets WHERE ${names ? sql`name ${anyOf(names)}` : raw("true")}`;
    return page({ columns: INFO, from, order: raw("name"), limit, offset }, toInfo);
  }),

  find: reads(function* (name) {
    const found = yield* first(sql<Stored>`
      SELECT ${INFO}, wrapped, body FROM secrets WHERE name = ${name}`);
    return found && toRow(found);
  }),

  findAll: reads(function* (names) {
    const found = yield* rows(sql<Stored>`
      SELECT ${INFO}, wrapped, body FROM secrets WHERE name ${anyOf(names)} ORDER BY name`);
    return found.map(toRow);
  }),

  slot: reads(slotOf),

  put: writes(function* (secret, { current_version }, audit) {
    const { name, version, unmasked, ...others } = secret;
    yield* lock(SECRETS_LOCK);
    const slot = yield* slotOf(name);
    if (slot.current_version !== current_version || slot.next_version !== version) return undefined;
    const before = yield* lockedInfo(name);
    yield* retire(name);
    const at = yield* now();
    const created_at = before?.created_at ?? at;
    const stored = { name, version, unmasked: unmasked ? 1 : 0, ...others };
    const row = { ...stored, created_at, updated_at: at };
    yield* run(sql`${insertInto("secrets", row)} ${overwriting(row, ["name"])}`);
    yield* raise("masks");
    const { wrapped: _, body: __, ...info } = { ...secret, created_at, updated_at: at };
    yield* audited(audit && { ...audit, changes: changesBetween(before ?? null, info, AUDITED) });
    return info;
  }),

  delete: writes(function* (name, audit) {
    yield* lock(SECRETS_LOCK);
    const before = yield* lockedInfo(name);
    if (!before) return false;
    yield* retire(name);
    yield* run(sql`DELETE FROM secrets WHERE name = ${name}`);
    yield* raise("masks");
    yield* audited(audit && { ...audit, changes: changesBetween(before, null, AUDITED) });
    return true;
  }),
};

/** Whoever writes a secret does so alone: there are few of them, and seldom. */
const SECRETS_LOCK = "secrets";

/** Of a change, what the audit log keeps: never a value. */
const AUDITED = ["version", "description", "unmasked", "masked_values", "key_id"] as const;

type StoredInfo = Omit<SecretInfo, "unmasked"> & { readonly unmasked: number };
type Stored = StoredInfo & Sealed;

const INFO: Sql<StoredInfo> = raw(`name, version, description, unmasked, masked_values, key_id,
  created_at, updated_at, updated_by`);

function* slotOf(name: string): Operation<SecretSlot> {
  const current = yield* first(sql<Pick<SecretInfo, "version" | "description">>`
    SELECT version, description FROM secrets WHERE name = ${name}`);
  // A version that is masked is not given again: its row says what belongs to it.
  const retired = yield* first(sql<{ version: number | null }>`
    SELECT max(version) AS version FROM masks WHERE name = ${name}`);
  const last = Math.max(current?.version ?? 0, retired?.version ?? 0);
  const current_version = current?.version ?? null;
  return { current_version, next_version: last + 1, description: current?.description ?? null };
}

/** Nobody wraps its key anew until the transaction ends. */
function* lockedInfo(name: string): Operation<SecretInfo | undefined> {
  const found = yield* first(sql<StoredInfo>`
    SELECT ${INFO} FROM secrets WHERE name = ${name} ${forUpdate}`);
  return found && toInfo(found);
}

/** What a secret was goes to what stays masked, as it is sealed. */
function* retire(name: string): Operation<void> {
  const retired_at = yield* now();
  yield* run(sql`
    INSERT INTO masks (name, version, key_id, wrapped, body, retired_at)
    SELECT name, version, key_id, wrapped, body, ${retired_at} FROM secrets
    WHERE name = ${name} AND unmasked = 0`);
}

function toInfo({ unmasked, ...others }: StoredInfo): SecretInfo {
  return { ...others, unmasked: unmasked === 1 };
}

function toRow({ unmasked, ...others }: Stored): SecretRow {
  return { ...others, unmasked: unmasked === 1 };
}
