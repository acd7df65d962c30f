import { expect, test } from "vitest";
import { parseHookSelector, parseHookSelectors, sameSelectors } from "./selector.ts";
import { HOOK_SEGMENTS } from "./vocabulary.ts";

test.each([
  ["execution:billing:charge:failed", "execution", ["billing", "charge", "failed"]],
  ["execution:billing:*:failed", "execution", ["billing", "*", "failed"]],
  ["execution:*", "execution", ["*", "*", "*"]],
  ["execution:billing:*", "execution", ["billing", "*", "*"]],
  ["execution:a:b:failed:*", "execution", ["a", "b", "failed"]],
  ["execution:*:*:*:*", "execution", ["*", "*", "*"]],
  ["task:a:b:charge_card:retry_failed", "task", ["a", "b", "charge_card", "retry_failed"]],
  ["task:a:b:pause:paused", "task", ["a", "b", "pause", "paused"]],
  ["task:*", "task", ["*", "*", "*", "*"]],
  ["task:a:*:*:failed", "task", ["a", "*", "*", "failed"]],
  ["task:a:b:refund:awaiting_approval", "task", ["a", "b", "refund", "awaiting_approval"]],
  ["task:a:b:refund:approved", "task", ["a", "b", "refund", "approved"]],
  ["task:a:b:refund:rejected:*", "task", ["a", "b", "refund", "rejected"]],
])("HOOK-5 HOOK-6 %s is legal", (text, domain, pattern) => {
  expect(parseHookSelector(text)).toEqual({ selector: { text, domain, pattern } });
});

const BOTH = /execution:\* and task:\*/;
const DOMAINS = /^a selector begins with execution: or task:/;
const EXECUTION = /execution:<namespace>:<workflow>:<state>/;
const TASK = /task:<namespace>:<workflow>:<task>:<event>/;
const SEGMENT = /a segment is a whole name or exactly \*/;
const NAME = /1 to 128 letters, digits/;

test.each([
  ["", "unknown_domain", DOMAINS],
  ["*", "unknown_domain", BOTH],
  ["*:*", "unknown_domain", BOTH],
  ["*:a:b:failed", "unknown_domain", BOTH],
  ["foo:a:b:failed", "unknown_domain", DOMAINS],
  ["Execution:a:b:failed", "unknown_domain", /did you mean execution\?/],
  ["tasks:a:b:c:failed", "unknown_domain", /did you mean task\?/],
  ["execution", "wrong_width", /here are 1/],
  ["execution:a:failed", "wrong_width", EXECUTION],
  ["execution:a:failed", "wrong_width", /4 segments.*here are 3/],
  ["execution:a:b:failed:x", "wrong_width", /here are 5/],
  ["execution:a:b:failed:x:*", "wrong_width", EXECUTION],
  ["execution:a:b:failed:x:*", "wrong_width", /at most the 4 segments.*here are 5/],
  ["task:a:b:failed", "wrong_width", TASK],
  ["task:a:b:c:failed:x:*", "wrong_width", /at most the 5 segments.*here are 6/],
  ["execution::b:failed", "bad_segment", SEGMENT],
  ["execution:a:b:", "bad_segment", /the state is ""/],
  ["execution:a b:c:failed", "bad_segment", SEGMENT],
  ["execution:a:b: failed", "bad_segment", SEGMENT],
  ["execution:a*:b:failed", "bad_segment", /the namespace is "a\*"/],
  ["execution:a:b:**", "bad_segment", SEGMENT],
  ["execution:a*:*", "bad_segment", SEGMENT],
  ["task::*", "bad_segment", SEGMENT],
  ["execution:-a:b:failed", "bad_name", /^a namespace .*1 to 128/],
  ["execution:a:b/c:failed", "bad_name", /^a workflow /],
  [`execution:a:${"x".repeat(129)}:failed`, "bad_name", NAME],
  ["task:a:b:c~1:failed", "bad_name", /^a task /],
  ["task:ä:*", "bad_name", NAME],
])("HOOK-9 %j is refused as %s", (selector, reason, hint) => {
  const refusal = { selector, index: 0, reason, hint: expect.stringMatching(hint) };
  expect(parseHookSelector(selector)).toEqual({ refusal });
});

test.each([
  ["execution:a:b:FAILED", "unknown_state", /^did you mean failed\?$/],
  ["execution:a:b:FAILED:*", "unknown_state", /^did you mean failed\?$/],
  ["execution:a:b:started", "unknown_state", /running/],
  ["execution:a:b:resumed", "unknown_state", /running/],
  ["execution:a:b:canceled", "unknown_state", /^did you mean cancelled\?$/],
  ["execution:a:b:x", "unknown_state", /created, claimed, running/],
  ["execution:a:b:constructor", "unknown_state", /created, claimed, running/],
  ["task:a:b:c:progress", "unknown_event", /never persisted/],
  ["task:a:b:c:done", "unknown_event", /started, completed, failed/],
  ["task:a:b:c:complete", "unknown_event", /^did you mean completed\?$/],
  ["task:a:b:c:awaiting_aproval", "unknown_event", /^did you mean awaiting_approval\?$/],
  ["task:a:b:c:running", "unknown_event", /./],
])("HOOK-9 %j is refused as %s, with the words that are legal", (selector, reason, hint) => {
  const allowed = HOOK_SEGMENTS[reason === "unknown_state" ? "execution" : "task"];
  const refusal = { selector, index: 0, reason, hint: expect.stringMatching(hint), allowed };
  expect(parseHookSelector(selector)).toEqual({ refusal });
});

test("HOOK-7 every word of a domain is legal in it", () => {
  for (const word of HOOK_SEGMENTS.execution) {
    expect(parseHookSelector(`execution:a:b:${word}`).refusal, word).toBeUndefined();
  }
  for (const word of HOOK_SEGMENTS.task) {
    expect(parseHookSelector(`task:a:b:c:${word}`).refusal, word).toBeUndefined();
  }
});

test("HOOK-1 of a selector that is given twice the first stays, and the order is kept", () => {
  const texts = ["task:*", "execution:*", "task:*", "execution:a:*", "execution:*"];
  const { selectors } = parseHookSelectors(texts);
  expect(selectors?.map(({ text }) => text)).toEqual(["task:*", "execution:*", "execution:a:*"]);
});

test("HOOK-9 the index of a refusal counts the list as it was given, repeats included", () => {
  const { refusal } = parseHookSelectors(["task:*", "task:*", "*", "foo"]);
  expect(refusal).toMatchObject({ selector: "*", index: 2, reason: "unknown_domain" });
});

test("HOOK-41 selectors are compared as sets", () => {
  expect(sameSelectors(["a", "b"], ["b", "a", "b"])).toBe(true);
  expect(sameSelectors(["a", "b"], ["a"])).toBe(false);
  expect(sameSelectors(["a"], ["a", "b"])).toBe(false);
  expect(sameSelectors(["a", "b"], ["a", "c"])).toBe(false);
  expect(sameSelectors([], [])).toBe(true);
});
