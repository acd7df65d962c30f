import { TaskAuthz, type WorkerFrame } from "@engine/contract";
import type { TaskRights } from "@engine/sdk/node";

const NONE: readonly string[] = Object.freeze([]);
const FIRST_WITH_AUTHZ = 2;

/**
 * What an assignment says of its principal's rights; undefined: nobody's are checked. What cannot be
 * read grants nothing, and so does one that says nothing, unless it comes of a server too old to know
 * of rights (AUTH-35).
 *
 * @param authz As it came: frames are not checked before.
 */
export function assignedRights(authz: unknown, serverProtocol: number): TaskRights | undefined {
  if (authz === undefined && serverProtocol < FIRST_WITH_AUTHZ) return undefined;
  const { success, data } = TaskAuthz.safeParse(authz);
  if (success && !data.enforced) return undefined;
  return { task_grants: success ? data.task_grants : NONE, hold: false };
}

/** What a `grants` frame says of them (AUTH-36). */
export function changedRights({ task_grants, hold }: Changed): TaskRights {
  const isList = Array.isArray(task_grants);
  return { task_grants: isList ? task_grants : NONE, hold: hold === true };
}

type Changed = Pick<Extract<WorkerFrame, { event: "grants" }>["data"], "task_grants" | "hold">;
