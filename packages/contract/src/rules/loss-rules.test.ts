import { expect, test } from "vitest";
import type { Loss, LossReason } from "../executions/execution-row.ts";
import { blamed, counted, delayedUntil, lossesAfter, suspicionOf } from "./loss-rules.ts";

const NOW = 1_000;

function loss(reason: LossReason, uncounted = false): Loss {
  return { worker: "w", generation: 1, at: 1, reason, ...(uncounted && { uncounted }) };
}

const row = { worker: "w", generation: 2, outcome_generation: 0 };

test.each<[readonly Loss[], ReturnType<typeof suspicionOf>]>([
  [[], "none"],
  [[loss("session_lost", true)], "none"],
  [Array.from({ length: 4 }, () => loss("session_lost", true)), "none"],
  [[...Array.from({ length: 4 }, () => loss("session_lost", true)), loss("session_lost")], "apart"],
  [Array.from({ length: 7 }, () => loss("session_lost")), "apart"],
  [Array.from({ length: 7 }, () => loss("session_lost", true)), "solo"],
  [[loss("runner_lost", true)], "apart"],
  [[loss("stuck")], "apart"],
  [[loss("unready", true), loss("unready", true), loss("unready", true)], "none"],
  [[loss("forgotten"), loss("forgotten")], "none"],
])("LIV-5 losses %j leave suspicion %s", (losses, suspicion) => {
  expect(suspicionOf(losses)).toBe(suspicion);
});

test("LIV-5 a lost session is held against the one that it had, or the only one that had it to itself", () => {
  const suspect = { losses: Array.from({ length: 7 }, () => loss("session_lost", true)) };
  const fresh = { losses: [] };
  expect(blamed([fresh])).toBe(fresh);
  expect(blamed([fresh, { losses: [] }])).toBeUndefined();
  expect(blamed([fresh, suspect, { losses: [loss("runner_lost")] }])).toBe(suspect);
  expect(blamed([suspect, { ...suspect }])).toBeUndefined();
});

test("LIV-5 what does not count delays like what does, is kept in a few entries and ends nothing", () => {
  let losses: readonly Loss[] = [loss("runner_lost")];
  const delays: (number | null)[] = [];
  for (let n = 0; n < 9; n++) {
    losses = lossesAfter({ ...row, losses }, NOW, { reason: "unready", uncounted: true });
    delays.push(delayedUntil(losses, NOW));
  }
  expect(counted(losses)).toEqual([loss("runner_lost")]);
  expect(losses).toHaveLength(8);
  expect(delays.slice(0, 8)).toEqual([
    ...[null, 2_000, 3_000, 5_000, 9_000, 17_000, 33_000, 33_000],
  ]);
});

test.each<[LossReason, number]>([
  ["runner_lost", 1],
  ["stuck", 1],
  ["session_lost", 0],
  ["unready", 0],
])(
  "LIV-5 behind a recorded outcome %s counts for nothing, and leaves %i marks",
  (reason, marks) => {
    const got = { ...row, outcome_generation: 2, losses: [loss("runner_lost"), loss("stuck")] };
    const losses = lossesAfter(got, NOW, { reason });
    expect(counted(losses)).toEqual([]);
    expect(losses).toHaveLength(marks);
  },
);
