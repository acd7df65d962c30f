import * as z from "zod";
import { ServiceName, WorkerName } from "./worker.ts";

const MINUTE = 60;
const MONTH = 2_592_000;

/** `POST /admin/workers/join-tokens` (AUTH-54). */
export const NewJoinToken = z.strictObject({
  ttl_seconds: z
    .int()
    .min(MINUTE)
    .max(MONTH)
    .optional()
    .describe("its life; by default `join_token_ttl`"),
  subject: WorkerName.optional().describe("the one name that it is for; without it any new one"),
  services: z
    .array(ServiceName)
    .default([])
    .describe("local services that its worker is granted with its use"),
});
export type NewJoinToken = z.infer<typeof NewJoinToken>;

/** A join token as it is made: the only time that its text is shown. */
export const CreatedJoinToken = z.object({
  id: z.string(),
  token: z.string(),
  subject: z.string().nullable(),
  services: z.array(z.string()),
  expires_at: z.string(),
});
export type CreatedJoinToken = z.infer<typeof CreatedJoinToken>;

/** One that can still be used. */
export const JoinTokenRecord = z.object({
  id: z.string(),
  subject: z.string().nullable(),
  created_at: z.string(),
  /** Subject of whoever made it; null without authorization. */
  created_by: z.string().nullable(),
  expires_at: z.string(),
});
export type JoinTokenRecord = z.infer<typeof JoinTokenRecord>;
