import * as z from "zod";
import { ItemRefused } from "./checkpoint.ts";
import { Failure } from "./failure.ts";

/** Why a worker gives an execution back. `load_failed` ends it FAILED (LIV-6). */
export const ReleaseReason = z.enum([
  "draining",
  "paused",
  "superseded",
  "overloaded",
  "principal_unavailable",
  "neighbour",
  "runner_lost",
  "stuck",
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
