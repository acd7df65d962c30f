import { expect, test } from "vitest";
import { browserCommand } from "./open-browser.ts";

test.each([
  ["darwin", ["open"]],
  ["linux", ["xdg-open"]],
  ["win32", ["rundll32", "url.dll,FileProtocolHandler"]],
] as const)(
  "AUTH-60 on %s the address goes to a program, not through a shell",
  (platform, words) => {
    expect(browserCommand(platform)).toEqual(words);
  },
);
