import type { GuardedClaimant, SessionGuard } from "./ports/executions.ts";

/** What a guard looks at, of a session that has not ended and whose worker's name is known. */
export interface GuardedSession {
  readonly epoch: number;
  readonly desired_state: string;
  /** Of the metadata and grants of its worker's name. */
  readonly revision: number;
}

/** What must hold for a claimant to get an execution; a local run's asks for nothing. */
export function guardOf(claimant: GuardedClaimant): SessionGuard | undefined {
  const { session, epoch, attributes } = claimant;
  if (epoch === undefined) return undefined;
  const guard = { session, epoch, active: true };
  return attributes === undefined ? guard : { ...guard, attributes };
}

export function guardHolds(
  { epoch, active = false, attributes }: SessionGuard,
  session: GuardedSession | undefined,
): boolean {
  if (session?.epoch !== epoch) return false;
  if (attributes !== undefined && session.revision !== attributes) return false;
  return !active || session.desired_state === "active";
}
