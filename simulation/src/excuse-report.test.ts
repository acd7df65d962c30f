import { expect, test } from "vitest";
import { excuseReport } from "./excuse-report.ts";

const runs: Parameters<typeof excuseReport>[0] = [
  [["state of the moment", 2]],
  [],
  [
    ["state of the moment", 1],
    ["code never ran", 1],
  ],
];

test("a report counts what was let pass", () => {
  expect(excuseReport(runs).split("\n")).toEqual([
    "Let pass in 3 runs:",
    "  3 times in 2 runs  streamOrder: state of the moment",
    "  1 times in 1 runs  replayedLogs: code never ran",
    "",
  ]);
});

test("after many runs it names what never had to be let pass", () => {
  const many = excuseReport([...runs, ...Array.from({ length: 1_000 }, () => [])]);
  expect(many).toContain("\n  never  deleted by retention, ");
  expect(many.split("never")[1]).not.toContain("state of the moment");
});
