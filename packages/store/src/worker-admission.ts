/** Who may register a worker's name (AUTH-50). */
import type { AuditEntry } from "@engine/contract";
import type { NewWorkerCredential } from "./worker-credential.ts";

/** Of a session in the server's own process, in place of a credential's line (AUTH-63). */
export const IN_PROCESS = "process";

/** An unbound join token is dead after so many names that were taken. */
export const MOST_REFUSALS = 5;

/** What a process shows that registers, as it was found before. */
export type Shown =
  | { readonly kind: "bootstrap_token" }
  | { readonly kind: "join_token"; readonly id: string }
  | {
      readonly kind: "worker_credential";
      readonly id: string;
      /** How long after its end it may still be renewed. */
      readonly renew_window_ms: number;
    }
  /** It is the worker in the server's own process: trusted, and given no credential. */
  | { readonly kind: "process" };

export interface Admission {
  readonly shown: Shown;
  /** The id of the worker's principal, should it be new. */
  readonly principal_id: string;
  /** The one that the worker gets. */
  readonly credential: NewWorkerCredential;
  /** Of the registration, and of the earlier credential that it revokes. */
  readonly audit: { readonly admitted: AuditEntry; readonly revoked: AuditEntry };
}

/**
 * What is shown, as seen from the name: a join token is for that name, for another one, or for any new
 * one; a credential is the worker's own or not.
 */
export type ShownFor = "bootstrap" | "bound" | "unbound" | "other" | "own" | "process";

export type WorkerState = "new" | "existing" | "disabled" | "banned";

/**
 * - `unauthenticated`: what is shown does not count here; it is not consumed
 * - `unavailable`: the name is another one's
 */
export type Verdict = "accepted" | "unauthenticated" | "unavailable" | "disabled" | "banned";

const TOKEN = {
  new: "accepted",
  existing: "accepted",
  disabled: "disabled",
  banned: "banned",
} as const;
const REFUSED = "unauthenticated";
const NO_NAME = "unavailable";

const VERDICTS = {
  bootstrap: TOKEN,
  bound: TOKEN,
  process: TOKEN,
  unbound: { new: "accepted", existing: NO_NAME, disabled: NO_NAME, banned: NO_NAME },
  other: { new: REFUSED, existing: REFUSED, disabled: REFUSED, banned: REFUSED },
  own: { new: REFUSED, existing: "accepted", disabled: REFUSED, banned: REFUSED },
} as const satisfies Readonly<Record<ShownFor, Readonly<Record<WorkerState, Verdict>>>>;

export function verdictOn(shown: ShownFor, worker: WorkerState): Verdict {
  return VERDICTS[shown][worker];
}

export function workerState(
  principal: { readonly enabled: number; readonly banned: number } | undefined,
): WorkerState {
  if (!principal) return "new";
  if (principal.banned) return "banned";
  return principal.enabled ? "existing" : "disabled";
}
