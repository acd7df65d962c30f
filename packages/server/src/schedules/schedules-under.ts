import { invalidField } from "@engine/contract";
import type { RunLists } from "../auth/run-lists.ts";
import type { ServiceAccounts } from "../auth/service-accounts.ts";
import type { AuthorizeSchedule } from "./authorize-schedule.ts";

interface Parts {
  readonly accounts: Pick<ServiceAccounts, "permitted">;
  readonly runLists: Pick<RunLists, "ofName">;
}

/** Schedules run as their account, if that may run their workflow now (AUTH-34, AUTH-48). */
export function schedulesUnder({ accounts, runLists }: Parts): AuthorizeSchedule {
  return async ({ namespace, workflow, version, run_as }) => {
    if (run_as === null) {
      const message =
        "is missing: with authorization on, a schedule runs as a service account, whose subject this is";
      throw invalidField("body.run_as", message);
    }
    const needed = await runLists.ofName(namespace, workflow, version ?? undefined);
    return (await accounts.permitted(run_as, needed)).id;
  };
}
