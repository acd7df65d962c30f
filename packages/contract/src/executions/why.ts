import * as z from "zod";
import { AnyJson } from "../values/any-json.ts";
import { State } from "./execution.ts";

/** What keeps an execution from going on, or that nothing does (WHY-1). */
export const WhyCode = z.enum([
  "finished",
  "running",
  "starting",
  "cancelling",
  "paused",
  "waiting_approval",
  "timer",
  "child",
  "signal",
  "delayed",
  "concurrency_limit",
  "rate_limit",
  "limit_undefined",
  "no_worker",
  "required_worker",
  "no_matching_worker",
  "workers_unavailable",
  "workers_full",
  "dispatching",
  "owner_disconnected",
  "principal_unavailable",
  "local_run",
]);
export type WhyCode = z.infer<typeof WhyCode>;

export const WhyReason = z.object({
  code: WhyCode,
  message: z.string().describe("one sentence, with what would end the wait"),
  since: z.string().nullable(),
  details: z.record(z.string(), AnyJson),
});
export type WhyReason = z.infer<typeof WhyReason>;

/** A connected worker that lacks least of what the execution needs. */
export const NearWorker = z.object({
  worker: z.string(),
  failing: z.array(z.string()).describe("terms, runner, packages and resources that it lacks"),
});
export type NearWorker = z.infer<typeof NearWorker>;

/** `GET /executions/{id}/why`: asked of the gate on what is known now. */
export const Why = z.object({
  execution_id: z.string(),
  state: State,
  since: z.string().describe("when it last changed"),
  summary: z.string().describe("one sentence"),
  reasons: z.array(WhyReason),
  workers: z.object({
    connected: z.int(),
    matching: z.int().describe("of these, how many have all that it needs"),
    free: z.int().describe("of these, how many could take it now"),
  }),
  nearest: z.array(NearWorker).describe("up to 3, of those that the caller may read"),
  queue: z.object({
    ahead: z.int().describe("waiting executions that need the same and come before"),
  }),
});
export type Why = z.infer<typeof Why>;
