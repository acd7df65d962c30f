/** What executions have under a key of the ring itself: routing inputs, and needs made of them (RIN-3). */
import { count, type Operation, rows } from "../operations/operation.ts";
import { raw, rowsOf, type Sql, sql } from "../operations/sql.ts";
import type { Rewrapped, StoredDataKey } from "../stored-keys.ts";

/** Only an execution with a routing input has needs that are hidden. */
const HAS_ROUTING = raw("routing_input IS NOT NULL");

const HIDDEN_TERMS = {
  sqlite: raw("requirements ->> '$.hidden.sealed'"),
  postgres: raw("requirements::json #>> '{hidden,sealed}'"),
};

/** Each sealed text with the id of its key; a routing input that is not sealed is JSON and begins so. */
const SEALED = sql`
  SELECT execution_id AS name, part AS version, text AS wrapped, ${{
    sqlite: raw("substr(text, 1, instr(text, ':') - 1)"),
    postgres: raw("split_part(text, ':', 1)"),
  }} AS key_id
  FROM (
    SELECT execution_id, 'input' AS part, routing_input AS text
      FROM executions WHERE ${HAS_ROUTING} AND routing_input NOT LIKE '{%'
    UNION ALL SELECT execution_id, 'terms' AS part, ${HIDDEN_TERMS} AS text
      FROM executions WHERE ${HAS_ROUTING} AND ${HIDDEN_TERMS} IS NOT NULL) AS texts`;

/** How many there are under each key, as columns `key_id` and `n`. */
export const ROUTING_USES: Sql = sql`
  SELECT key_id, count(*) AS n FROM (${SEALED}) AS sealed GROUP BY key_id`;

export function* staleRoutingTexts(
  key_id: string,
  after: { readonly name: string; readonly version: number | string } | undefined,
  limit: number,
): Operation<readonly StoredDataKey[]> {
  const found = yield* rows(sql<Omit<StoredDataKey, "of">>`
    SELECT name, version, key_id, wrapped FROM (${SEALED}) AS sealed
    WHERE key_id <> ${key_id}
      AND (name, version) > (${after?.name ?? ""}, ${String(after?.version ?? "")})
    ORDER BY 1, 2 LIMIT ${limit}`);
  return found.map((text) => ({ of: "routing", ...text }));
}

/** A row's own columns never change but for this: whoever has read them before can still open them. */
export function* resealRoutingTexts(texts: readonly Rewrapped[]): Operation<number> {
  const fresh = (part: string) =>
    rowsOf(
      { name: "text", sealed: "text", was: "text" },
      texts
        .filter(({ version }) => version === part)
        .map(({ name, wrapped, before }) => ({ name, sealed: wrapped, was: before })),
    );
  const inputs = yield* count(sql`
    UPDATE executions SET routing_input = r.sealed FROM ${fresh("input")}
    WHERE execution_id = r.name AND routing_input = r.was`);
  // A sealed text stands in JSON as it is.
  const terms = yield* count(sql`
    UPDATE executions SET requirements = replace(requirements, r.was, r.sealed)
    FROM ${fresh("terms")}
    WHERE execution_id = r.name AND ${HIDDEN_TERMS} = r.was`);
  return inputs + terms;
}
