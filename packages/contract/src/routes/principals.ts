import * as z from "zod";
import { ApiKeyRecord, CreatedApiKey, NewApiKey } from "../auth/api-key.ts";
import { PrincipalType } from "../auth/principal.ts";
import { Ban, NewPrincipal, PrincipalChanges, PrincipalRecord } from "../auth/principal-record.ts";
import { RoleName } from "../auth/role-record.ts";
import { listOf, paging, QueryFlag } from "../wire/list.ts";
import { grant } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";

const read = grant("admin:principals:read");
const manage = grant("admin:principals:manage");
const issuer = z
  .string()
  .optional()
  .describe(
    "of several with this subject; by default `engine`, or the only one there is (AUTH-19)",
  );
const selected = z.strictObject({ issuer });

/** `{subject}` is percent-encoded: subjects of users may be any text. */
export const principalRoutes = {
  list: {
    method: "GET",
    path: "/admin/principals",
    summary: "Lists users, service accounts and workers by subject.",
    permission: read,
    effect: "read",
    query: z.strictObject({
      type: PrincipalType.optional().describe("only of this type"),
      enabled: QueryFlag.optional().describe("only those that are, or are not"),
      banned: QueryFlag.optional().describe("only those that are, or are not"),
      role: z.string().optional().describe("only those that have this role"),
      ...paging(1000, 100),
    }),
    answers: { 200: listOf(PrincipalRecord) },
  },
  get: {
    method: "GET",
    path: "/admin/principals/{subject}",
    summary: "Reads a principal.",
    permission: read,
    effect: "read",
    query: selected,
    answers: { 200: PrincipalRecord },
  },
  create: {
    method: "POST",
    path: "/admin/principals",
    summary:
      "Creates a user or a service account, with roles that give no more than the caller holds.",
    permission: manage,
    effect: "write",
    body: NewPrincipal,
    answers: { 201: PrincipalRecord },
  },
  update: {
    method: "PUT",
    path: "/admin/principals/{subject}",
    summary: "Changes a principal; what is left out stays.",
    permission: manage,
    effect: "write",
    query: selected,
    body: PrincipalChanges,
    answers: { 200: PrincipalRecord },
  },
  enable: {
    method: "POST",
    path: "/admin/principals/{subject}/enable",
    summary: "Lets a principal in again; a banned one has to be unbanned first.",
    permission: manage,
    effect: "write",
    query: selected,
    answers: { 200: PrincipalRecord },
  },
  disable: {
    method: "POST",
    path: "/admin/principals/{subject}/disable",
    summary: "Lets a principal in no more; what runs as it is held.",
    permission: manage,
    effect: "write",
    query: selected,
    answers: { 200: PrincipalRecord },
  },
  ban: {
    method: "POST",
    path: "/admin/principals/{subject}/ban",
    summary: "Disables a principal and revokes its credentials.",
    permission: manage,
    effect: "write",
    query: selected,
    body: Ban.nullable(),
    answers: { 200: PrincipalRecord },
  },
  unban: {
    method: "POST",
    path: "/admin/principals/{subject}/unban",
    summary: "Takes a ban back; the principal stays disabled.",
    permission: manage,
    effect: "write",
    query: selected,
    answers: { 200: PrincipalRecord },
  },
  delete: {
    method: "DELETE",
    path: "/admin/principals/{subject}",
    summary: "Deletes a principal with its roles and keys; what ran as it keeps its id.",
    permission: manage,
    effect: "write",
    query: z.strictObject({
      issuer,
      force: QueryFlag.optional().describe(
        "`true`: also while it has live keys, executions that have not ended, or schedules",
      ),
    }),
    answers: { 204: { raw: null, meaning: "the principal is deleted" } },
  },
  grantRole: {
    method: "POST",
    path: "/admin/principals/{subject}/roles",
    summary: "Gives a principal a role.",
    permission: manage,
    effect: "write",
    query: selected,
    body: z.strictObject({ role: RoleName }),
    answers: { 200: PrincipalRecord },
  },
  revokeRole: {
    method: "DELETE",
    path: "/admin/principals/{subject}/roles/{role}",
    summary:
      "Takes a role from a principal that it was given here; claims of a login go on giving theirs.",
    permission: manage,
    effect: "write",
    query: selected,
    answers: { 204: { raw: null, meaning: "the principal does not have the role" } },
  },
  createKey: {
    method: "POST",
    path: "/admin/principals/{subject}/keys",
    summary: "Makes an API key of a service account; the answer is the only one that shows it.",
    permission: manage,
    effect: "write",
    query: selected,
    redact: false,
    body: NewApiKey,
    answers: { 201: CreatedApiKey },
  },
  listKeys: {
    method: "GET",
    path: "/admin/principals/{subject}/keys",
    summary: "Lists the API keys of a service account by name.",
    permission: read,
    effect: "read",
    query: z.strictObject({ issuer, ...paging(1000, 100) }),
    answers: { 200: listOf(ApiKeyRecord) },
  },
  revokeKey: {
    method: "DELETE",
    path: "/admin/principals/{subject}/keys/{key_name}",
    summary: "Revokes an API key.",
    permission: manage,
    effect: "write",
    query: selected,
    answers: { 204: { raw: null, meaning: "the key is revoked" } },
  },
} as const satisfies Record<string, Route>;
