/** Limits that operators define and workflows name (FLW-3). */
import * as z from "zod";
import { isName, NAME_RULE } from "../values/name.ts";

export const LimitName = z.string().refine(isName, `must be ${NAME_RULE}`);

const MOST = 100_000;
const DAY_S = 86_400;

export const LimitRate = z.strictObject({
  count: z.int().min(1).max(MOST).describe("so many may begin"),
  period_seconds: z
    .number()
    .min(1)
    .max(DAY_S)
    .refine((seconds) => Number.isInteger(seconds * 1000), "must be whole milliseconds")
    .describe("in any window of that length, from 1 s to 1 d"),
});
export type LimitRate = z.infer<typeof LimitRate>;

/** `PUT /admin/limits/{name}`. */
export const NewLimit = z
  .strictObject({
    concurrency: z
      .int()
      .min(0)
      .max(MOST)
      .optional()
      .describe("so many executions under it may be owned at once; 0 stops starts"),
    rate: LimitRate.optional(),
  })
  .refine(
    ({ concurrency, rate }) => concurrency !== undefined || rate !== undefined,
    "expected concurrency, rate or both",
  );
export type NewLimit = z.infer<typeof NewLimit>;

export const LimitRecord = z.object({
  name: z.string(),
  concurrency: z.int().nullable(),
  rate: z.object({ count: z.int(), period_seconds: z.number() }).nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type LimitRecord = z.infer<typeof LimitRecord>;

const LimitHolderRecord = z.object({
  execution_id: z.string(),
  key: z
    .string()
    .nullable()
    .describe(
      "value of the limit's key; null without one. `(routing input)` for what nobody reads",
    ),
  since: z.string(),
});

/** A limit with the executions that have its places. */
export const LimitDetails = LimitRecord.extend({
  held: z.int().describe("places taken, of all keys together"),
  holders: z.array(LimitHolderRecord).describe("the first 100 of them, by key"),
});
export type LimitDetails = z.infer<typeof LimitDetails>;
