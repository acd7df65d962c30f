/** `[engine.hooks]`: whether events start workflows, and how patiently (HOOK-54). */
import * as z from "zod";
import { table } from "./config-table.ts";

const whole = (initial: number, min: number, max: number) =>
  z.int().min(min).max(max).default(initial);
const backoff = (initial: number) => z.number().min(0.1).max(3600).default(initial);

export const hooksTable = table({
  enabled: z
    .boolean()
    .default(true)
    .describe("Whether events fire hooks; false leaves hooks and waiting deliveries as they are."),
  hop_limit: whole(3, 1, 100).describe(
    "How many hooks may fire in a chain, each for an event of what the one before started.",
  ),
  drain_batch_size: whole(20, 1, 10_000).describe("Deliveries settled in one pass."),
  snapshot_ttl_seconds: z
    .number()
    .min(0)
    .max(3600)
    .default(5)
    .describe(
      "On PostgreSQL: age at which a server reads the enabled hooks anew; 0 = for every transaction with events.",
    ),
  event_drain: z
    .boolean()
    .default(true)
    .describe(
      "Whether deliveries are made at once; false leaves them to `scheduling.poll_interval`.",
    ),
  max_value_bytes: whole(65_536, 1024, 1_048_576).describe(
    "Size of an event's value, as JSON text, above which its target gets only the beginning.",
  ),
  backoff_base: backoff(2).describe("Before the second try of a delivery; doubles with each."),
  backoff_max: backoff(300).describe("Longest time between two tries."),
}).refine(({ backoff_base, backoff_max }) => backoff_base <= backoff_max, {
  path: ["backoff_base"],
  error: "must be at most backoff_max",
});
