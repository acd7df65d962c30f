import { expect, test } from "vitest";
import { benchFlags, benchHelp } from "./bench-flags.ts";
import type { Measure, Report } from "./measure.ts";

const measure = (name: string, rest: Partial<Measure> = {}): Measure => {
  return {
    name,
    means: `of ${name}`,
    run: (): Promise<Report> => Promise.reject(new Error("not run here")),
    ...rest,
  };
};
const ALL = [
  measure("latency"),
  measure("local", { stores: ["sqlite"] }),
  measure("peers", { onlyWhenNamed: true }),
];

const namesOf = (...args: string[]) => benchFlags(args, ALL).measures.map(({ name }) => name);

test("BEN-1 without a flag everything runs on SQLite and threads but what must be named", () => {
  expect(namesOf()).toEqual(["latency", "local"]);
  expect(benchFlags([], ALL)).toMatchObject({
    quick: false,
    setup: { store: "sqlite", runner: "thread" },
    stores: ["sqlite", "postgres"],
  });
});

test("BEN-1 a run takes its store and its runner, and leaves out what the store has no part in", () => {
  expect(namesOf("--store", "postgres")).toEqual(["latency"]);
  expect(benchFlags(["--store", "postgres", "--runner", "process"], ALL)).toMatchObject({
    setup: { store: "postgres", runner: "process" },
  });
});

test("help is asked for, and names every measurement and which of them run only when named", () => {
  expect(benchFlags(["--help"], ALL).help).toBe(true);
  const help = benchHelp(ALL);
  expect(help).toContain("\n  local    of local\n");
  expect(help).toContain("\n  peers    of peers (only when named)");
});

test("what is named runs, and only that", () => {
  expect(namesOf("--only", "peers", "--only", "local")).toEqual(["local", "peers"]);
});

test.each([
  [["--only", "latncy"], /no measurement "latncy"; there are: latency, local, peers/],
  [["--store", "mysql"], /no store "mysql"; there are: sqlite, postgres/],
  [["--stores", "sqlite,redis"], /no store "redis"/],
  [["--runner", "inline"], /no runner "inline"; there are: thread, process/],
  [["--fast"], /--fast/],
])("%j is refused with what there is", (args, message) => {
  expect(() => benchFlags(args, ALL)).toThrow(message);
});
