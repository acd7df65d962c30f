import type { GuardedClaimant, SessionGuard } from "./ports/executions.ts";

/** What a guard looks at, of a session that has not ended and whose worker's name is known. */
export interface GuardedSession {
  readonly epoch: number;
  readonly desired_state: string;
}

/** What must hold for a claimant to get an execution; a local run's asks for nothing. */
export function guardOf({ session, epoch }: GuardedClaimant): SessionGuard | undefined {
  return epoch === undefined ? undefined : { session, epoch, active: true };
}

export function guardHolds(
  { epoch, active = false }: SessionGuard,
  session: GuardedSession | undefined,
): boolean {
  if (session?.epoch !== epoch) return false;
  return !active || session.desired_state === "active";
}
