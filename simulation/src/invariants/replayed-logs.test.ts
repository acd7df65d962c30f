import { expect, test } from "vitest";
import type { Evidence } from "../evidence.ts";
import { replayedLogs } from "./replayed-logs.ts";
import { replaysOf } from "./replays.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";
import type { Violation } from "./violation.ts";

const judged = async (evidence: Evidence): Promise<readonly Violation[]> =>
  replayedLogs(evidence, await replaysOf(evidence));

test("I7 logs that their code has made replay, and so does every part of them", async () => {
  expect(await judged(sampleEvidence())).toEqual([]);
});

test("I7 a log that its code would not make is found", async () => {
  const evidence = broken(({ executions: [of] }) => {
    for (const { event } of of?.log ?? []) {
      if (event.source_id === "undoable~1") [event.source_id, event.name] = ["plain~1", "plain"];
    }
  });
  expect(await judged(evidence)).toMatchObject([
    { invariant: "I7", execution_id: "e1", message: expect.stringContaining("does not replay") },
  ]);
});

test("I7 an output that the log does not lead to is found", async () => {
  const evidence = broken(({ executions }) => {
    executions[0].row.output = "another";
  });
  expect(await judged(evidence)).toMatchObject([
    { message: expect.stringContaining("replays to another output") },
  ]);
});

test("I7 a call in the log that its code does not make is found", async () => {
  const evidence = broken(({ executions: [of] }) => {
    const start = of?.log[3];
    const event = start && { ...start.event, source_id: "plain~1", name: "plain", seq: 6 };
    if (start && event) of?.log.splice(5, 0, { ...start, event });
  });
  expect(await judged(evidence)).toMatchObject([
    { message: expect.stringContaining("does not replay") },
  ]);
});
