import * as z from "zod";

/** What no interval exceeds: 365,000 days, as for durations. */
const LONGEST_SECONDS = 365_000 * 86_400;

const Instant = z.string().describe("ISO 8601; without an offset it is UTC");

/** When a schedule fires. What only a calendar can tell is checked by the server (EXE-74). */
export const ScheduleSpec = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("cron"),
    expression: z.string().max(500).describe("5 fields, or 6 with seconds first"),
    timezone: z.string().max(100).default("UTC").describe("IANA name, such as `Europe/Berlin`"),
  }),
  z.strictObject({
    type: z.literal("interval"),
    every_seconds: z.number().min(1).max(LONGEST_SECONDS),
    start_at: Instant.optional().describe("the first time; by default it was created then"),
    end_at: Instant.optional().describe("never after this"),
  }),
  z.strictObject({ type: z.literal("once"), at: Instant }),
]);
export type ScheduleSpec = z.infer<typeof ScheduleSpec>;

/** What a fire does while an execution of the schedule has not ended. */
export const Overlap = z.enum(["skip", "allow", "queue", "cancel"]);
export type Overlap = z.infer<typeof Overlap>;

/** How many of the fires that were missed while no server ran are made up for. */
export const CatchUp = z.enum(["one", "none", "all"]);
export type CatchUp = z.infer<typeof CatchUp>;
