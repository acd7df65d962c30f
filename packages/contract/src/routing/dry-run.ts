import * as z from "zod";
import { AnyJson } from "../values/any-json.ts";
import { RoutingInputField } from "./routing-input.ts";

/** `POST /workflows/{ns}/{wf}/placement`: what a start would be given, without starting anything (RTE-6). */
export const PlacementQuestion = z.strictObject({
  input: AnyJson.optional().describe("as a start would send it; left out, it is not checked"),
  routing_input: RoutingInputField.optional().describe("as the header of a start; never read back"),
  version: z.int().positive().optional().describe("the latest unless given"),
});
export type PlacementQuestion = z.infer<typeof PlacementQuestion>;

/** A worker that could have it now. */
export const EligibleWorker = z.object({
  worker: z.string(),
  score: z.number().nullable().describe("null without a policy: the lowest load comes first"),
  terms: z
    .array(
      z.object({
        term: z.string(),
        weight: z.number(),
        value: z.number().nullable().describe("0 to 1; null: no worker has a value to rank by"),
      }),
    )
    .describe("what each term of the policy came to"),
  load: z.int(),
});
export type EligibleWorker = z.infer<typeof EligibleWorker>;

export const RejectedWorker = z.object({
  worker: z.string(),
  failing: z
    .array(z.string())
    .describe("terms, runner, packages, resources and room that it lacks"),
});
export type RejectedWorker = z.infer<typeof RejectedWorker>;

/** Asked of the gate as it is now. */
export const PlacementAnswer = z.object({
  eligible: z.array(EligibleWorker).describe("in the order in which they would be chosen"),
  rejected: z.array(RejectedWorker).describe("by name"),
  error: z
    .object({
      type: z.string(),
      message: z.string(),
      details: z.record(z.string(), AnyJson).nullable(),
    })
    .nullable()
    .describe("what a start would fail with at once; then no worker was looked at"),
});
export type PlacementAnswer = z.infer<typeof PlacementAnswer>;
