/** Credentials of workers: in lines, in which each is the successor of the one it was renewed from. */

/** So long a credential stays valid once its successor was used for the first time (AUTH-51). */
export const OVERLAP_MS = 60_000;

/** One that is made: the store never sees the secret. */
export interface NewWorkerCredential {
  readonly id: string;
  /** SHA-256 of the secret. */
  readonly secret_hash: string;
  /** Milliseconds since 1970. */
  readonly expires_at: number;
}

export interface WorkerCredentialRow extends NewWorkerCredential {
  /** The id of the first one of its line. */
  readonly line: string;
  /** Within the line, from 1. */
  readonly generation: number;
  readonly principal_id: string;
  readonly created_at: number;
  /** Null before its first use. */
  readonly used_at: number | null;
  /** When another one of its generation or a later one was used first; null before that. */
  readonly superseded_at: number | null;
  readonly revoked_at: number | null;
}

/**
 * - `renewable`: it has ended, but not long ago: good for its own renewal alone
 * - `reused`: it was used long after its successor, so somebody else has one of the two
 */
export type CredentialState = "valid" | "renewable" | "expired" | "reused" | "revoked";

/** What a credential is good for at an instant (AUTH-51). */
export function credentialState(
  {
    expires_at,
    superseded_at,
    revoked_at,
  }: Pick<WorkerCredentialRow, "expires_at" | "superseded_at" | "revoked_at">,
  { at, renew_window_ms }: { readonly at: number; readonly renew_window_ms: number },
): CredentialState {
  if (revoked_at !== null) return "revoked";
  if (superseded_at !== null && at >= superseded_at + OVERLAP_MS) return "reused";
  if (at < expires_at) return "valid";
  return at < expires_at + renew_window_ms ? "renewable" : "expired";
}

export function isRenewable(state: CredentialState): boolean {
  return state === "valid" || state === "renewable";
}
