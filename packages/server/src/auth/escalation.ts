import { covers, EngineError, type Identity } from "@engine/contract";

/**
 * Nobody confers more than they hold (AUTH-21).
 *
 * @param caller Undefined with authorization off, when everybody may do everything.
 * @param narrowed_to Of a key, which gives no more than both.
 * @throws EngineError `privilege_escalation`.
 */
export function refuseEscalation(
  caller: Pick<Identity, "grants" | "narrowed_to"> | undefined,
  conferred: readonly string[],
  narrowed_to: readonly string[] | null = null,
): void {
  if (!caller) return;
  const missing = missingOf(caller, conferred);
  if (missing.length === 0) return;
  const narrow = narrowed_to && missingOf(caller, narrowed_to);
  if (narrow?.length === 0) return;
  const missing_permissions = narrow ?? missing;
  throw new EngineError(
    "privilege_escalation",
    `the caller cannot give others what it lacks: ${missing_permissions.join(", ")}`,
    { details: { missing_permissions } },
  );
}

function missingOf(
  { grants, narrowed_to }: Pick<Identity, "grants" | "narrowed_to">,
  conferred: readonly string[],
): readonly string[] {
  const held = narrowed_to ? [grants, narrowed_to] : [grants];
  return conferred.filter(
    (permission) => !held.every((some) => some.some((grant) => covers(grant, permission))),
  );
}
