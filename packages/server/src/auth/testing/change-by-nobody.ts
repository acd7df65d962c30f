import type { IdentityWrite } from "@engine/store";

let writes = 0;

/** What goes with a change that is made in the store, past the server, in an engine that needs no admin. */
export function changeByNobody(): IdentityWrite {
  return {
    logins: { api_keys: false, oidc_issuer: null },
    confer: () => undefined,
    entry: {
      ...{ id: `audit-${++writes}`, at: 0, actor: null, credential: null, via_execution: null },
      ...{ action: "principals.disable", target: "admin", decision: "allow", permissions: [] },
      ...{ reason: null, client_address: null, request_id: null, changes: null },
    },
  };
}
