import type { PrincipalRef } from "@engine/contract";
import { type Operations, reads, rows } from "../operations/operation.ts";
import { anyOf, sql } from "../operations/sql.ts";

/** What records show of a principal, by its id. */
export interface StoredPrincipalRef extends PrincipalRef {
  readonly id: string;
}

/** Who the ids on executions and events are. Nothing about a principal that is shown ever changes. */
export interface PrincipalRefPort {
  /** Those of these that there are or were, deleted ones too (AUTH-34), by id. */
  refs(ids: readonly string[]): Promise<readonly StoredPrincipalRef[]>;
}

export const PRINCIPAL_REFS: Operations<PrincipalRefPort> = {
  refs: reads((ids) =>
    rows(sql<StoredPrincipalRef>`
      SELECT id, subject, issuer, type FROM principals WHERE id ${anyOf(ids)} ORDER BY id`),
  ),
};
