import fc from "fast-check";
import { expect, test } from "vitest";
import { type RingKey, ringOf } from "./key-ring.ts";
import { keyIdOf, openAlike, resealAlike, sealAlike } from "./sealed-alike.ts";

const keyOf = (id: string, fill: number): RingKey => ({ id, key: Buffer.alloc(32, fill) });
const [a, b] = [keyOf("a", 1), keyOf("b", 2)];
const TEXT = '{"dataset":"berlin"}';

const unavailable = (text: RegExp) =>
  expect.objectContaining({ code: "encryption_unavailable", message: expect.stringMatching(text) });

test("RIN-3 any text opens as it was sealed, equal texts look equal and others do not", () => {
  const text = fc.string({ unit: "binary", maxLength: 100 }).map((any) => any.toWellFormed());
  fc.assert(
    fc.property(text, text, (one, other) => {
      const sealed = sealAlike(ringOf(a), one);
      expect(openAlike(ringOf(a), sealed)).toBe(one);
      expect(sealAlike(ringOf(a), one)).toBe(sealed);
      expect(sealAlike(ringOf(a), other) === sealed).toBe(one === other);
      expect(sealAlike(ringOf(b), one)).not.toBe(sealed);
    }),
  );
});

test("RIN-3 nothing of the text can be read, nor a nonce seen that covers another text", () => {
  const [one, other] = ["berlin", "paris"].map((text) => sealAlike(ringOf(a), text));
  const bytes = (sealed = "") => Buffer.from(sealed.slice("a:".length), "base64");
  expect(bytes(one).includes("berlin")).toBe(false);
  expect(bytes(one).subarray(0, 12)).not.toEqual(bytes(other).subarray(0, 12));
});

test("RIN-3 the same key under another id seals otherwise", () => {
  const sealed = sealAlike(ringOf(keyOf("c", 1)), TEXT);
  expect(sealed.slice(2)).not.toBe(sealAlike(ringOf(a), TEXT).slice(2));
});

test("RIN-3 it opens with any key of the ring, and the primary seals", () => {
  const sealed = sealAlike(ringOf(a), TEXT);
  expect(keyIdOf(sealed)).toBe("a");
  expect(openAlike(ringOf(b, [a]), sealed)).toBe(TEXT);
  expect(keyIdOf(sealAlike(ringOf(b, [a]), TEXT))).toBe("b");
});

test("SEC-3 what is sealed anew is what the primary key makes of the text", () => {
  const ring = ringOf(b, [a]);
  expect(resealAlike(ring, sealAlike(ringOf(a), TEXT))).toBe(sealAlike(ring, TEXT));
});

test("RIN-3 whatever was changed does not open", () => {
  const sealed = sealAlike(ringOf(a), TEXT);
  const bytes = Buffer.from(sealed.slice("a:".length), "base64");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const text = `a:${changed.toString("base64")}`;
    expect(() => openAlike(ringOf(a), text)).toThrow(unavailable(/does not open/));
  }
  for (const other of [`b:${sealed.slice(2)}`, `${sealed}AA`, "a:", sealed.replace(/=*$/, "=\n")]) {
    expect(() => openAlike(ringOf(a, [b]), other)).toThrow(unavailable(/does not open/));
  }
});

test("RIN-3 without its key nothing opens, and nothing of the content is told", () => {
  const sealed = sealAlike(ringOf(a), TEXT);
  expect(() => openAlike(ringOf(b), sealed)).toThrow(unavailable(/the key a, .*\(b\)/));
  expect(() => openAlike(ringOf(keyOf("a", 9)), sealed)).toThrow(unavailable(/does not open/));
});

test("RIN-3 JSON that was stored before there was a key is no sealed text", () => {
  expect(keyIdOf(TEXT)).toBeUndefined();
  expect(() => openAlike(ringOf(a), TEXT)).toThrow(unavailable(/does not open/));
});
