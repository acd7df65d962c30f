import {
  first,
  now,
  type Operation,
  type Operations,
  reads,
  run,
  writes,
} from "../operations/operation.ts";
import { insertInto, sql } from "../operations/sql.ts";
import type { WrappedKey } from "../sealing/envelope.ts";

/**
 * The data keys under which executions keep what nobody may read (SEC-9). They go with their executions.
 */
export interface ExecutionKeyPort {
  find(execution_id: string): Promise<WrappedKey | undefined>;
  /** Answers the one that is stored then: of several that are added for an execution the first. */
  add(execution_id: string, key: WrappedKey): Promise<WrappedKey>;
}

export const EXECUTION_KEYS: Operations<ExecutionKeyPort> = {
  find: reads(keyOf),

  add: writes(function* (execution_id, { key_id, wrapped }) {
    const row = { execution_id, key_id, wrapped, created_at: yield* now() };
    yield* run(sql`${insertInto("execution_keys", row)} ON CONFLICT (execution_id) DO NOTHING`);
    return (yield* keyOf(execution_id)) ?? { key_id, wrapped };
  }),
};

function* keyOf(execution_id: string): Operation<WrappedKey | undefined> {
  return yield* first(sql<WrappedKey>`
    SELECT key_id, wrapped FROM execution_keys WHERE execution_id = ${execution_id}`);
}
