import { first, type Operation, type Operations, reads, run } from "../operations/operation.ts";
import { raw, sql } from "../operations/sql.ts";

/**
 * Numbers that grow with every change of what they stand for (AUTH-57): who may do what, which values
 * are masked, the services, the catalog, the hooks.
 */
export interface Epochs {
  readonly identity: number;
  readonly masks: number;
  readonly services: number;
  readonly catalog: number;
  readonly hooks: number;
}

export type EpochName = keyof Epochs;

export interface EpochPort {
  read(): Promise<Epochs>;
}

export const EPOCHS: Operations<EpochPort> = {
  read: reads(function* () {
    const row = yield* first(sql<Epochs>`
      SELECT identity, masks, services, catalog, hooks FROM epochs`);
    if (!row) throw new Error("the row of epochs is missing");
    return row;
  }),
};

/** Says that something changed, in the transaction that changes it. */
export function raise(epoch: EpochName): Operation<void> {
  const column = raw(epoch);
  return run(sql`UPDATE epochs SET ${column} = ${column} + 1`);
}
