import { expect, test } from "vitest";
import { executionId } from "../conformance/sample.ts";
import { changedTexts, parseAnnouncement } from "./announcement.ts";

const ids = (count: number) => Array.from({ length: count }, (_, i) => executionId(i));

test("executions are named in texts that each fit into a notification", () => {
  const texts = changedTexts("me", ids(900));
  expect(texts.length).toBeGreaterThan(1);
  for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThan(8_000);
  expect(texts.flatMap((text) => parseAnnouncement(text)?.ids)).toEqual(ids(900));
});

test("more executions than ten texts can name are not named", () => {
  expect(changedTexts("me", ids(5_000)).map(parseAnnouncement)).toEqual([
    { from: "me", all: true },
  ]);
});

test("nothing changed is nothing to say", () => {
  expect(changedTexts("me", [])).toEqual([]);
});
