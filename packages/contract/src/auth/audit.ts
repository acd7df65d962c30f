import * as z from "zod";
import { AnyJson } from "../values/any-json.ts";
import { Credential, PrincipalRef } from "./principal.ts";

/** One row of the audit log: who changed what, or was refused (AUD-1). */
export const AuditRecord = z.object({
  id: z.string(),
  at: z.string(),
  /** Null for a caller that nobody knows. */
  actor: PrincipalRef.extend({
    type: z.enum(["user", "service_account", "worker", "local"]),
  }).nullable(),
  credential: Credential.nullable(),
  /** The execution whose task called. */
  via_execution: z.string().nullable(),
  /** The route's name in the route table, as `principals.ban`, or the command's. */
  action: z.string(),
  target: z.string().nullable(),
  decision: z.enum(["allow", "deny"]),
  /** What was missing, or what an impersonation used. */
  permissions: z.array(z.string()),
  reason: z.string().nullable(),
  client_address: z.string().nullable(),
  request_id: z.string().nullable(),
  /** Equal refusals of one minute are one row. */
  count: z.int().positive(),
  /** Names of fields with their values before and after, never secret ones. */
  changes: z.record(z.string(), z.object({ before: AnyJson, after: AnyJson })).nullable(),
});
export type AuditRecord = z.infer<typeof AuditRecord>;

/** A row before it is written: `at` in milliseconds since 1970, `count` 1. */
export interface AuditEntry extends Omit<AuditRecord, "at" | "count"> {
  readonly at: number;
}
