import { count, type Operations, reads, rows, writes } from "../operations/operation.ts";
import { skipLocked, sql } from "../operations/sql.ts";
import type { Sealed } from "../sealing/envelope.ts";
import { raise } from "./epochs.ts";

/** A value that is masked in whatever is read: of a secret, or of what one was before. */
export interface MaskedRow extends Sealed {
  readonly name: string;
  readonly version: number;
}

/** What is masked in whatever is read (RED-2). */
export interface MaskPort {
  /** All of them as of one instant: what is replaced meanwhile is in it once, as what it was or is. */
  list(): Promise<readonly MaskedRow[]>;
  /** Deletes at most `limit` that were replaced or deleted before an instant; answers how many. */
  deleteRetired(before: number, limit: number): Promise<number>;
}

export const MASKS: Operations<MaskPort> = {
  list: reads(() =>
    rows(sql<MaskedRow>`
      SELECT name, version, key_id, wrapped, body FROM secrets WHERE unmasked = 0
      UNION ALL
      SELECT name, version, key_id, wrapped, body FROM masks
      ORDER BY name, version`),
  ),

  deleteRetired: writes(function* (before, limit) {
    const deleted = yield* count(sql`
      DELETE FROM masks WHERE (name, version) IN (
        SELECT name, version FROM masks WHERE retired_at < ${before}
        ORDER BY retired_at, name, version LIMIT ${limit} ${skipLocked})`);
    if (deleted > 0) yield* raise("masks");
    return deleted;
  }),
};
