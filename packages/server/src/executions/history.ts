import { type ExecutionRow, formatInstant, type History } from "@engine/contract";
import type { LoggedEvent } from "@engine/store";

/** An execution as a file that replays (EXE-88). @param log The whole log up to the row's head. */
export function toHistory(row: ExecutionRow, log: readonly LoggedEvent[]): History {
  const { execution_id, namespace, workflow, version, name } = row;
  const { state, parent_id, transient, input, seed } = row;
  return {
    format: 1,
    execution: {
      execution_id,
      namespace,
      workflow,
      version,
      name,
      state,
      parent_id,
      transient,
      input,
    },
    seed,
    events: log.map(({ event, recorded_at }) => ({
      ...event,
      recorded_at: formatInstant(recorded_at),
    })),
  };
}
