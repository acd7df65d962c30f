import * as z from "zod";
import { Grant } from "../auth/grants.ts";
import { Credential, PrincipalType } from "../auth/principal.ts";
import { grant, identity, open } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";

const Names = z.array(z.string());
const instant = z.string().nullable();

const AuthConfig = z.object({
  auth_enabled: z.boolean(),
  api_keys: z.boolean(),
  oidc: z.object({ issuer: z.string(), client_id: z.string(), scopes: Names }).nullable(),
});

const Whoami = z.object({
  subject: z.string(),
  issuer: z.string(),
  type: PrincipalType.nullable().describe("null of callers who are no principal"),
  roles: Names,
  permissions: Names.describe("what the caller holds, by this credential"),
  credential: Credential.extend({ expires_at: instant }).nullable(),
  auth_enabled: z.boolean(),
});

const TokenTest = z.discriminatedUnion("valid", [
  z.object({
    valid: z.literal(true),
    subject: z.string(),
    issuer: z.string(),
    roles: Names,
    permissions: Names,
    expires_at: instant,
  }),
  z.object({ valid: z.literal(false), reason: z.string() }),
]);

const WORKFLOW = /^[^/]+\/[^/]+$/;

/** Who the caller is, and what it may do. */
export const authRoutes = {
  config: {
    method: "GET",
    path: "/auth/config",
    summary: "Says how callers prove who they are.",
    permission: open,
    effect: "read",
    answers: { 200: AuthConfig },
  },
  whoami: {
    method: "GET",
    path: "/auth/whoami",
    summary: "Says who the caller is and what it holds.",
    permission: identity,
    effect: "read",
    answers: { 200: Whoami },
  },
  permissions: {
    method: "GET",
    path: "/auth/permissions",
    summary:
      "Lists what reading and running a workflow takes; of all that the caller may read unless one is named.",
    permission: identity,
    effect: "read",
    query: z.strictObject({
      workflow: z
        .string()
        .regex(WORKFLOW, "must be namespace/name")
        .optional()
        .describe("only of this one, as `namespace/name`"),
    }),
    answers: {
      200: z.union([
        z.object({ permissions: Names }),
        z.object({ items: z.record(z.string(), Names) }),
      ]),
    },
  },
  check: {
    method: "POST",
    path: "/auth/check",
    summary: "Says which of some permissions the caller holds.",
    permission: identity,
    effect: "read",
    body: z.strictObject({ permissions: z.array(Grant).max(100) }),
    answers: { 200: z.object({ allowed: z.record(z.string(), z.boolean()) }) },
  },
  testToken: {
    method: "POST",
    path: "/auth/test-token",
    summary: "Says whose a token is, or why it would be refused; nobody is let in by that.",
    permission: grant("admin:principals:read"),
    effect: "read",
    limit: { rate: "test_token", per: "principal" },
    body: z.strictObject({ token: z.string().max(65_536) }),
    answers: { 200: TokenTest },
  },
} as const satisfies Record<string, Route>;
