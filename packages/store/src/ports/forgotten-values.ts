import { type Operations, reads, rows, run, writesOnce } from "../operations/operation.ts";
import { anyOf, sql } from "../operations/sql.ts";

/** Executions that are gone, and whose values outside of the database may not be. */
export interface ForgottenValuePort {
  /** Executions that were deleted and whose stored values are not confirmed to be gone as well. */
  list(limit: number): Promise<readonly string[]>;
  /** Their stored values are gone. */
  confirm(execution_ids: readonly string[]): Promise<void>;
}

export const FORGOTTEN_VALUES: Operations<ForgottenValuePort> = {
  list: reads(function* (limit) {
    const found = yield* rows(sql<{ execution_id: string }>`
      SELECT execution_id FROM forgotten_values ORDER BY execution_id LIMIT ${limit}`);
    return found.map(({ execution_id }) => execution_id);
  }),

  confirm: writesOnce(function* (execution_ids) {
    yield* run(sql`DELETE FROM forgotten_values WHERE execution_id ${anyOf(execution_ids)}`);
  }),
};
