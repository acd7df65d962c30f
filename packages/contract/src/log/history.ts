import * as z from "zod";
import type { ExecutionRow } from "../executions/execution-row.ts";
import { formatInstant } from "../values/time.ts";
import { Event } from "./event.ts";

/**
 * A recorded execution as a file (EXE-88): what `engine workflow replay` and golden tests read.
 * Values are typed, as the log holds them, so that a replay sees what the first run saw.
 */
export const History = z.object({
  format: z.literal(1),
  execution: z.object({
    execution_id: z.string(),
    namespace: z.string(),
    workflow: z.string(),
    version: z.int().nullable(),
    name: z.string().nullable(),
    state: z.string(),
    parent_id: z.string().nullable(),
    transient: z.boolean(),
    /** As the log holds it. */
    input: Event.shape.value,
  }),
  /** Of the generator behind `Math.random` and `crypto.randomUUID` in the body. */
  seed: z.string(),
  events: z.array(Event.extend({ recorded_at: z.string() })),
});
export type History = z.infer<typeof History>;

/** An execution as a file that replays. @param log Its whole log up to the row's head. */
export function toHistory(
  row: ExecutionRow,
  log: readonly { readonly event: Event; readonly recorded_at: number }[],
): History {
  return {
    format: 1,
    execution: History.shape.execution.parse(row),
    seed: row.seed,
    events: log.map(({ event: { sealed: _, ...event }, recorded_at }) => ({
      ...event,
      recorded_at: formatInstant(recorded_at),
    })),
  };
}
