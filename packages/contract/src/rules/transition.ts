import { isTerminal, type State } from "../executions/execution.ts";
import type { EventType } from "../log/event-values.ts";

/**
 * The one table of state changes (EXE-16, EXE-17): which event moves an execution from a state,
 * and to which. Parking on timers and children, and hand-overs, change the row without an event;
 * {@link handOverState} has the latter.
 */
const TABLE: Readonly<Partial<Record<EventType, Partial<Record<State | "none", State>>>>> = {
  WORKFLOW_CREATED: { none: "CREATED" },
  // A CANCELLING execution keeps its state while a worker takes it to unwind.
  WORKFLOW_CLAIMED: { CREATED: "CLAIMED", RESUMING: "CLAIMED", CANCELLING: "CANCELLING" },
  WORKFLOW_STARTED: { CLAIMED: "RUNNING", CANCELLING: "CANCELLING" },
  WORKFLOW_RESUMED: { CLAIMED: "RUNNING", CANCELLING: "CANCELLING" },
  WORKFLOW_PAUSED: { RUNNING: "PAUSED" },
  // From RUNNING only when parked: the caller checks that nobody owns it.
  WORKFLOW_RESUMING: { PAUSED: "RESUMING", RUNNING: "RESUMING" },
  WORKFLOW_CANCELLING: {
    CREATED: "CANCELLING",
    CLAIMED: "CANCELLING",
    RUNNING: "CANCELLING",
    PAUSED: "CANCELLING",
    RESUMING: "CANCELLING",
  },
  WORKFLOW_CANCELLED: { CANCELLING: "CANCELLED" },
  WORKFLOW_COMPLETED: { RUNNING: "COMPLETED", CANCELLING: "COMPLETED" },
  WORKFLOW_FAILED: {
    CLAIMED: "FAILED",
    RUNNING: "FAILED",
    CREATED: "FAILED",
    RESUMING: "FAILED",
    CANCELLING: "FAILED",
  },
};

/** The state after an event; undefined when the table does not allow it there. */
export function nextState(from: State | "none", event: EventType): State | undefined {
  const row = TABLE[event];
  if (row) return row[from];
  // Task events and warnings belong to a live execution and leave its state alone.
  return from === "none" || isTerminal(from) ? undefined : from;
}

/** Whether a worker may be given an execution in this state. */
export function isClaimable(state: State): boolean {
  return nextState(state, "WORKFLOW_CLAIMED") !== undefined;
}

/** The state after several events in order; undefined when one of them is not allowed. */
export function stateAfter(from: State, events: readonly { type: EventType }[]): State | undefined {
  let state: State | undefined = from;
  for (const event of events) {
    state = nextState(state, event.type);
    if (!state) return undefined;
  }
  return state;
}

/** Where an owned execution goes when its worker is lost, drained or releases it (row 7). */
export function handOverState(state: State, resuming: boolean): State {
  if (state === "CANCELLING") return "CANCELLING";
  return resuming ? "RESUMING" : "CREATED";
}
