import { expect, test } from "vitest";
import { consumedOnce } from "./consumed-once.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";
import { BEGAN, UNDEFINED } from "./testing/told.ts";

test("I11 a resume and a signal that were consumed once are right", () => {
  expect(consumedOnce(sampleEvidence())).toEqual([]);
});

test("I11 a signal that was acknowledged and is not in the log is found", () => {
  const evidence = broken(({ requests: [, , signal] }) => {
    if (signal?.asked.kind === "signal") signal.asked.payload = { signal: 2 };
  });
  expect(consumedOnce(evidence)).toMatchObject([
    { execution_id: "e1", message: expect.stringContaining("the log does not have it") },
  ]);
});

test("I11 a signal that came once and is twice in the log is found", () => {
  const evidence = broken(({ executions: [of] }) => {
    const sent = of?.log[14];
    if (sent) of?.log.push(sent);
  });
  expect(consumedOnce(evidence)).toMatchObject([
    { message: expect.stringContaining("is 2 times") },
  ]);
});

test("I11 a refused resume that the log has is found, unless it was delivered twice", () => {
  const refused = (deliveries: number) =>
    broken(({ requests: [, resume] }) => {
      if (!resume) return;
      resume.answer = { kind: "refused", status: 409, code: "not_paused" };
      resume.deliveries = deliveries;
    });
  expect(consumedOnce(refused(1))).toMatchObject([{ message: expect.stringContaining("refused") }]);
  expect(consumedOnce(refused(2))).toEqual([]);
});

test("I11 a call that got a signal nobody sent, or another than the next, is found", () => {
  const unsent = broken(({ executions: [of], requests }) => {
    of?.log.splice(14, 1);
    requests.splice(2, 1);
  });
  expect(consumedOnce(unsent)).toMatchObject([{ message: expect.stringContaining("0 were sent") }]);
  const other = broken(({ executions: [of] }) => {
    const outcome = of?.log[15];
    if (outcome) outcome.event.value = "another";
  });
  expect(consumedOnce(other)).toMatchObject([
    { message: expect.stringContaining("another payload") },
  ]);
});

test("I11 a call that got the signal that another had waited longer for is found", () => {
  const evidence = broken(({ executions: [of] }) => {
    const start = of?.log[13];
    const event = start && { ...start.event, source_id: "signal~0", seq: 1 };
    if (start && event) of?.log.unshift({ ...start, event });
  });
  expect(consumedOnce(evidence)).toMatchObject([
    { message: expect.stringContaining("waited longer") },
  ]);
});

const unheard = (until: string | undefined, hasSignal: boolean) =>
  broken(({ executions: [of], requests }) => {
    const [start, sent, outcome] = [of?.log[13], of?.log[14], of?.log[15]];
    if (start && until !== undefined) start.event.value = { name: "s0", until };
    if (sent) sent.event.value = { name: hasSignal ? "s0" : "s1", payload: null };
    if (outcome) outcome.event.value = UNDEFINED;
    requests.splice(2, 1);
  });

test("I11 a wait that timed out consumed nothing, and null is no timeout", () => {
  const until = new Date(BEGAN + 3_000).toISOString();
  expect(consumedOnce(unheard(until, false))).toEqual([]);
  expect(consumedOnce(unheard(undefined, false))).toMatchObject([
    { message: "signal~1 got nothing at event 16, and has no timeout" },
  ]);
  expect(consumedOnce(unheard(until, true))).toMatchObject([
    { message: "signal~1 got nothing at event 16, and the signal of event 15 was there" },
  ]);
});

test("I11 a pause that was resumed with null returns null", () => {
  const evidence = broken(({ executions: [of], requests }) => {
    const [resume, outcome] = [of?.log[8], of?.log[9]];
    if (resume) resume.event.value = { name: "r.1", input: null, cause: "resume" };
    if (outcome) outcome.event.value = UNDEFINED;
    requests.splice(1, 1);
  });
  expect(consumedOnce(evidence)).toMatchObject([
    { message: expect.stringContaining("something else") },
  ]);
});

test("I11 a pause that a fork opened anew returns what resumed it there", () => {
  const evidence = broken(({ executions: [of] }) => {
    const resumed = of?.log[8];
    const again = structuredClone(resumed);
    if (!of || !resumed || !again) return;
    resumed.event.value = { name: "r.1", input: "of the source", cause: "resume" };
    of.log.splice(9, 0, again);
  });
  expect(consumedOnce(evidence).filter(({ message }) => message.includes("pause~1"))).toEqual([]);
});
