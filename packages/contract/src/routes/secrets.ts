import * as z from "zod";
import { SecretRecord, SecretValue, ShownSecret } from "../secrets/secret.ts";
import { filteredListOf, paging } from "../wire/list.ts";
import { any, grant, scoped } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";

/** Values that only tasks and those who may read them see (SEC-4). */
export const secretRoutes = {
  list: {
    method: "GET",
    path: "/admin/secrets",
    summary: "Lists secrets by name, without their values.",
    permission: any(
      scoped("secret:{name}:read"),
      scoped("secret:{name}:manage"),
      scoped("secret:{name}:use"),
    ),
    effect: "read",
    query: z.strictObject(paging(1000, 100)),
    answers: { 200: filteredListOf(SecretRecord) },
  },
  get: {
    method: "GET",
    path: "/admin/secrets/{name}",
    summary: "Reads a secret with its value, which the audit log tells.",
    permission: grant("secret:{name}:read"),
    effect: "read",
    redact: false,
    answers: { 200: ShownSecret },
  },
  put: {
    method: "PUT",
    path: "/admin/secrets/{name}",
    summary: "Keeps the value of a secret, encrypted; what it replaces stays masked for a while.",
    permission: grant("secret:{name}:manage"),
    effect: "write",
    body: SecretValue,
    answers: { 200: SecretRecord, 201: SecretRecord },
  },
  delete: {
    method: "DELETE",
    path: "/admin/secrets/{name}",
    summary: "Deletes a secret; its value stays masked for a while.",
    permission: grant("secret:{name}:manage"),
    effect: "write",
    answers: { 204: { raw: null, meaning: "the secret is deleted" } },
  },
} as const satisfies Record<string, Route>;
