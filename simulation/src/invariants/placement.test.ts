import { expect, test } from "vitest";
import { placement } from "./placement.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";

test("I14 claims by a worker that may have them are right", () => {
  expect(placement(sampleEvidence())).toEqual([]);
});

test("I14 a worker that is not the required one, or has too little, is found", () => {
  const named = broken(({ commits }) => {
    commits[0].row.requirements = { worker: "gpu-1" };
  });
  expect(placement(named)).toMatchObject([
    { execution_id: "e1", message: expect.stringContaining("which is not worker gpu-1") },
  ]);
  const small = broken(({ commits, sessions }) => {
    commits[4].row.requirements = { requests: { cpu: 2 } };
    sessions[0].resources = { cpu_total: 1 } as never;
  });
  expect(placement(small)).toMatchObject([{ message: expect.stringContaining("2 cores") }]);
  const runner = broken(({ commits }) => {
    commits[0].row.requirements = { runner: "process" };
  });
  expect(placement(runner)).toMatchObject([{ message: expect.stringContaining("runner process") }]);
});

test("I14 a claim for a session that had ended, or never was, is found", () => {
  const ended = broken(({ sessions }) => {
    sessions[0].ended_at = BEGAN + 60_000;
  });
  expect(placement(ended).map(({ execution_id }) => execution_id)).toEqual(["e1", "e2"]);
  const none = broken(({ sessions }) => void sessions.pop());
  expect(placement(none)).toHaveLength(4);
});

test("I14 a claim for a worker that an operator had paused is found, until it is resumed", () => {
  const set = { worker: "w1", desired: "paused", asked_at: BEGAN + 1, at: BEGAN + 2 } as const;
  const paused = broken(({ activities }) => activities.push(set));
  expect(placement(paused)).toHaveLength(4);
  const resumed = broken(({ activities }) => {
    activities.push(set, { worker: "w1", desired: "active", asked_at: BEGAN + 3, at: null });
  });
  expect(placement(resumed)).toEqual([]);
  // Asked for with the claim, and done before that settled.
  const meanwhile = broken(({ activities, commits }) => {
    activities.push(set);
    for (const { asked_at } of commits.filter(({ events }) => events.length > 0)) {
      activities.push({ worker: "w1", desired: "active", asked_at, at: null });
    }
  });
  expect(placement(meanwhile)).toEqual([]);
});
