import { expect, test } from "vitest";
import { capacity } from "./capacity.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("I16 a worker with free slots is right", () => {
  expect(capacity(sampleEvidence())).toEqual([]);
});

test("I16 a worker that has more than it has slots for is found when it is given the one too many", () => {
  const evidence = broken(({ commits, sessions }) => {
    sessions[0].slots = 1;
    const other = structuredClone(commits[0]);
    other.execution_id = "e3";
    commits.splice(1, 0, other);
  });
  expect(capacity(evidence).slice(0, 1)).toMatchObject([
    { execution_id: "e3", message: expect.stringContaining("2 executions and 1 slots") },
  ]);
  const unlimited = broken(({ commits, sessions }) => {
    sessions[0].slots = 0;
    commits.splice(1, 0, { ...structuredClone(commits[0]), execution_id: "e3" });
  });
  expect(capacity(unlimited)).toEqual([]);
});

test("I16 a counter that is not zero at rest is found", () => {
  const evidence = broken(({ counters }) => {
    counters["claims in flight"] = 1;
  });
  expect(capacity(evidence)).toMatchObject([{ message: "at rest claims in flight is 1" }]);
});
