import type { AuditEntry } from "@engine/contract";
import {
  count,
  first,
  now,
  type Operation,
  type Operations,
  reads,
  rows,
  run,
  writes,
  writesOnce,
} from "../operations/operation.ts";
import { insertInto, overwriting, raw, rowsOf, type Sql, sql } from "../operations/sql.ts";
import type { Sealed } from "../sealing/envelope.ts";
import type { KeyHolder, Rewrapped, StoredDataKey, StoredKeyPlace } from "../stored-keys.ts";
import { audited } from "./audit.ts";
import { ROUTING_USES, resealRoutingTexts, staleRoutingTexts } from "./routing-keys.ts";
import { rewrapRouting, staleRouting } from "./schedules.ts";

/** A text that is known, under a key: who cannot open it has another key of that id (SEC-1). */
export type KeyCheck = Sealed;

/** What is stored under a key. */
export interface KeyUse {
  readonly key_id: string;
  readonly rows: number;
}

/** A place in a table, in the order in which data keys are gone through. */
export type KeyCursor = Pick<StoredKeyPlace, "name" | "version">;

/** The keys of the ring, as what is stored knows them. */
export interface EncryptionPort {
  checks(): Promise<readonly KeyCheck[]>;
  /** Keeps those of keys that have none yet. */
  addChecks(checks: readonly KeyCheck[]): Promise<void>;
  /** By id. */
  uses(): Promise<readonly KeyUse[]>;
  /** Data keys of a table that are wrapped with another key, by name; of `routing` sealed texts. */
  stale(
    of: KeyHolder,
    key_id: string,
    page: { readonly after?: KeyCursor | undefined; readonly limit: number },
  ): Promise<readonly StoredDataKey[]>;
  /**
   * Keeps data keys of one table wrapped anew, all or none, except those that were changed meanwhile;
   * answers how many.
   */
  rewrap(of: KeyHolder, keys: readonly Rewrapped[]): Promise<number>;
  /** To which key everything is being wrapped; undefined where nothing is. */
  rotation(): Promise<string | undefined>;
  /** Notes that everything is to be wrapped with a key. */
  beginRotation(key_id: string, audit?: AuditEntry): Promise<void>;
  /** Notes that it is, unless another key was asked for meanwhile. */
  endRotation(key_id: string): Promise<void>;
}

export const ENCRYPTION: Operations<EncryptionPort> = {
  checks: reads(() =>
    rows(sql<KeyCheck>`SELECT key_id, wrapped, body FROM key_checks ORDER BY key_id`),
  ),

  addChecks: writes(function* (checks) {
    const created_at = yield* now();
    const insertions = checks.map(({ key_id, wrapped, body }) => {
      const row = { key_id, wrapped, body, created_at };
      return sql`${insertInto("key_checks", row)} ON CONFLICT (key_id) DO NOTHING`;
    });
    yield* run(...insertions);
  }),

  uses: reads(() =>
    rows(sql<KeyUse>`
      SELECT key_id, CAST(sum(n) AS bigint) AS rows FROM (
        SELECT key_id, count(*) AS n FROM secrets GROUP BY key_id
        UNION ALL SELECT key_id, count(*) AS n FROM masks GROUP BY key_id
        UNION ALL SELECT key_id, count(*) AS n FROM execution_keys GROUP BY key_id
        UNION ALL SELECT routing_key_id AS key_id, count(*) AS n FROM schedules
          WHERE routing_key_id IS NOT NULL GROUP BY routing_key_id
        UNION ALL ${ROUTING_USES}) AS used
      GROUP BY key_id ORDER BY key_id`),
  ),

  stale: reads(function* (of, key_id, { after, limit }) {
    if (of === "schedules") return yield* staleRouting(key_id, after?.name ?? "", limit);
    if (of === "routing") return yield* staleRoutingTexts(key_id, after, limit);
    const { name, version } = COLUMNS[of];
    const found = yield* rows(sql<Omit<StoredDataKey, "of">>`
      SELECT ${name} AS name, ${version} AS version, key_id, wrapped FROM ${raw(of)}
      WHERE key_id <> ${key_id}
        AND (${name}, ${version}) > (${after?.name ?? ""}, ${after?.version ?? FIRST[of]})
      ORDER BY 1, 2 LIMIT ${limit}`);
    return found.map((key) => ({ of, ...key }));
  }),

  rewrap: writes(function* (of, keys) {
    if (of === "schedules") return yield* rewrapRouting(keys);
    if (of === "routing") return yield* resealRoutingTexts(keys);
    const { name, version } = COLUMNS[of];
    const fresh = keys.map(({ name, version, key_id, wrapped, before: was }) => {
      return { name, version, key_id, wrapped, was };
    });
    const types = { name: "text", key_id: "text", wrapped: "text", was: "text" } as const;
    const columns = { ...types, version: of === "execution_keys" ? "text" : "bigint" } as const;
    return yield* count(sql`
      UPDATE ${raw(of)} SET key_id = r.key_id, wrapped = r.wrapped FROM ${rowsOf(columns, fresh)}
      WHERE ${name} = r.name AND ${version} = r.version AND ${raw(of)}.wrapped = r.was`);
  }),

  rotation: reads(rotation),

  beginRotation: writes(function* (key_id, audit) {
    const row = { singleton: 1, key_id, requested_at: yield* now() };
    yield* run(sql`${insertInto("key_rotation", row)} ${overwriting(row, ["singleton"])}`);
    yield* audited(audit);
  }),

  endRotation: writesOnce(function* (key_id) {
    yield* run(sql`DELETE FROM key_rotation WHERE key_id = ${key_id}`);
  }),
};

/** What a data key is called by, for each table that has its own columns for it. */
const COLUMNS: Readonly<
  Record<Exclude<KeyHolder, "schedules" | "routing">, { name: Sql; version: Sql }>
> = {
  secrets: { name: raw("secrets.name"), version: raw("secrets.version") },
  masks: { name: raw("masks.name"), version: raw("masks.version") },
  execution_keys: { name: raw("execution_keys.execution_id"), version: raw("''") },
};

/** A version before all others. */
const FIRST = { secrets: 0, masks: 0, execution_keys: "" } as const;

function* rotation(): Operation<string | undefined> {
  const row = yield* first(sql<{ key_id: string }>`SELECT key_id FROM key_rotation`);
  return row?.key_id;
}
