import { rightsOf } from "./grants.ts";

/**
 * Every permission that a route or a rule asks for, by its form (AUTH-28). `{…}` is the name of one thing,
 * a `*` stands for itself.
 */
export const PERMISSION_FAMILIES: readonly string[] = [
  "workflow:{ns}:{wf}:run",
  "workflow:{ns}:{wf}:read",
  "workflow:{ns}:{wf}:register",
  "workflow:{ns}:*:register",
  "workflow:{ns}:{wf}:task:{task}:execute",
  "workflow:{ns}:{wf}:task:{task}:approve",
  "execution:*:read",
  "schedule:{name}:read",
  "schedule:{name}:manage",
  "hook:*:create",
  "hook:{name}:read",
  "hook:{name}:update",
  "hook:{name}:delete",
  "hook:deliveries:read",
  "hook:deliveries:retry",
  "agent:{name}:create",
  "agent:{name}:read",
  "agent:{name}:update",
  "agent:{name}:delete",
  "service:{name}:read",
  "service:{name}:manage",
  "worker:{name}:read",
  "worker:{name}:target",
  "worker:{name}:connect",
  "config:{name}:read",
  "config:{name}:manage",
  "secret:{name}:read",
  "secret:{name}:manage",
  "secret:{name}:use",
  "principal:{subject}:impersonate",
  "admin:roles:read",
  "admin:roles:manage",
  "admin:principals:read",
  "admin:principals:manage",
  "admin:workers:manage",
  "admin:metrics:read",
  "admin:audit:read",
  "admin:encryption:manage",
];

/** A sentence for each grant that is well formed and gives nothing, as it was most likely mistyped (AUTH-25). */
export function grantWarnings(grants: readonly string[]): readonly string[] {
  const idle = grants.filter((grant) => {
    const rights = rightsOf([grant]);
    return PERMISSION_FAMILIES.every((family) => rights.seenBy(family).length === 0);
  });
  return idle.map((grant) => `no known permission is given by ${grant}`);
}
