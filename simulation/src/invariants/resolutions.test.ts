import { expect, test } from "vitest";
import { placement } from "./placement.ts";
import { resolutions } from "./resolutions.ts";
import { broken } from "./testing/sample-evidence.ts";

/** The first execution of the sample as one of a workflow that is placed by its input. */
function placed(workflow: string, where: object, metadata?: Record<string, string>) {
  return broken(({ commits, executions, descriptions }) => {
    const rows = [executions[0].row, ...commits.map(({ row }) => row)];
    for (const row of rows.filter((one) => one.execution_id === "e1")) {
      row.workflow = workflow;
      row.input = { ...(row.input as object), where } as never;
    }
    if (!metadata) return;
    const span = { began: 1, settled: 2 };
    descriptions.push({ at: 1, worker: "w1", metadata, granted: [], revision: 1, span });
  });
}

test("I14 a worker that is not what an input asks for is found, by what was said of it then", () => {
  const unsaid = placed("placed_program", { tier: "gold" });
  expect(placement(unsaid)[0]).toMatchObject({
    invariant: "I14",
    message: expect.stringContaining("which was not meta tier gold"),
  });
  expect(placement(placed("placed_program", { tier: "gold" }, { tier: "gold" }))).toEqual([]);
  const unlike = { tier: "gold", not_zone: "a" };
  const there = placed("placed_program", unlike, { tier: "gold", zone: "a" });
  expect(placement(there)[0]?.message).toContain("meta zone not a");
});

test("I15 what was created without an input that is asked for, and has not failed, is found", () => {
  expect(resolutions(placed("placed_program", { tier: 1 }))).toEqual([]);
  expect(resolutions(placed("placed_program", {}))).toMatchObject([
    { invariant: "I15", message: expect.stringContaining("without input where.tier") },
  ]);
  expect(resolutions(placed("hidden_program", {}))).toMatchObject([
    { message: expect.stringContaining("without routing input") },
  ]);
});

test("I15 a failure for want of an input that is there is found", () => {
  const evidence = placed("placed_program", { tier: 1 });
  const [commit] = evidence.commits;
  const failure = { type: "AffinityResolutionError", message: "it lacks something" };
  Object.assign(commit?.row ?? {}, { failure });
  expect(resolutions(evidence)[0]?.message).toContain("it has every input");
});

test("I14 DSP-7 a worker that is not the one that a start requires is found, but not of a child or a fork", () => {
  const other = placed("program", { worker: "w2" });
  expect(placement(other)[0]).toMatchObject({
    invariant: "I14",
    message: expect.stringContaining("which was not worker named w2"),
  });
  expect(placement(placed("program", { worker: "w1" }))).toEqual([]);
  const edited = (edit: (row: { input: unknown; forked_from: unknown }) => void) => {
    const evidence = placed("program", { worker: "w2" });
    for (const { row } of [...evidence.executions, ...evidence.commits]) edit(row as never);
    return placement(evidence);
  };
  const asChild = edited((row) => {
    row.input = { ...(row.input as object), path: "r.0.c" };
  });
  expect(asChild).toEqual([]);
  const asFork = edited((row) => {
    row.forked_from = { execution_id: "e0", seq: 0 };
  });
  expect(asFork).toEqual([]);
});
