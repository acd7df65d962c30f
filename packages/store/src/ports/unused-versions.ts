import { setImmediate as nextTurn } from "node:timers/promises";
import { type Desk, lock, type Operation, rows, run } from "../operations/operation.ts";
import { greatest, raw, sql } from "../operations/sql.ts";

/**
 * Held by each transaction that registers or deletes versions, on any server: so the numbers of
 * versions have no gaps, and code that is being registered is not deleted as unused.
 */
export const CATALOG_LOCK = "engine catalog";

/** A version that was marked deleted. */
interface DeletedVersion {
  readonly namespace: string;
  readonly name: string;
  readonly version: number;
  readonly module_hash: string;
}

/** Deletes versions that were marked deleted and that no execution needs; answers how many. */
export async function deleteUnusedVersions(
  desk: Desk,
  limit: number,
  deleted_before?: number,
): Promise<number> {
  const before = deleted_before === undefined ? raw("") : sql`AND deleted_at < ${deleted_before}`;
  const deleted = await desk.read(() =>
    rows(sql<DeletedVersion>`
      SELECT namespace, name, version, module_hash FROM workflow_versions
      WHERE deleted_at IS NOT NULL ${before} ORDER BY deleted_at, namespace, name, version`),
  );
  const unused = (await withoutExecutions(desk, deleted)).slice(0, limit);
  if (unused.length > 0) await desk.write(() => retire(unused));
  return unused.length;
}

/**
 * Versions whose module no execution is pinned to. A version is also needed by executions of others in
 * its file, which may call it.
 */
async function withoutExecutions(
  desk: Desk,
  versions: readonly DeletedVersion[],
): Promise<readonly DeletedVersion[]> {
  let unused = versions;
  for (let after = ""; unused.length > 0; ) {
    await nextTurn();
    const modules = await desk.read(() => modulesBehind(after));
    const last = modules[0]?.last;
    if (last === undefined) break;
    const used = new Set(modules.map(({ module_hash }) => module_hash));
    unused = unused.filter(({ module_hash }) => !used.has(module_hash));
    after = last;
  }
  return unused;
}

/** Executions that are looked at in one turn of the event loop. */
const LOOKED_AT = 500;

/** The modules that a part of all executions is pinned to, and the id of the last of them. */
function modulesBehind(
  after: string,
): Operation<readonly { readonly module_hash: string | null; readonly last: string }[]> {
  return rows(sql`
    WITH page AS (
      SELECT execution_id, module_hash FROM executions
      WHERE execution_id > ${after} ORDER BY execution_id LIMIT ${LOOKED_AT})
    SELECT DISTINCT module_hash, (SELECT max(execution_id) FROM page) AS last FROM page`);
}

function* retire(versions: readonly DeletedVersion[]): Operation<void> {
  yield* lock(CATALOG_LOCK);
  for (const { namespace, name, version } of versions) {
    yield* run(
      sql`INSERT INTO retired_versions AS r (namespace, name, version)
        VALUES (${namespace}, ${name}, ${version}) ON CONFLICT (namespace, name)
        DO UPDATE SET version = ${greatest}(r.version, excluded.version)`,
      sql`DELETE FROM workflow_versions
        WHERE namespace = ${namespace} AND name = ${name} AND version = ${version}`,
    );
  }
  yield* run(
    sql`DELETE FROM modules WHERE hash NOT IN (SELECT module_hash FROM workflow_versions)`,
    sql`DELETE FROM file_sets WHERE hash NOT IN (SELECT file_set_hash FROM workflow_versions)`,
  );
}
