import { type AuditEntry, type AuditRecord, EngineError } from "@engine/contract";
import { lock, type Operation } from "../operations/operation.ts";
import { audited } from "./audit.ts";
import { raise } from "./epochs.ts";
import { ADMINS, hasUsableAdmin, type Logins } from "./identities.ts";

/** What goes with every change of who may do what. */
export interface IdentityWrite {
  /** Its row in the audit log; the change itself says what it changed. */
  readonly entry: AuditEntry;
  readonly logins: Logins;
  /**
   * Throws where the caller does not hold what a change confers (AUTH-21). Must be pure: it may be
   * asked again.
   *
   * @param narrowed_to Of a key: it gives nothing besides.
   */
  readonly confer: (permissions: readonly string[], narrowed_to?: readonly string[] | null) => void;
}

/** What became of a change; without `changes` nothing was changed. */
interface Outcome<Value> {
  readonly value: Value;
  readonly changes: AuditRecord["changes"];
}

/**
 * Changes who may do what: one change at a time among all servers, with its row in the audit log, or
 * not at all.
 *
 * @throws EngineError `last_admin` where nobody could administer the engine any more (AUTH-20).
 */
export function* identityWrite<Value>(
  { entry, logins }: IdentityWrite,
  change: Operation<Outcome<Value>>,
): Operation<Value> {
  yield* lock(ADMINS);
  const hadAdmin = yield* hasUsableAdmin(logins);
  const { value, changes } = yield* change;
  if (changes === null) return value;
  if (hadAdmin && !(yield* hasUsableAdmin(logins))) throw lastAdmin();
  yield* raise("identity");
  yield* audited({ ...entry, changes });
  return value;
}

/** The fields that differ, with their values before and after. */
export function changesBetween<Row extends object>(
  before: Row | null,
  after: Row | null,
  fields: readonly (keyof Row & string)[],
): AuditRecord["changes"] {
  const valueIn = (row: Row | null, field: keyof Row) => (row?.[field] ?? null) as never;
  const differing = fields.filter(
    (field) => JSON.stringify(valueIn(before, field)) !== JSON.stringify(valueIn(after, field)),
  );
  if (differing.length === 0) return null;
  const changes = differing.map((field) => [
    field,
    { before: valueIn(before, field), after: valueIn(after, field) },
  ]);
  return Object.fromEntries(changes);
}

function lastAdmin(): EngineError {
  return new EngineError(
    "last_admin",
    "this would leave nobody who could log in and administer the engine: make another principal with grant * first, a service account with a key that does not expire or a user of the provider",
  );
}
