import { ENGINE_ISSUER } from "@engine/contract";
import type { Engine } from "@engine/server";
import type { IdentityWrite, Store } from "@engine/store";
import type { PrincipalChange } from "./evidence.ts";
import { GUEST_NAMESPACES } from "./programs/guest-source.ts";
import type { Random } from "./random.ts";

/** A service account whose rights executions have. */
export interface Account {
  readonly id: string;
  readonly subject: string;
}

/** Gives an account all that the programs need. */
export const ACCOUNT_ROLE = "runs-programs";

/** Makes the service accounts of a run with authorization on, before any server starts. */
export async function makeAccounts(
  store: Store,
  count: number,
  random: Random,
): Promise<readonly Account[]> {
  if (count === 0) return [];
  const description = null;
  const namespaces = ["default", ...GUEST_NAMESPACES];
  const permissions = namespaces.map((namespace) => `workflow:${namespace}:*`);
  await store.roles.create({ name: ACCOUNT_ROLE, description, permissions }, byNobody(random));
  const accounts: Account[] = [];
  for (let n = 1; n <= count; n++) {
    const account = { id: random.uuid(), subject: `account-${n}` };
    const of = { type: "service_account", issuer: ENGINE_ISSUER, display_name: null } as const;
    await store.principals.create({ ...account, ...of, roles: [ACCOUNT_ROLE] }, byNobody(random));
    accounts.push(account);
  }
  return accounts;
}

/**
 * One of them, the first more often than the others: so the account that is barred is often one whose
 * executions are under way.
 *
 * @param drawn From 0 to below 1.
 */
export function oftenFirst(accounts: readonly Account[], drawn: number): Account | undefined {
  return accounts[Math.floor(drawn ** 2 * accounts.length)];
}

/** Whether executions may run as a principal, as it was left last; before any change they may. */
export function isUsable(changes: readonly PrincipalChange[], principal: string): boolean {
  const last = changes.findLast((change) => change.principal === principal);
  return last === undefined || (last.enabled && last.has_role);
}

/** A request of an operator, as the routes of principals hand it on. */
export function operatorCall(action: string): Parameters<Engine["principals"]["disable"]>[1] {
  const request = { action, address: undefined, request_id: "simulated" };
  return { ...request, caller: { principal: null } };
}

function byNobody(random: Random): IdentityWrite {
  const nobody = { actor: null, credential: null, via_execution: null, client_address: null };
  return {
    logins: { api_keys: true, oidc_issuer: null },
    confer: () => undefined,
    entry: {
      ...{ id: random.uuid(), at: 0, action: "principals.create", target: null, ...nobody },
      ...{ decision: "allow", permissions: [], reason: null, request_id: null, changes: null },
    },
  };
}
