import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { isOfTheMachine, isUnreadable } from "./machine-trouble.ts";

const BUNDLE = "/home/modules/bundle.mjs";

function failed(fields: object): Error {
  return Object.assign(new Error("it failed"), fields);
}

test.each(["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE", "ENOMEM"])(
  "%s is the machine's, also where it has caused something else",
  (code) => {
    expect(isOfTheMachine(failed({ code }))).toBe(true);
    expect(isOfTheMachine(failed({ cause: failed({ code }) }))).toBe(true);
    expect(isUnreadable(failed({ code, path: "/elsewhere" }), BUNDLE)).toBe(true);
  },
);

test.each(["EACCES", "EPERM", "ENOENT"])(
  "%s is the machine's where it is about the bundle, and the code's where that looks for files",
  (code) => {
    expect(isUnreadable(failed({ code, path: BUNDLE }), BUNDLE)).toBe(true);
    expect(isUnreadable(failed({ code, path: "/etc/shadow" }), BUNDLE)).toBe(false);
    expect(isOfTheMachine(failed({ code }))).toBe(false);
  },
);

test("a bundle that is not there is told from a file that its code imports", () => {
  const missing = (path: string) =>
    failed({ code: "ERR_MODULE_NOT_FOUND", url: pathToFileURL(path).href });
  expect(isUnreadable(missing(BUNDLE), BUNDLE)).toBe(true);
  expect(isUnreadable(missing("/home/modules/other.mjs"), BUNDLE)).toBe(false);
  expect(isUnreadable(new SyntaxError("no"), BUNDLE)).toBe(false);
  expect(isUnreadable("thrown", BUNDLE)).toBe(false);
});
