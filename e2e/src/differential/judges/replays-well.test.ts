import { expect, test } from "vitest";
import { evidenceOf, executionOf } from "../testing/sample-evidence.ts";
import { replaysWell } from "./replays-well.ts";

test("I7 a log that replays", () => {
  expect(replaysWell(evidenceOf())).toEqual([]);
});

test.each(["diverged", "unverifiable", "crashed"] as const)("I7 planted: a replay %s", (result) => {
  const replay = { result, reason: "because", told: {} };
  const executions = [executionOf(undefined, { replay })];
  const [found] = replaysWell(evidenceOf({ executions }));
  expect(found?.message).toBe(`its log (COMPLETED) replays as ${result}: because`);
});
