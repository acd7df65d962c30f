/** The roles that every engine has; they are not stored and never change (AUTH-29, AUTH-30). */
export const BUILT_IN_ROLES = {
  admin: { description: "Everything.", permissions: ["*"] },
  operator: {
    description: "Runs, registers and approves; manages schedules, agents, services and hooks.",
    permissions: [
      "workflow:*:*:run",
      "workflow:*:*:read",
      "workflow:*:*:register",
      "workflow:*:*:task:*:execute",
      "workflow:*:*:task:*:approve",
      "execution:*:read",
      "schedule:*",
      "agent:*",
      "service:*",
      "config:*",
      "worker:*:read",
      "secret:*:use",
      "hook:*",
      "hook:deliveries:read",
      "hook:deliveries:retry",
    ],
  },
  viewer: {
    description: "Reads.",
    permissions: [
      "workflow:*:*:read",
      "execution:*:read",
      "schedule:*:read",
      "agent:*:read",
      "service:*:read",
      "config:*:read",
      "worker:*:read",
      "hook:*:read",
      "hook:deliveries:read",
    ],
  },
  worker: {
    description: "Connects as a worker; every worker has it.",
    permissions: ["worker:*:connect"],
  },
} as const satisfies Readonly<
  Record<string, { readonly description: string; readonly permissions: readonly string[] }>
>;

export type BuiltInRole = keyof typeof BUILT_IN_ROLES;

export function isBuiltInRole(name: string): name is BuiltInRole {
  return Object.hasOwn(BUILT_IN_ROLES, name);
}
