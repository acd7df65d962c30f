import { expect, test } from "vitest";
import { type ShownFor, type Verdict, verdictOn, type WorkerState } from "./worker-admission.ts";

/** The table of the requirement, row by row. */
const TABLE: readonly (readonly [ShownFor, WorkerState, Verdict])[] = [
  ["bootstrap", "new", "accepted"],
  ["bootstrap", "existing", "accepted"],
  ["bootstrap", "disabled", "disabled"],
  ["bootstrap", "banned", "banned"],
  ["bound", "new", "accepted"],
  ["bound", "existing", "accepted"],
  ["bound", "disabled", "disabled"],
  ["bound", "banned", "banned"],
  ["unbound", "new", "accepted"],
  ["unbound", "existing", "unavailable"],
  ["unbound", "disabled", "unavailable"],
  ["unbound", "banned", "unavailable"],
  ["other", "new", "unauthenticated"],
  ["other", "existing", "unauthenticated"],
  ["other", "disabled", "unauthenticated"],
  ["other", "banned", "unauthenticated"],
  ["own", "new", "unauthenticated"],
  ["own", "existing", "accepted"],
  ["own", "disabled", "unauthenticated"],
  ["own", "banned", "unauthenticated"],
  ["process", "new", "accepted"],
  ["process", "existing", "accepted"],
  ["process", "disabled", "disabled"],
  ["process", "banned", "banned"],
];

test.each(TABLE)("AUTH-50 %s, for a worker that is %s: %s", (shown, worker, verdict) => {
  expect(verdictOn(shown, worker)).toBe(verdict);
});
