import type { RunAs } from "../auth/run-as.ts";
import type { RunLists } from "../auth/run-lists.ts";
import type { AuthorizeCall } from "./authorize-call.ts";

interface Parts {
  readonly runAs: Pick<RunAs, "find">;
  readonly runLists: Pick<RunLists, "ofRecord">;
}

/**
 * Calls need what a run of their target would need of the caller's principal, as it is now (AUTH-43).
 * A call may come before its worker hears that the principal cannot be used or may not run the caller
 * any more. Such a caller is held and not failed (AUTH-36): the child is created, and held like it.
 */
export function callsUnder({ runAs, runLists }: Parts): AuthorizeCall {
  return async ({ caller: { run_as, namespace, workflow }, target: { record, module_hash } }) => {
    const needed = await runLists.ofRecord(record, module_hash);
    const account = run_as === null ? undefined : await runAs.find(run_as);
    if (!account?.rights.holds(`workflow:${namespace}:${workflow}:run`)) return [];
    return needed.filter((permission) => !account.rights.holds(permission));
  };
}
