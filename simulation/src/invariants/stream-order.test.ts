import { expect, test } from "vitest";
import { PROGRESS_MARK } from "../programs/program.ts";
import { streamOrder } from "./stream-order.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";

const CLAIMED = "program.execution.claimed";

test("I22 a stream that told every state in order is right", () => {
  expect(streamOrder(sampleEvidence())).toEqual([]);
});

test("I22 a state that was left out, and one that came twice, are found", () => {
  const skipped = broken(({ streams }) => void streams[0].frames.splice(2, 1));
  expect(streamOrder(skipped)).toMatchObject([
    { execution_id: "e2", message: expect.stringContaining("5 WORKFLOW_CANCELLING is missing") },
  ]);
  const twice = broken(({ streams }) => {
    streams[0].frames.splice(1, 0, structuredClone(streams[0].frames[0]));
  });
  expect(streamOrder(twice)).toMatchObject([{ message: expect.stringContaining("came behind") }]);
});

test("I22 who goes on behind a frame misses nothing either", () => {
  const after = (first: number) =>
    broken(({ streams }) => {
      streams[0].after = 2;
      streams[0].frames.splice(0, first);
    });
  expect(streamOrder(after(1))).toEqual([]);
  expect(streamOrder(after(2))).toMatchObject([{ message: expect.stringContaining("is missing") }]);
});

test("I22 a frame that came before its event was durable is found", () => {
  const evidence = broken(({ streams }) => {
    streams[0].frames[3].at = BEGAN + 71_000;
  });
  expect(streamOrder(evidence)).toMatchObject([{ message: expect.stringContaining("durable at") }]);
});

test("I22 a stream that the server ended without the end is found, unless a server was stopped", () => {
  const cut = (isStopped: boolean) =>
    broken(({ streams, faults }) => {
      streams[0].frames.pop();
      const fault = { at: BEGAN, until: null, worker: null, server: "s1" };
      if (isStopped) faults.push({ ...fault, kind: "kill_server" });
    });
  expect(streamOrder(cut(false))).toMatchObject([
    { message: expect.stringContaining("without its end") },
  ]);
  expect(streamOrder(cut(true))).toEqual([]);
});

test("I22 a frame behind the last one, and a word that its event does not make, are found", () => {
  const behind = broken(({ streams }) => {
    streams[0].frames.push({ at: BEGAN + 72_000, event: "task.progress", id: null, data: {} });
  });
  expect(streamOrder(behind)).toHaveLength(1);
  const word = broken(({ streams }) => {
    streams[0].frames[2].event = CLAIMED;
  });
  expect(streamOrder(word)).toMatchObject([
    { message: expect.stringContaining("makes it cancelling") },
  ]);
});

test("I22 events of a stream come without a gap", () => {
  const all = (ids: readonly number[]) =>
    broken(({ streams }) => {
      streams[0].events = "all";
      const at = BEGAN + 71_050;
      const frames = ids.map((id) => ({ at, event: "event", id, data: {} }));
      streams[0].frames.splice(3, 0, ...frames);
    });
  expect(streamOrder(all([3, 4, 5]))).toEqual([]);
  expect(streamOrder(all([3, 5]))).toMatchObject([
    { message: "reader r1: event 5 came behind event 3" },
  ]);
});

test("I22 progress in a log is found", () => {
  const evidence = broken(({ executions: [of] }) => {
    const entry = of?.log[4];
    if (entry) entry.event.value = { mark: PROGRESS_MARK };
  });
  expect(streamOrder(evidence)).toMatchObject([{ message: "event 5 has a progress value" }]);
});

test("I22 a stream that was opened behind the end has nothing to tell", () => {
  const evidence = (after: number) =>
    broken(({ streams }) => {
      streams[0].after = after;
      streams[0].frames.length = 0;
    });
  expect(streamOrder(evidence(9))).toEqual([]);
  expect(streamOrder(evidence(8))).toHaveLength(1);
});
