import { expect, test } from "vitest";
import { racingResumes } from "./racing-resumes.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("I12 one resume of a pause is right, and so is a second one that was told so", () => {
  expect(racingResumes(sampleEvidence())).toEqual([]);
  const second = broken(({ requests }) => {
    requests.push({ ...requests[1], answer: { kind: "refused", status: 409, code: "not_paused" } });
  });
  expect(racingResumes(second)).toEqual([]);
});

test("I12 two who were both told that they resumed a pause are found", () => {
  const evidence = broken(({ requests }) => requests.push({ ...requests[1], client: "c2" }));
  expect(racingResumes(evidence)).toMatchObject([
    { execution_id: "e1", message: "c1 and c2 were both told that they resumed pause r.1" },
  ]);
});

test("I12 a loser with an answer that does not say so is found", () => {
  const evidence = broken(({ requests }) => {
    requests.push({ ...requests[1], answer: { kind: "refused", status: 500, code: "internal" } });
  });
  expect(racingResumes(evidence)).toMatchObject([{ message: expect.stringContaining("internal") }]);
});

test("I12 a pause that was resumed twice is found", () => {
  const evidence = broken(({ executions: [of] }) => {
    const resumed = of?.log[8];
    if (resumed) of?.log.push(resumed);
  });
  expect(racingResumes(evidence)).toMatchObject([
    { message: expect.stringContaining("resumed at") },
  ]);
});

test("I12 a fork opens a pause anew that had been resumed before its cut, and it is resumed anew", () => {
  const evidence = broken(({ executions: [of] }) => {
    const resumed = of?.log[8];
    if (!of || !resumed) return;
    of.row.forked_from = { execution_id: "e0", seq: 9 };
    of.log.push({ ...resumed, event: { ...resumed.event, seq: 30 } });
  });
  expect(racingResumes(evidence)).toEqual([]);
});
