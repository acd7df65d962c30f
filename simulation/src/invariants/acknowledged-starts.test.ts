import { expect, test } from "vitest";
import { acknowledgedStarts } from "./acknowledged-starts.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("I1 a run that kept every start is right", () => {
  expect(acknowledgedStarts(sampleEvidence())).toEqual([]);
});

test("I1 a start that was acknowledged and is in no store is lost", () => {
  const evidence = broken(({ executions }) => void executions.shift());
  expect(acknowledgedStarts(evidence)).toMatchObject([
    { invariant: "I1", execution_id: "e1", message: expect.stringContaining("no store has it") },
  ]);
});

test("I1 what retention deleted is not lost", () => {
  const evidence = broken(({ executions, deletions }) => {
    executions.shift();
    deletions.push({ at: 1, execution_id: "e1", before: 1 });
  });
  expect(acknowledgedStarts(evidence)).toEqual([]);
});

test("I1 a start whose execution has another input is lost as well", () => {
  const evidence = broken(({ executions }) => {
    executions[0].row.input = null;
  });
  expect(acknowledgedStarts(evidence)).toMatchObject([{ execution_id: "e1" }]);
});

test("I1 one key that gave two executions is found, in the answers and in the rows", () => {
  const evidence = broken(({ requests, executions }) => {
    const again = structuredClone(requests[0]);
    if (again.answer.kind === "done") again.answer.execution_id = "e2";
    requests.push(again);
    executions[1].row.input = structuredClone(executions[0].row.input);
    for (const { row } of executions) row.unique_key = "k1";
  });
  expect(acknowledgedStarts(evidence).map(({ message }) => message)).toEqual([
    "key k1 was answered with e1 and with e2",
    "it and e1 have the key k1",
  ]);
});

test("I1 repeating a start under its key is not refused", () => {
  const evidence = broken(({ requests }) => {
    const again = structuredClone(requests[0]);
    again.answer = { kind: "refused", status: 409, code: "idempotency_mismatch" };
    requests.push(again);
  });
  expect(acknowledgedStarts(evidence)).toMatchObject([
    { message: expect.stringContaining("was refused") },
  ]);
});
