import { expect, test } from "vitest";
import { liveValues } from "./live-values.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("I9 values as they are recorded are right", () => {
  expect(liveValues(sampleEvidence())).toEqual([]);
});

test("I9 a value that is not the recorded one is found, of tasks, pauses and outputs", () => {
  for (const i of [0, 2, 4] as const) {
    const evidence = broken(({ values }) => {
      values[i].value = "another";
    });
    expect(
      liveValues(evidence)
        .map(({ message }) => message)
        .join(),
    ).toContain("recorded at event");
  }
});

test("I9 a value that another life saw otherwise is found, also where the log has none", () => {
  const evidence = broken(({ values }) =>
    values.push({ ...values[3], generation: 3, value: null }),
  );
  expect(liveValues(evidence)).toMatchObject([
    {
      execution_id: "e1",
      message: expect.stringMatching(/signal r.2 was .* and null in .* under generation 3/),
    },
  ]);
});

test("I9 undefined is another value than null", () => {
  const evidence = broken(({ executions, values }) => {
    const resumed = executions[0].log[9];
    if (resumed) resumed.event.value = null;
    values[2].value = { $rich: -1 };
  });
  expect(liveValues(evidence)).toHaveLength(1);
});

test("I9 a wait that timed out ahead of its log may have been answered, one without a time may not", () => {
  const overtaken = (isTimed: boolean) =>
    broken(({ executions, values }) => {
      const [start, paused] = [executions[0].log[5], executions[0].log[6]];
      const until = "2030-01-01T00:00:00.000Z";
      for (const entry of [start, paused]) {
        if (entry && isTimed) entry.event.value = { name: "r.1", until };
      }
      values.splice(2, 0, { ...values[2], value: { $rich: -1 } });
    });
  expect(liveValues(overtaken(true))).toEqual([]);
  expect(liveValues(overtaken(false)).length).toBeGreaterThan(0);
});

test("I9 what code returned ahead of its log may be lost, what it returned last is recorded", () => {
  const returned = (...outputs: string[]) =>
    broken(({ executions, values }) => {
      executions[0].row.output = "last";
      const [output] = values.splice(4, 1);
      for (const value of outputs) if (output) values.push({ ...output, value });
    });
  expect(liveValues(returned("first", "last"))).toEqual([]);
  expect(liveValues(returned("first")).length).toBeGreaterThan(0);
});

test("I9 what code returned before a cancel came first may differ from what it returns as it is unwound", () => {
  const evidence = broken(({ executions, values }) => {
    executions[0].row.state = "CANCELLED";
    values.splice(4, 0, { ...values[4], value: "ahead" });
    values.push({ ...values[4], value: "another" });
  });
  expect(liveValues(evidence)).toEqual([]);
});
