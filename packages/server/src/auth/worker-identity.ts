import { BUILT_IN_ROLES, type Identity, WORKER_ISSUER } from "@engine/contract";

/** A worker, who holds what comes with being one. */
export function workerIdentity(
  subject: string,
  id: string | null,
  credential: Identity["credential"],
): Identity {
  return {
    id,
    subject,
    issuer: WORKER_ISSUER,
    type: "worker",
    roles: ["worker"],
    grants: BUILT_IN_ROLES.worker.permissions,
    narrowed_to: null,
    credential,
    via_execution: null,
  };
}
