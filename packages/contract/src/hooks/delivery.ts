import * as z from "zod";
import { AnyJson } from "../values/any-json.ts";
import { parseUtcInstant } from "../values/time.ts";
import { paging } from "../wire/list.ts";
import { HookEnvelope } from "./envelope.ts";

export const DeliveryStatus = z.enum(["pending", "delivered", "dead"]);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** Why a delivery was given up (HOOK-38). */
export const DeadReason = z.enum([
  "malformed",
  "hook_disabled",
  "hop_limit",
  "principal_not_found",
  "principal_not_service_account",
  "principal_banned",
  "principal_disabled",
  "principal_not_permitted",
  "target_not_found",
  "input_rejected",
  "attempts_exhausted",
]);
export type DeadReason = z.infer<typeof DeadReason>;

const common = {
  id: z.string(),
  /** Name of the hook. */
  hook: z.string(),
  /** `<execution_id>:<seq>` of the event. */
  event_key: z.string(),
  /** Tries since it was made, or since it was last handed back. */
  attempts: z.int().nonnegative(),
  hop: z.int().nonnegative(),
  /** The selector that matched. */
  selector: z.string(),
  /** `event.type` of the envelope. */
  event_type: z.string(),
  /** `<namespace>/<name>` of the workflow whose event it is. */
  source_workflow: z.string(),
  created_at: z.string(),
};

const pending = {
  ...common,
  status: z.literal("pending"),
  execution_id: z.null(),
  /** Of the last try, if one has failed. */
  error: z.string().nullable(),
  dead_reason: z.null(),
  /** Null: it is due. */
  next_attempt_at: z.string().nullable(),
  settled_at: z.null(),
};

const delivered = {
  ...common,
  status: z.literal("delivered"),
  /** The execution it started. */
  execution_id: z.string(),
  error: z.null(),
  dead_reason: z.null(),
  next_attempt_at: z.null(),
  settled_at: z.string(),
};

const dead = {
  ...common,
  status: z.literal("dead"),
  execution_id: z.null(),
  error: z.string(),
  dead_reason: DeadReason,
  next_attempt_at: z.null(),
  settled_at: z.string(),
};

/** A delivery as lists return it (HOOK-3). */
export const DeliveryRecord = z.discriminatedUnion("status", [
  z.object(pending),
  z.object(delivered),
  z.object(dead),
]);
export type DeliveryRecord = z.infer<typeof DeliveryRecord>;

/** Null where the stored one is none: such a delivery dies as `malformed`. */
const envelope = HookEnvelope.nullable();

/** `GET /hooks/{name}/deliveries/{id}`. */
export const DetailedDelivery = z.discriminatedUnion("status", [
  z.object({ ...pending, envelope }),
  z.object({ ...delivered, envelope }),
  z.object({ ...dead, envelope }),
]);
export type DetailedDelivery = z.infer<typeof DetailedDelivery>;

/** `GET /hooks/{name}/deliveries`, newest first. */
export const DeliveryQuery = z
  .strictObject({
    status: DeliveryStatus.optional().describe("only with this status"),
    dead_reason: DeadReason.optional().describe("only those that were given up for this reason"),
    source_execution_id: z.string().optional().describe("only of events of this execution"),
    before: z
      .uuid()
      .optional()
      .describe("only those listed behind this delivery, the last of the page before"),
    ...paging(200, 50),
  })
  .refine(({ before, offset }) => before === undefined || offset === 0, {
    path: ["offset"],
    error: "must not be given together with before",
  });
export type DeliveryQuery = z.infer<typeof DeliveryQuery>;

/** `POST /hooks/{name}/deliveries/retry`: which dead deliveries are handed back. */
export const DeliveryRetry = z.strictObject({
  dead_reason: DeadReason.optional().describe("only those that were given up for this reason"),
  settled_before: z
    .string()
    .refine((text) => Number.isFinite(parseUtcInstant(text)), {
      error: "must be an instant such as 2026-11-20T09:00:00Z",
    })
    .optional()
    .describe("only those that were given up before this instant; by default now"),
  limit: z.int().min(1).max(10_000).default(1_000).describe("at most so many, oldest first"),
});
export type DeliveryRetry = z.infer<typeof DeliveryRetry>;

/** What a bulk retry answers. */
export const RetriedDeliveries = z.object({
  retried: z.int().nonnegative(),
  /** Dead ones that fit, too, and were left for another request. */
  remaining: z.int().nonnegative(),
});
export type RetriedDeliveries = z.infer<typeof RetriedDeliveries>;

/** `POST /hooks/{name}/test`. */
export const HookTest = z.strictObject({
  selector: z.string().optional().describe("one of the hook's own; by default its first"),
  value: AnyJson.optional().describe("of the event"),
});
export type HookTest = z.infer<typeof HookTest>;

/** What a test of a hook has started. */
export const TestedHook = z.object({
  /** Name of the hook. */
  hook: z.string(),
  execution_id: z.string(),
  envelope: HookEnvelope,
});
export type TestedHook = z.infer<typeof TestedHook>;
