import * as z from "zod";
import { ConfigRecord, ConfigValue, ShownConfig } from "../secrets/secret.ts";
import { filteredListOf, paging } from "../wire/list.ts";
import { grant, scoped } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";

const read = "config:{name}:read";

/** Values that tasks read and nobody needs to hide (SEC-4). */
export const configRoutes = {
  list: {
    method: "GET",
    path: "/admin/configs",
    summary: "Lists configuration values by name, without the values themselves.",
    permission: scoped(read),
    effect: "read",
    query: z.strictObject(paging(1000, 100)),
    answers: { 200: filteredListOf(ConfigRecord) },
  },
  get: {
    method: "GET",
    path: "/admin/configs/{name}",
    summary: "Reads a configuration value.",
    permission: grant(read),
    effect: "read",
    answers: { 200: ShownConfig },
  },
  put: {
    method: "PUT",
    path: "/admin/configs/{name}",
    summary: "Keeps a configuration value.",
    permission: grant("config:{name}:manage"),
    effect: "write",
    body: ConfigValue,
    answers: { 200: ConfigRecord, 201: ConfigRecord },
  },
  delete: {
    method: "DELETE",
    path: "/admin/configs/{name}",
    summary: "Deletes a configuration value.",
    permission: grant("config:{name}:manage"),
    effect: "write",
    answers: { 204: { raw: null, meaning: "the configuration value is deleted" } },
  },
} as const satisfies Record<string, Route>;
