import * as z from "zod";
import { LimitDetails, LimitRecord, NewLimit } from "../limits/limit.ts";
import { listOf, paging } from "../wire/list.ts";
import { any, grant } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";

const manage = grant("admin:workers:manage");
const read = any(manage, grant("worker:*:read"));

/** Limits that workflows share by their names (FLW-3). */
export const limitRoutes = {
  put: {
    method: "PUT",
    path: "/admin/limits/{name}",
    summary: "Defines a limit, or puts another one in its place. Lowering one stops nobody.",
    permission: manage,
    effect: "write",
    body: NewLimit,
    answers: { 200: LimitRecord },
  },
  list: {
    method: "GET",
    path: "/admin/limits",
    summary: "Lists limits by name.",
    permission: read,
    effect: "read",
    query: z.strictObject(paging(500, 100)),
    answers: { 200: listOf(LimitRecord) },
  },
  get: {
    method: "GET",
    path: "/admin/limits/{name}",
    summary: "Reads a limit with the executions that have its places.",
    permission: read,
    effect: "read",
    answers: { 200: LimitDetails },
  },
  delete: {
    method: "DELETE",
    path: "/admin/limits/{name}",
    summary: "Deletes a limit. What names it starts no more until it is defined again.",
    permission: manage,
    effect: "write",
    answers: { 204: { raw: null, meaning: "there is no such limit any more" } },
  },
} as const satisfies Record<string, Route>;
