import { expect, test } from "vitest";
import { denseLogs } from "./dense-logs.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("I3 dense logs are right", () => {
  expect(denseLogs(sampleEvidence())).toEqual([]);
});

test("I3 a log that lacks an event is found", () => {
  const evidence = broken(({ executions: [of] }) => void of?.log.splice(4, 1));
  expect(denseLogs(evidence).map(({ message }) => message)).toContain(
    "event 5 of its log has the number 6",
  );
});

test("I3 an event that was changed after its commit is found", () => {
  const evidence = broken(({ executions: [of] }) => {
    const entry = of?.log[4];
    if (entry) entry.event.value = "changed";
  });
  expect(denseLogs(evidence)).toMatchObject([
    { message: "event 5 TASK_COMPLETED is not what was committed there: 5 TASK_COMPLETED" },
  ]);
});

test("I3 a commit that wrote over an event is found, whatever the log says at the end", () => {
  const evidence = broken(({ commits }) => {
    const twice = structuredClone(commits[1]);
    commits.splice(2, 0, twice);
  });
  expect(denseLogs(evidence).map(({ message }) => message)).toContain(
    "a commit wrote from event 3 on when the log ended at 5",
  );
});

test("I3 a reader that saw a number before the one below it is found", () => {
  const evidence = broken(({ requests: [, , , , events] }) => {
    if (events?.answer.kind === "done") events.answer.seqs = [3, 5];
  });
  expect(denseLogs(evidence)).toMatchObject([
    { message: "c1 read events behind 2 and saw 5 where 4 should be" },
  ]);
});

test("I3 an event with a time before that of the one below it is found", () => {
  const evidence = broken(({ executions: [of], commits }) => {
    const time = "2000-01-01 00:00:00.000";
    const entry = of?.log[4];
    if (entry) entry.event.time = time;
    const written = commits[1].events[2];
    if (written) written.time = time;
  });
  expect(denseLogs(evidence)).toMatchObject([
    { message: expect.stringContaining("before that of 4") },
  ]);
});
