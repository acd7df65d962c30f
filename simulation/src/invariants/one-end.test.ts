import { expect, test } from "vitest";
import { oneEnd } from "./one-end.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("I2 a run in which everything ended once is right", () => {
  expect(oneEnd(sampleEvidence())).toEqual([]);
});

test("I2 a log with two ends is found", () => {
  const evidence = broken(({ executions: [of] }) => {
    const end = of?.log.at(-1);
    if (end) of?.log.push({ ...end, event: { ...end.event, seq: 99, type: "WORKFLOW_FAILED" } });
  });
  expect(oneEnd(evidence)).toMatchObject([{ message: expect.stringContaining("two ends") }]);
});

test("I2 a row that says something else than its log is found", () => {
  const evidence = broken(({ executions }) => {
    executions[1].row.state = "COMPLETED";
  });
  expect(oneEnd(evidence)).toMatchObject([{ execution_id: "e2" }]);
});

test("I2 an end that is followed by another state is found, though the last one looks right", () => {
  const evidence = broken(({ commits }) => {
    const early = structuredClone(commits[0]);
    early.row.state = "FAILED";
    early.events.length = 0;
    commits.unshift(early);
  });
  expect(oneEnd(evidence)[0]).toMatchObject({
    execution_id: "e1",
    message: expect.stringContaining("ended FAILED"),
  });
});

test("I2 who was told of another end, or of another output, was told wrongly", () => {
  const other = broken(({ requests: [, , , wait] }) => {
    if (wait?.answer.kind === "done") wait.answer.state = "FAILED";
  });
  expect(oneEnd(other)).toMatchObject([{ message: expect.stringContaining("told by wait") }]);
  const output = broken(({ requests: [, , , wait] }) => {
    if (wait?.answer.kind === "done") wait.answer.output = "another";
  });
  expect(oneEnd(output)).toMatchObject([{ message: expect.stringContaining("another output") }]);
});

test("I2 an ended execution that somebody owns is found", () => {
  const evidence = broken(({ executions }) => {
    executions[0].row.session = "s";
  });
  expect(oneEnd(evidence)).toMatchObject([{ message: expect.stringContaining("owned by s") }]);
});
