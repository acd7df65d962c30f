import * as z from "zod";
import { AuditRecord } from "../auth/audit.ts";
import { listOf, paging } from "../wire/list.ts";
import { grant } from "../wire/permission.ts";
import { QueryInstant } from "../wire/query-instant.ts";
import type { Route } from "../wire/route.ts";

export const auditRoutes = {
  list: {
    method: "GET",
    path: "/admin/audit",
    summary: "Lists who changed what and who was refused, newest first.",
    permission: grant("admin:audit:read"),
    effect: "read",
    query: z.strictObject({
      actor: z.string().optional().describe("only of this subject"),
      action: z.string().optional().describe("only of this route or command, as `principals.ban`"),
      target: z.string().optional().describe("only on this role, principal or other thing"),
      decision: z.enum(["allow", "deny"]).optional().describe("only what was done, or refused"),
      since: QueryInstant.optional().describe("only from this instant on"),
      until: QueryInstant.optional().describe("only before this instant"),
      ...paging(500, 100),
    }),
    answers: { 200: listOf(AuditRecord) },
  },
} as const satisfies Record<string, Route>;
