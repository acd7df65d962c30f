import {
  type Event,
  type ExecutionRow,
  formatInstant,
  type History,
  parseEventTime,
} from "@engine/contract";

/** @param log Its whole log. */
export function historyOf(row: ExecutionRow, log: readonly Event[]): History {
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
    // The engine's clock stands still between an event and its commit.
    events: log.map((event) => ({
      ...event,
      recorded_at: formatInstant(parseEventTime(event.time)),
    })),
  };
}
