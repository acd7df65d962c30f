import { expect, test } from "vitest";
import { entryOf } from "./testing/sample-evidence.ts";
import { entriesOf } from "./trace-file.ts";

const { exit, ...began } = entryOf();
const entry = (id: string) => JSON.stringify({ id, kind: "entry", ...began });
const ended = (id: string) => JSON.stringify({ id, kind: "exit", ...exit });

test("a function that began and ended is one entry", () => {
  expect(entriesOf(`${entry("a")}\n${ended("a")}\n`)).toEqual([entryOf()]);
});

test("one that was killed has no end, and what follows half a line is not lost", () => {
  const text = `${entry("a")}\n${entry("b").slice(0, 40)}${entry("c")}\n${ended("c")}\n`;
  expect(entriesOf(text)).toEqual([entryOf({ exit: null }), entryOf()]);
});
