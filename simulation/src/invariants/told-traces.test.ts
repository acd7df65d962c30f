import { expect, test } from "vitest";
import type { BodyEntry } from "../evidence.ts";
import type { Told } from "../programs/program.ts";
import type { Replay } from "./replays.ts";
import { broken } from "./testing/sample-evidence.ts";
import { toldTraces } from "./told-traces.ts";
import type { Violation } from "./violation.ts";

const TOLD = { began: 1, clock: 2, random: 0.5, uuid: "u", token: "t", label: null, seen: "s" };

function judged(told: Told, replay: Partial<Replay>, state = "COMPLETED"): readonly Violation[] {
  const evidence = broken(({ bodies, executions }) => {
    (bodies[0] as BodyEntry as { told: Told }).told = told;
    executions[0].row.state = state as "COMPLETED";
  });
  const telling = { execution_id: "e1", path: "r.0", told: TOLD };
  const whole = { problem: undefined, sights: [], tellings: [telling], ...replay };
  return toldTraces(evidence, new Map([["e1", whole]]));
}

test("I9 what a task was told is what its log tells", () => {
  expect(judged(TOLD, {})).toEqual([]);
});

test("I9 a clock that its log has otherwise is found", () => {
  expect(judged({ ...TOLD, began: 3 }, {})).toMatchObject([
    { invariant: "I9", execution_id: "e1", message: expect.stringContaining('told {"began":3') },
  ]);
});

test("I9 a call that its log never comes to is found, unless an end came from outside", () => {
  expect(judged(TOLD, { tellings: [] })).toMatchObject([
    { message: expect.stringContaining("comes to no such call") },
  ]);
  expect(judged(TOLD, { tellings: [] }, "CANCELLED")).toEqual([]);
});
