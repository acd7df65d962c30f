/** What the events that begin a wait hold, decoded: written by a copy, read by the rules. */
import * as z from "zod";
import { isName } from "../values/name.ts";
import { parseInstant } from "../values/time.ts";

export const Instant = z.string().refine((text) => !Number.isNaN(parseInstant(text)), {
  message: "must be an instant in ISO 8601",
});
const QualifiedName = z.string().refine(isQualified, { message: "must be <namespace>/<name>" });

/** The value of a `sleep`'s TASK_STARTED. */
export const SleepStart = z.object({ until: Instant });
export type SleepStart = Readonly<z.infer<typeof SleepStart>>;

/** The value of a `signal`'s TASK_STARTED. */
export const SignalStart = z.object({ name: z.string(), until: Instant.optional() });
export type SignalStart = Readonly<z.infer<typeof SignalStart>>;

/** The value of a `call`'s TASK_STARTED. */
export const CallStart = z.object({
  workflow: QualifiedName,
  input: z.unknown().optional(),
  version: z.int().positive().optional(),
  /** False: the outcome is the child's id. */
  wait: z.boolean(),
  /** The child goes on when its parent is cancelled. */
  detach: z.boolean(),
  /** A label for the child. */
  name: z.string().optional(),
});
export type CallStart = Readonly<z.infer<typeof CallStart>>;

/** The value of a TASK_PAUSED. */
export const PauseStart = z.object({
  name: z.string(),
  output: z.unknown().optional(),
  until: Instant.optional(),
  on_complete: z.string().optional(),
});
export type PauseStart = Readonly<z.infer<typeof PauseStart>>;

function isQualified(text: string): boolean {
  const parts = text.split("/");
  return parts.length === 2 && parts.every(isName);
}
