import * as z from "zod";
import { NewRole, RoleChanges, RoleClone, RoleRecord } from "../auth/role-record.ts";
import { listOf, paging, QueryFlag } from "../wire/list.ts";
import { grant } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";

const read = grant("admin:roles:read");
const manage = grant("admin:roles:manage");

/** Nobody confers what they do not hold: `privilege_escalation` otherwise (AUTH-21). */
export const roleRoutes = {
  list: {
    method: "GET",
    path: "/admin/roles",
    summary: "Lists roles by name, the engine's own among them.",
    permission: read,
    effect: "read",
    query: z.strictObject(paging(1000, 100)),
    answers: { 200: listOf(RoleRecord) },
  },
  get: {
    method: "GET",
    path: "/admin/roles/{name}",
    summary: "Reads a role.",
    permission: read,
    effect: "read",
    answers: { 200: RoleRecord },
  },
  create: {
    method: "POST",
    path: "/admin/roles",
    summary: "Creates a role of permissions that the caller holds.",
    permission: manage,
    effect: "write",
    body: NewRole,
    answers: { 201: RoleRecord },
  },
  clone: {
    method: "POST",
    path: "/admin/roles/{name}/clone",
    summary: "Creates a role that gives what another one gives.",
    permission: manage,
    effect: "write",
    body: RoleClone,
    answers: { 201: RoleRecord },
  },
  update: {
    method: "PUT",
    path: "/admin/roles/{name}",
    summary:
      "Changes a role: all its permissions, or some more and some less; what is left out stays.",
    permission: manage,
    effect: "write",
    body: RoleChanges,
    answers: { 200: RoleRecord },
  },
  delete: {
    method: "DELETE",
    path: "/admin/roles/{name}",
    summary: "Deletes a role.",
    permission: manage,
    effect: "write",
    query: z.strictObject({
      force: QueryFlag.optional().describe("`true`: also takes it from those who have it"),
    }),
    answers: { 204: { raw: null, meaning: "the role is deleted" } },
  },
} as const satisfies Record<string, Route>;
