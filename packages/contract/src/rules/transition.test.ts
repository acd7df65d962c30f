import { expect, test } from "vitest";
import { isTerminal, State } from "../executions/execution.ts";
import { EVENT_TYPES, type EventType } from "../log/event-values.ts";
import { handOverState, nextState, stateAfter } from "./transition.ts";

/** The rows of EXE-17 that have an event; row 5 has none, row 7 is `handOverState`. */
const rows: [row: number, from: (State | "none")[], event: EventType, to: State][] = [
  [1, ["none"], "WORKFLOW_CREATED", "CREATED"],
  [2, ["CREATED", "RESUMING"], "WORKFLOW_CLAIMED", "CLAIMED"],
  [3, ["CLAIMED"], "WORKFLOW_STARTED", "RUNNING"],
  [3, ["CLAIMED"], "WORKFLOW_RESUMED", "RUNNING"],
  [4, ["RUNNING"], "WORKFLOW_PAUSED", "PAUSED"],
  [6, ["PAUSED", "RUNNING"], "WORKFLOW_RESUMING", "RESUMING"],
  [8, ["RUNNING"], "WORKFLOW_COMPLETED", "COMPLETED"],
  [9, ["RUNNING"], "WORKFLOW_FAILED", "FAILED"],
  [10, ["CLAIMED"], "WORKFLOW_FAILED", "FAILED"],
  [11, ["CREATED", "RESUMING"], "WORKFLOW_FAILED", "FAILED"],
  [
    13,
    ["CREATED", "CLAIMED", "RUNNING", "PAUSED", "RESUMING"],
    "WORKFLOW_CANCELLING",
    "CANCELLING",
  ],
  [14, ["CANCELLING"], "WORKFLOW_CANCELLED", "CANCELLED"],
  [15, ["CANCELLING"], "WORKFLOW_COMPLETED", "COMPLETED"],
  [15, ["CANCELLING"], "WORKFLOW_FAILED", "FAILED"],
  // A worker that takes a cancelled execution to unwind it leaves the state alone (DSP-3).
  [14, ["CANCELLING"], "WORKFLOW_CLAIMED", "CANCELLING"],
  [14, ["CANCELLING"], "WORKFLOW_STARTED", "CANCELLING"],
  [14, ["CANCELLING"], "WORKFLOW_RESUMED", "CANCELLING"],
];

test.each(rows)("EXE-17 row %i: from %j, %s leads to %s", (_, from, event, to) => {
  for (const state of from) expect(nextState(state, event), state).toBe(to);
});

const REMARKS: ReadonlySet<EventType> = new Set(["WORKFLOW_WARNING", "WORKFLOW_SIGNALED"]);

test("EXE-16 a signal and a warning leave the state alone", () => {
  for (const event of REMARKS) {
    for (const state of State.options.filter((known) => !isTerminal(known))) {
      expect(nextState(state, event), `${state} ${event}`).toBe(state);
    }
  }
});

test("EXE-16 a state event that no row lists is refused", () => {
  const listed = new Set(
    rows.flatMap(([, from, event]) => from.map((state) => `${state} ${event}`)),
  );
  for (const state of [...State.options, "none"] as const) {
    for (const event of EVENT_TYPES.filter((type) => type.startsWith("WORKFLOW_"))) {
      if (REMARKS.has(event) || listed.has(`${state} ${event}`)) continue;
      expect(nextState(state, event), `${state} ${event}`).toBeUndefined();
    }
  }
});

test("EXE-18 nothing follows a terminal state", () => {
  for (const state of State.options.filter(isTerminal)) {
    for (const event of EVENT_TYPES) expect(nextState(state, event)).toBeUndefined();
  }
  expect(State.options.filter(isTerminal)).toEqual(["CANCELLED", "COMPLETED", "FAILED"]);
});

test("EXE-19 task events and warnings leave every live state as it is", () => {
  for (const state of State.options.filter((s) => !isTerminal(s))) {
    for (const event of EVENT_TYPES.filter((e) => e.startsWith("TASK_"))) {
      expect(nextState(state, event)).toBe(state);
    }
    expect(nextState(state, "WORKFLOW_WARNING")).toBe(state);
  }
  expect(nextState("none", "TASK_STARTED")).toBeUndefined();
});

test("EXE-17 row 12: an execution that never started is cancelled in one go", () => {
  const both = [{ type: "WORKFLOW_CANCELLING" }, { type: "WORKFLOW_CANCELLED" }] as const;
  expect(stateAfter("CREATED", both)).toBe("CANCELLED");
  expect(stateAfter("COMPLETED", both)).toBeUndefined();
});

test("EXE-17 row 7: a hand-over goes back to CREATED, or RESUMING if a resume is unconsumed", () => {
  for (const state of ["CLAIMED", "RUNNING"] as const) {
    expect(handOverState(state, false)).toBe("CREATED");
    expect(handOverState(state, true)).toBe("RESUMING");
  }
  expect(handOverState("CANCELLING", true)).toBe("CANCELLING");
});
