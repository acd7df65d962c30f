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
  /** How many values are not those that were recorded: masked, or of sensitive tasks. Absent: none. */
  masked: z.int().nonnegative().optional(),
});
export type History = z.infer<typeof History>;

/**
 * An execution as a file that replays.
 *
 * @param log Its whole log up to the row's head.
 * @param masked How many parts of a value readers do not see; what sensitive tasks hide counts besides.
 */
export function toHistory(
  row: ExecutionRow,
  log: readonly { readonly event: Event; readonly recorded_at: number }[],
  masked: (value: unknown) => number = () => 0,
): History {
  const hidden = log.filter(({ event }) => event.sealed !== undefined).length;
  const shown = log.map(({ event: { sealed: _, ...event } }) => event);
  const count = masked(row.input) + masked(shown);
  return {
    format: 1,
    execution: History.shape.execution.parse(row),
    seed: row.seed,
    ...(hidden + count > 0 && { masked: hidden + count }),
    events: log.map(({ event: { sealed: _, ...event }, recorded_at }) => ({
      ...event,
      recorded_at: formatInstant(recorded_at),
    })),
  };
}
