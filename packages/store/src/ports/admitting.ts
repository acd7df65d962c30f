import { WORKER_ISSUER } from "@engine/contract";
import { first, now, type Operation, run } from "../operations/operation.ts";
import { forUpdate, insertInto, type Sql, sql } from "../operations/sql.ts";
import {
  type Admission,
  IN_PROCESS,
  type Shown,
  type ShownFor,
  type Verdict,
  verdictOn,
  workerState,
} from "../worker-admission.ts";
import type { WorkerCredentialRow } from "../worker-credential.ts";
import { audited } from "./audit.ts";
import { raise } from "./epochs.ts";
import { consumeJoinToken, countRefusal, liveJoinToken } from "./join-tokens.ts";
import {
  insertCredential,
  renewableCredential,
  revokeLinesOf,
  successorOf,
} from "./worker-credentials.ts";

type Admitted =
  | { readonly refused: Exclude<Verdict, "accepted"> }
  | {
      readonly refused: undefined;
      readonly credential_line: string;
      /** What the join token that was used grants (WMD-3). */
      readonly services: readonly string[];
    };

const NO_SERVICES: readonly string[] = [];

interface StoredPrincipal {
  readonly id: string;
  readonly enabled: number;
  readonly banned: number;
}

/**
 * Lets a process have a worker's name, or says why not (AUTH-50), under the lock of that name. What is
 * consumed or counted is so when the transaction commits.
 */
export function* admitting(
  worker: string,
  { shown, principal_id, credential, audit }: Admission,
): Operation<Admitted> {
  const at = yield* now();
  // Only workers are looked at: no registration sees principals of other types.
  const known = yield* first(sql<StoredPrincipal>`
    SELECT id, enabled, banned FROM principals
    WHERE subject = ${worker} AND issuer = ${WORKER_ISSUER} AND deleted_at IS NULL ${forUpdate}`);
  const own = yield* ownCredential(shown, known?.id, at);
  const shownFor = yield* shownForName(shown, { worker, isOwn: own !== undefined, at });
  const verdict = verdictOn(shownFor, workerState(known));
  if (verdict === "unavailable" && shown.kind === "join_token") {
    return { refused: (yield* countRefusal(shown.id, at)) ? verdict : "unauthenticated" };
  }
  if (verdict !== "accepted") return { refused: verdict };
  if (shown.kind !== "process" && (yield* livesInProcess(worker)))
    return { refused: "unavailable" };
  const services =
    shown.kind === "join_token" ? yield* consumeJoinToken(shown.id, worker, at) : NO_SERVICES;
  if (!services) return { refused: "unauthenticated" };

  const id = known?.id ?? principal_id;
  if (!known) yield* run(newPrincipal(id, worker, at));
  if (own) {
    yield* insertCredential({ ...credential, ...successorOf(own), principal_id: id }, at);
    yield* audited(audit.admitted);
    return { refused: undefined, credential_line: own.line, services };
  }
  const revoked = yield* revokeLinesOf(id, at);
  if (shown.kind !== "process")
    yield* insertCredential(
      { ...credential, line: credential.id, generation: 1, principal_id: id },
      at,
    );
  if (!known || revoked > 0 || shown.kind !== "process") {
    yield* raise("identity");
    yield* audited(audit.admitted);
  }
  if (revoked > 0) yield* audited(audit.revoked);
  const credential_line = shown.kind === "process" ? IN_PROCESS : credential.id;
  return { refused: undefined, credential_line, services };
}

function* ownCredential(
  shown: Shown,
  principal_id: string | undefined,
  at: number,
): Operation<WorkerCredentialRow | undefined> {
  if (shown.kind !== "worker_credential" || principal_id === undefined) return undefined;
  // Its principal is locked already: a revocation comes before this, or after all of it.
  const { id, renew_window_ms } = shown;
  const found = yield* renewableCredential(id, { at, renew_window_ms });
  return found?.principal_id === principal_id ? found : undefined;
}

function* shownForName(
  shown: Shown,
  { worker, isOwn, at }: { worker: string; isOwn: boolean; at: number },
): Operation<ShownFor> {
  switch (shown.kind) {
    case "process":
      return "process";
    case "bootstrap_token":
      return "bootstrap";
    case "worker_credential":
      return isOwn ? "own" : "other";
    case "join_token": {
      const token = yield* liveJoinToken(shown.id, at);
      if (!token) return "other";
      if (token.subject === null) return "unbound";
      return token.subject === worker ? "bound" : "other";
    }
  }
}

/** Whether the name belongs to the worker in a server's own process, which lives (AUTH-63). */
function* livesInProcess(worker: string): Operation<boolean> {
  const session = yield* first(sql`
    SELECT 1 FROM sessions WHERE worker = ${worker} AND credential_line = ${IN_PROCESS}
      AND ended_at IS NULL AND lost_at IS NULL`);
  return session !== undefined;
}

function newPrincipal(id: string, subject: string, at: number): Sql {
  return insertInto("principals", {
    id,
    type: "worker",
    subject,
    issuer: WORKER_ISSUER,
    display_name: null,
    enabled: 1,
    banned: 0,
    ban_reason: null,
    created_at: at,
    updated_at: at,
    last_seen_at: null,
    deleted_at: null,
  });
}
