import { expect, test } from "vitest";
import { rightsOf } from "./grants.ts";
import { BUILT_IN_ROLES, type BuiltInRole } from "./roles.ts";

/** What a role may do with hooks, as the interface has it. */
const HOOKS: readonly (readonly [needed: string, roles: readonly BuiltInRole[]])[] = [
  ["hook:*:create", ["admin", "operator"]],
  ["hook:page:read", ["admin", "operator", "viewer"]],
  ["hook:page:update", ["admin", "operator"]],
  ["hook:page:delete", ["admin", "operator"]],
  ["hook:deliveries:read", ["admin", "operator", "viewer"]],
  ["hook:deliveries:retry", ["admin", "operator"]],
  ["principal:ops-bot:impersonate", ["admin"]],
];

test.each(HOOKS)("HOOK-39 %s comes with the roles that the interface says", (needed, roles) => {
  const all = Object.keys(BUILT_IN_ROLES) as BuiltInRole[];
  const having = all.filter((role) => rightsOf(BUILT_IN_ROLES[role].permissions).holds(needed));
  expect(having).toEqual(roles);
});
