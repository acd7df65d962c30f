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
    { execution_id: "e1", message: expect.stringMatching(/signal r.2 was .* under 3/) },
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
