import { expect, test } from "vitest";
import { scheduleDueAt } from "./schedule-row.ts";

const active = { status: "active", next_run_at: 100, held: null } as const;

test("EXE-75 an active schedule is due at its next instant, or when a start that was held may be made", () => {
  expect(scheduleDueAt(active)).toBe(100);
  expect(scheduleDueAt({ ...active, held: { instant: 50, retry_at: 70 } })).toBe(70);
  expect(scheduleDueAt({ ...active, held: { instant: 50, retry_at: null } })).toBe(50);
  expect(scheduleDueAt({ ...active, held: { instant: 50, retry_at: 170 } })).toBe(100);
});

test("EXE-75 one that is behind its plan is due when the failed start is tried again", () => {
  expect(scheduleDueAt({ ...active, held: { instant: 100, retry_at: 900 } })).toBe(900);
});

test("EXE-72 only an active schedule is ever due", () => {
  for (const status of ["paused", "completed", "disabled"] as const) {
    expect(scheduleDueAt({ ...active, status })).toBeNull();
  }
  expect(scheduleDueAt({ ...active, next_run_at: null })).toBeNull();
});
