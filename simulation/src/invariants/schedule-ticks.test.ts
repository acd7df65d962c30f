import { expect, test } from "vitest";
import type { Evidence } from "../evidence.ts";
import { retained, scheduleTicks } from "./schedule-ticks.ts";
import { broken, type Draft, sampleEvidence } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";

const ticked = (second: number) =>
  broken(({ executions }) => {
    const instants = [BEGAN - 1_000, second];
    for (const [i, { row }] of executions.entries()) {
      row.schedule = "nightly";
      row.scheduled_for = instants[i] ?? null;
    }
  });

test("I23 ticks that started one execution each are right", () => {
  expect(scheduleTicks(sampleEvidence())).toEqual([]);
  expect(scheduleTicks(ticked(BEGAN - 500))).toEqual([]);
});

test("I23 a tick that started two executions is found, and so is one that came early", () => {
  expect(scheduleTicks(ticked(BEGAN - 1_000))).toMatchObject([
    { execution_id: "e2", message: expect.stringContaining("it and e1 were both started") },
  ]);
  expect(scheduleTicks(ticked(BEGAN + 1))).toMatchObject([{ execution_id: "e2" }]);
});

test("I23 a start is older than its tick where the server's clock was set back between the two", () => {
  const set = (at: number, server: string | null) => {
    const evidence = ticked(BEGAN + 71_000);
    const fault = { kind: "clock_jump", at, until: null, worker: null, server } as const;
    return { ...evidence, faults: [fault] };
  };
  expect(scheduleTicks(set(BEGAN + 69_999, "s1"))).toEqual([]);
  expect(scheduleTicks(set(BEGAN + 50_000, "s1"))).toHaveLength(1);
});

const deleted = (before: number, more: (evidence: Draft<Evidence>) => void = () => {}) =>
  broken((evidence) => {
    evidence.executions.shift();
    evidence.deletions.push({ at: BEGAN + 90_000, execution_id: "e1", before });
    more(evidence);
  });

test("I23 what ended long ago may go, what ended since may not", () => {
  expect(retained(sampleEvidence())).toEqual([]);
  expect(retained(deleted(BEGAN + 70_000))).toEqual([]);
  expect(retained(deleted(BEGAN + 64_000))).toMatchObject([{ execution_id: "e1" }]);
});

test("I23 what had not ended may not go", () => {
  const evidence = deleted(BEGAN + 70_000, ({ commits }) => void commits.splice(10, 1));
  expect(retained(evidence)).toMatchObject([
    { message: expect.stringContaining("while it was CLAIMED") },
  ]);
});

test("I23 a child goes with its parent, and what was forked stays for its fork", () => {
  const child = deleted(BEGAN + 70_000, ({ commits }) => {
    for (const { row, execution_id } of commits) if (execution_id === "e1") row.parent_id = "e2";
  });
  expect(retained(child)).toMatchObject([
    { message: expect.stringContaining("parent e2 is kept") },
  ]);
  const fork = deleted(BEGAN + 70_000, ({ executions }) => {
    executions[0].row.forked_from = { execution_id: "e1", seq: 5 };
  });
  expect(retained(fork)).toMatchObject([{ execution_id: "e2" }]);
});
