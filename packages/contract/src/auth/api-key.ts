import * as z from "zod";
import { Name } from "../definitions/catalog.ts";
import { Grant } from "./grants.ts";

/** An API key of a service account as lists show it (AUTH-13). */
export const ApiKeyRecord = z.object({
  id: z.string(),
  name: z.string(),
  /** What the key begins with, to know it again. */
  prefix: z.string(),
  /** What it is narrowed to; null: all that its principal holds. */
  permissions: z.array(z.string()).nullable(),
  /** Null = never. */
  expires_at: z.string().nullable(),
  created_at: z.string(),
  /** To the minute. */
  last_used_at: z.string().nullable(),
});
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>;

/** `POST /admin/principals/{subject}/keys`. */
export const NewApiKey = z.strictObject({
  name: Name,
  expires_in_days: z
    .int()
    .min(1)
    .max(3650)
    .nullable()
    .default(null)
    .describe("null: until it is revoked"),
  permissions: z
    .array(Grant)
    .nullable()
    .default(null)
    .describe("narrows the key: a request needs both, what its principal holds and these"),
});
export type NewApiKey = z.infer<typeof NewApiKey>;

/** The only answer that has the key itself. */
export const CreatedApiKey = ApiKeyRecord.omit({ last_used_at: true }).extend({ key: z.string() });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;
