/** Values and texts that would take minutes if anything was looked at again and again. */
import { expect, test, vi } from "vitest";
import { createMasker } from "./masker.ts";

vi.setConfig({ testTimeout: 60_000 });

const M = "***REDACTED***";
const KB = 1024;
const MB = 1024 * KB;

test.each([
  ["short", 8],
  ["as long as what is kept", 32],
  ["a little longer", 33],
  ["as long as a secret may be", 64 * KB],
])("RED-1 a long text of one letter nearly is a value everywhere: one %s", (_, length) => {
  const text = "a".repeat(MB / 2);
  const half = "a".repeat(length / 2);
  const masker = createMasker([`${half}b${half}`, `${"a".repeat(length)}b`]);
  expect(masker.text(text) === text).toBe(true);
  expect(masker.json(`["${text}"]`) === `["${text}"]`).toBe(true);
  expect(createMasker(["a".repeat(length)]).text(text)).toBe(M);
});

test("RED-1 many values with one beginning cost no more than one where only that is in a text", () => {
  const begin = "-----BEGIN PRIVATE KEY----- MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
  const values = Array.from({ length: 300 }, (_, i) => `${begin}${i}`.padEnd(1700 + (i % 4), "x"));
  const masker = createMasker(values);
  const text = begin.repeat(10_000);
  expect(masker.text(text) === text).toBe(true);
  expect(masker.text(`${text}${values[77]}`)).toBe(text + M);
});

test("RED-1 a long text of escapes, percents, quotes or token beginnings is read in one go", () => {
  const masker = createMasker(["hunter22", "pass phrase", "12345678"]);
  const unmasked = ["\\", "\\\\", "%", "%41", "%E2", "+", '"', "engine_et_", "engine_", "[", "1"];
  for (const part of unmasked) {
    const text = part.repeat(MB / 4 / part.length);
    const isToken = part === "engine_et_";
    expect([part, masker.text(text) === text]).toEqual([part, !isToken]);
    const json = JSON.stringify([text, { [text]: text }]);
    expect([part, masker.json(json) === json]).toEqual([part, !isToken]);
  }
});

test("RED-1 a hundred thousand keys that become equal are each given a number", () => {
  const masker = createMasker(["hunter22"]);
  const keys = Array.from({ length: 100_000 }, (_, i) => `"hunter22${i % 2 ? "" : "!"}":${i}`);
  const masked = masker.json(`{${keys.join()}}`);
  expect(Object.keys(JSON.parse(masked)).length).toBe(100_000);
  expect(masked.endsWith(`"${M}#50000":99999}`)).toBe(true);
});

test("RED-1 objects in each other are read once each, though a key of all of them is masked", () => {
  const masker = createMasker(["hunter22"]);
  const depth = 50_000;
  const json = `${'{"a":'.repeat(depth)}1${',"hunter22":1}'.repeat(depth)}`;
  expect(masker.json(json) === json.replaceAll("hunter22", M)).toBe(true);
});

test("RED-1 secrets of 64 KiB take the memory of their text, and are found in all their forms", () => {
  const values = Array.from({ length: 200 }, (_, i) => `${i}-`.repeat(22 * KB).slice(0, 64 * KB));
  const masker = createMasker(values);
  const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
  createMasker(values);
  const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
  expect(after - before).toBeLessThan(5 * MB);
  const [secret = ""] = values.slice(150);
  for (const form of [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString("hex"),
    // The last character has bits of what follows.
    Buffer.from(secret).toString("base64").replace(/.==$/, ""),
  ]) {
    expect(masker.text(`<${form}>`).length).toBeLessThan(30);
    const almost = `<${form.slice(0, -3)}>`;
    expect(masker.text(almost) === almost).toBe(true);
  }
});

test("RED-4 a long value that comes a few characters at a time is held back at a small cost each", () => {
  const secret = "0123456789abcdef-".repeat(300);
  const stream = createMasker([secret]).stream<{ value: unknown }>();
  const seen = [];
  for (let at = 0; at < secret.length; at += 10) {
    seen.push(...stream.push({ value: secret.slice(at, at + 10) }));
  }
  expect(seen.map(({ value }) => value).join("")).toBe(M);
  expect(stream.end()).toEqual([]);
});
