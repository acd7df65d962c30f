/** Metadata and grants of worker names (WMD-1 to WMD-3), parts of the operations that write names. */
import type { AuditEntry, ChangeAttributes, Metadata, OperatorAttributes } from "@engine/contract";
import { first, type Operation, run } from "../operations/operation.ts";
import { anyOf, insertInto, raw, type Sql, sql } from "../operations/sql.ts";
import { audited } from "./audit.ts";
import { changesBetween } from "./identity-write.ts";

/** What operators have said of a name, and how often they changed it. */
export interface HeldAttributes extends OperatorAttributes {
  /**
   * Counts the writes that changed any of it. It begins anew with a name that was forgotten; whoever
   * compares revisions compares sessions too, and those were forgotten with the name.
   */
  readonly revision: number;
}

export interface StoredAttributes {
  readonly revision: number;
  readonly metadata: string | null;
  readonly granted: string | null;
}

/** To be read of `workers AS w`. Neither keys nor names of services need to be quoted in JSON. */
export const ATTRIBUTE_COLUMNS: Sql<StoredAttributes> = raw(`w.revision, (
    SELECT string_agg('"' || m.key || '":' || m.value, ',')
    FROM worker_metadata AS m WHERE m.worker = w.name
  ) AS metadata, (
    SELECT string_agg(g.service, ' ') FROM worker_services AS g WHERE g.worker = w.name
  ) AS granted`);

/** Whether nobody has said anything of the name, read of `workers AS w`. */
export const UNDESCRIBED: Sql = raw(`
  NOT EXISTS (SELECT 1 FROM worker_metadata AS m WHERE m.worker = w.name)
  AND NOT EXISTS (SELECT 1 FROM worker_services AS g WHERE g.worker = w.name)`);

export function isDescribed({ metadata, granted }: OperatorAttributes): boolean {
  return granted.length > 0 || Object.keys(metadata).length > 0;
}

export function toAttributes({ revision, metadata, granted }: StoredAttributes): HeldAttributes {
  const read = Object.entries<string | number>(JSON.parse(`{${metadata ?? ""}}`));
  return {
    revision,
    metadata: Object.fromEntries(read.sort(([a], [b]) => (a < b ? -1 : 1))),
    granted: granted === null ? [] : granted.split(" ").sort(),
  };
}

/**
 * Writes what operators say of a name, under its lock; false for a name that never registered. What
 * stays as it was is no write: nothing counts it, and nothing is written down of it.
 */
export function* changingAttributes(
  worker: string,
  change: ChangeAttributes,
  audit?: AuditEntry,
): Operation<boolean> {
  const stored = yield* first(sql<StoredAttributes>`
    SELECT ${ATTRIBUTE_COLUMNS} FROM workers AS w WHERE w.name = ${worker}`);
  if (!stored) return false;
  const before = toAttributes(stored);
  const after = change(before);
  const differing = [...new Set([...keysOf(before), ...keysOf(after)])].filter(
    (key) => before.metadata[key] !== after.metadata[key],
  );
  const gone = before.granted.filter((service) => !after.granted.includes(service));
  const added = after.granted.filter((service) => !before.granted.includes(service));
  if (differing.length + gone.length + added.length === 0) return true;
  const values = Object.entries(only(differing, after.metadata));
  yield* run(
    sql`UPDATE workers SET revision = revision + 1 WHERE name = ${worker}`,
    sql`DELETE FROM worker_metadata WHERE worker = ${worker} AND key ${anyOf(differing)}`,
    ...values.map(([key, value]) =>
      insertInto("worker_metadata", { worker, key, value: JSON.stringify(value) }),
    ),
    sql`DELETE FROM worker_services WHERE worker = ${worker} AND service ${anyOf(gone)}`,
    ...added.map((service) => insertInto("worker_services", { worker, service })),
  );
  const changes = changesBetween(
    { metadata: only(differing, before.metadata), granted: before.granted },
    { metadata: only(differing, after.metadata), granted: after.granted },
    ["metadata", "granted"],
  );
  yield* audited(audit && { ...audit, changes });
  return true;
}

/** What to delete with a name. */
export function attributesOf(worker: string): readonly Sql[] {
  return [
    sql`DELETE FROM worker_metadata WHERE worker = ${worker}`,
    sql`DELETE FROM worker_services WHERE worker = ${worker}`,
  ];
}

function keysOf({ metadata }: OperatorAttributes): readonly string[] {
  return Object.keys(metadata);
}

function only(keys: readonly string[], metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => keys.includes(key)));
}
