import { expect, test } from "vitest";
import { recordedOnce } from "./recorded-once.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("I4 calls with one outcome are right, a rollback behind a cancel included", () => {
  expect(recordedOnce(sampleEvidence())).toEqual([]);
  const behind = broken(({ executions }) => {
    const log = executions[1].log;
    const [cancelled] = log.splice(7, 1);
    if (cancelled) log.splice(5, 0, cancelled);
    for (const [i, { event }] of log.entries()) event.seq = i + 1;
  });
  expect(recordedOnce(behind)).toEqual([]);
});

test("I4 a second outcome, and whatever else follows the first, is found", () => {
  const evidence = broken(({ executions: [of] }) => {
    const outcome = of?.log[4];
    if (outcome) of?.log.push({ ...outcome, event: { ...outcome.event, seq: 26 } });
  });
  expect(recordedOnce(evidence).map(({ message }) => message)).toEqual([
    "undoable~1 has two outcomes: 5 TASK_COMPLETED, 26 TASK_COMPLETED",
    "undoable~1 goes on behind its outcome: 26 TASK_COMPLETED",
  ]);
});

test("I4 a function that runs though its worker was given its outcome is found", () => {
  const evidence = broken(({ bodies }) => bodies.push({ ...bodies[0], generation: 2 }));
  expect(recordedOnce(evidence)).toMatchObject([
    { execution_id: "e1", message: expect.stringContaining("event 5 TASK_COMPLETED has its end") },
  ]);
});

test("I4 an attempt that runs though the next one is in the log is found", () => {
  const evidence = broken(({ executions, bodies }) => {
    const log = executions[0].log;
    const outcome = log[4];
    if (outcome) outcome.event.type = "TASK_RETRY_STARTED";
    if (outcome) outcome.event.value = { attempt: 2 };
    executions[0].row.state = "RUNNING";
    bodies.push({ ...bodies[0], generation: 2 });
    bodies.push({ ...bodies[0], generation: 2, attempt: 2 });
  });
  expect(recordedOnce(evidence)).toMatchObject([{ message: expect.stringContaining("attempt 1") }]);
});

test("I4 a function under a generation that nobody was given is found", () => {
  const evidence = broken(({ bodies }) => {
    bodies[0].generation = 7;
  });
  expect(recordedOnce(evidence)).toMatchObject([
    { message: expect.stringContaining("nobody was ever") },
  ]);
});

test("I4 a call without an outcome in a completed execution is found", () => {
  const evidence = broken(({ executions: [of] }) => void of?.log.splice(4, 1));
  expect(recordedOnce(evidence)).toMatchObject([
    { message: expect.stringContaining("no outcome") },
  ]);
});

test("I4 an attempt that runs though its end is in the log is found, but where a fork cut its large output off", () => {
  const ended = (forked_from: { execution_id: string; seq: number } | null, output: object) =>
    broken(({ executions: [of], bodies }) => {
      if (!of?.log[4]) return;
      of.row.state = "RUNNING";
      of.row.forked_from = forked_from;
      of.log[4].event.type = "TASK_RETRY_COMPLETED";
      of.log[4].event.value = { attempt: 2, ...output };
      bodies[0] = { ...bodies[0], generation: 2, attempt: 2 };
    });
  const cut = { execution_id: "e0", seq: 5 };
  expect(recordedOnce(ended(cut, {}))).toEqual([]);
  const found = [{ message: expect.stringContaining("event 5 TASK_RETRY_COMPLETED") }];
  expect(recordedOnce(ended(null, {}))).toMatchObject(found);
  expect(recordedOnce(ended({ ...cut, seq: 4 }, {}))).toMatchObject(found);
  expect(recordedOnce(ended(cut, { output: 1 }))).toMatchObject(found);
});
