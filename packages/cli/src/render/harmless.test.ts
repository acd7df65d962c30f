import { expect, test } from "vitest";
import { forTerminal, harmless, oneLine, ownStyle, withOwnStyles } from "./harmless.ts";

test.each([
  ["an escape", "\u001b[31mred", "\\u001b[31mred"],
  ["a title", "\u001b]0;mine\u0007", "\\u001b]0;mine\\u0007"],
  ["a C1 control", "\u009b31m", "\\u009b31m"],
  ["text turned around", "a\u202eb\u2066c", "a\\u202eb\\u2066c"],
  ["a carriage return that goes back", "safe\rfake", "safe\\u000dfake"],
  ["line ends and tabs, which are harmless", "a\nb\r\nc\td", "a\nb\r\nc\td"],
  ["words in any script, and emoji", "naïve 東京 עברית 👩‍👧", "naïve 東京 עברית 👩‍👧"],
])("%s", (_, text, shown) => {
  expect(harmless(text)).toBe(shown);
  expect(forTerminal(text)).toBe(shown);
});

test("JSON with everything in it stays the same JSON", () => {
  const all = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code)).join("");
  for (const indent of [0, 2]) {
    const text = JSON.stringify({ [all]: [all, `${all}\u{1f600}`] }, null, indent);
    expect(JSON.parse(forTerminal(text))).toEqual(JSON.parse(text));
  }
});

test("on one line a line end is shown as what it is", () => {
  expect(oneLine("a\r\nb\nc")).toBe("a\\r\\nb\\nc");
});

test("a style of ours reaches the terminal, the same style in data does not", () => {
  const data = "\u001b[31mdata\u001b[39m";
  expect(forTerminal(`${ownStyle("red", "ours")} ${data}`)).toBe(
    "\u001b[31mours\u001b[39m \\u001b[31mdata\\u001b[39m",
  );
  expect(forTerminal(withOwnStyles("\u001b[32mINFO\u001b[39m"))).toBe("\u001b[32mINFO\u001b[39m");
});
