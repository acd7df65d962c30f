import type { RunAs } from "../auth/run-as.ts";
import type { RunLists } from "../auth/run-lists.ts";
import type { AuthorizeCall } from "./authorize-call.ts";

interface Parts {
  readonly runAs: Pick<RunAs, "find">;
  readonly runLists: Pick<RunLists, "ofRecord">;
}

/** Calls need what a run of their target would need of the caller's principal, as it is now (AUTH-43). */
export function callsUnder({ runAs, runLists }: Parts): AuthorizeCall {
  return async ({ caller: { run_as }, target: { record, module_hash } }) => {
    const needed = await runLists.ofRecord(record, module_hash);
    const account = run_as === null ? undefined : await runAs.find(run_as);
    return needed.filter(
      (permission) => account?.state !== "usable" || !account.rights.holds(permission),
    );
  };
}
