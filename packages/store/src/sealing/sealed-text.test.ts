import { expect, test } from "vitest";
import { isSealedText, openUnder, sealUnder } from "./sealed-text.ts";

const key = Buffer.alloc(32, 1);
const unopened = expect.objectContaining({ code: "encryption_unavailable" });

test("SEC-9 a text under a data key opens with that key, for what it was sealed for", () => {
  const sealed = sealUnder(key, "e1/3/output", "ü the value");
  expect(sealed).toMatch(/^engine-sealed:1:[\w-]+$/);
  expect(openUnder(key, "e1/3/output", sealed)).toBe("ü the value");
  expect(openUnder(key, "", sealUnder(key, "", ""))).toBe("");
  expect(sealUnder(key, "e1/3/output", "ü the value")).not.toBe(sealed);
  expect(() => openUnder(Buffer.alloc(32, 2), "e1/3/output", sealed)).toThrow(unopened);
  expect(() => openUnder(key, "e1/4/output", sealed)).toThrow(unopened);
});

test("SEC-9 what is not sealed is known by its beginning, and does not open", () => {
  expect(isSealedText(sealUnder(key, "a", "x"))).toBe(true);
  for (const text of ["", "x", "engine-sealed:2:AAAA", " engine-sealed:1:AAAA"]) {
    expect(isSealedText(text)).toBe(false);
    expect(() => openUnder(key, "a", text)).toThrow(unopened);
  }
  for (const text of [
    "engine-sealed:1:",
    "engine-sealed:1:AAAA",
    `${sealUnder(key, "a", "x")}AA`,
  ]) {
    expect(() => openUnder(key, "a", text)).toThrow(unopened);
  }
});
