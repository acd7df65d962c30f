import * as z from "zod";
import { Failure } from "../errors/failure.ts";
import { ItemRefused } from "./checkpoint.ts";

/**
 * Why a worker gives an execution back. `neighbour`: another execution ended the thread or process
 * that both ran in; `suspect`: one of several did, and it is not known which. `unready`: the worker
 * could not begin the execution, for reasons of its own. `load_failed` ends it FAILED (LIV-6).
 */
export const ReleaseReason = z.enum([
  "draining",
  "paused",
  "superseded",
  "overloaded",
  "principal_unavailable",
  "neighbour",
  "suspect",
  "runner_lost",
  "stuck",
  "unready",
  "load_failed",
]);
export type ReleaseReason = z.infer<typeof ReleaseReason>;

/** An execution that a worker gives back; of another generation it is refused as stale. */
export const ReleaseItem = z.strictObject({
  execution_id: z.string(),
  generation: z.int().positive(),
  reason: ReleaseReason,
  /** With `load_failed`: why the module or the definition does not load. */
  error: Failure.optional(),
});
export type ReleaseItem = z.infer<typeof ReleaseItem>;

/** The answer to one release; answers come in the order of the items. */
export const ReleaseAnswer = z.union([
  z.object({ execution_id: z.string(), ok: z.literal(true) }),
  ItemRefused,
]);
export type ReleaseAnswer = z.infer<typeof ReleaseAnswer>;
