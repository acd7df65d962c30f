import { expect, test } from "vitest";
import {
  newDataKey,
  openText,
  rewrapKey,
  type Sealed,
  sealText,
  unwrapKey,
  wrapKey,
} from "./envelope.ts";
import { type RingKey, ringOf } from "./key-ring.ts";

const keyOf = (id: string, fill: number): RingKey => ({ id, key: Buffer.alloc(32, fill) });
const [a, b] = [keyOf("a", 1), keyOf("b", 2)];
const place = { kind: "secret", name: "token", version: 1 };

const unavailable = (text: RegExp) =>
  expect.objectContaining({ code: "encryption_unavailable", message: expect.stringMatching(text) });

test("SEC-2 a text opens where it was sealed", () => {
  const text = 'ü "quoted" \u{1F600}';
  const sealed = sealText(ringOf(a), place, text);
  expect(sealed.key_id).toBe("a");
  expect(openText(ringOf(a), place, sealed)).toBe(text);
  expect(openText(ringOf(b, [a]), place, sealed)).toBe(text);
  expect(openText(ringOf(a), place, sealText(ringOf(a), place, ""))).toBe("");
});

test("SEC-2 equal texts look different, each under a key and nonces of its own", () => {
  const [one, other] = [1, 2].map(() => sealText(ringOf(a), place, "same"));
  expect(one?.wrapped).not.toBe(other?.wrapped);
  expect(one?.body).not.toBe(other?.body);
  const nonces = [one, other].map((sealed) => Buffer.from(sealed?.body ?? "", "base64"));
  expect(nonces[0]?.subarray(0, 12)).not.toEqual(nonces[1]?.subarray(0, 12));
  expect(JSON.stringify(one)).not.toContain("same");
});

test.each([
  { ...place, kind: "other" },
  { ...place, name: "token2" },
  { ...place, version: 2 },
  { ...place, version: "1" },
])("SEC-2 a row that was moved to %j does not open", (moved) => {
  const sealed = sealText(ringOf(a), place, "the value");
  expect(() => openText(ringOf(a), moved, sealed)).toThrow(unavailable(/does not open/));
  expect(() => unwrapKey(ringOf(a), moved, sealed)).toThrow(unavailable(/does not open/));
});

test("SEC-2 a body does not open with the key of another row", () => {
  const [one, other] = ["one", "other"].map((text) => sealText(ringOf(a), place, text));
  const mixed = { ...one, body: other?.body } as Sealed;
  expect(() => openText(ringOf(a), place, mixed)).toThrow(unavailable(/does not open/));
});

test.each(["wrapped", "body"] as const)("SEC-2 %s that was changed does not open", (part) => {
  const sealed = sealText(ringOf(a), place, "the value");
  const bytes = Buffer.from(sealed[part], "base64");
  for (const at of [0, 13, bytes.length - 1]) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const row = { ...sealed, [part]: changed.toString("base64") };
    expect(() => openText(ringOf(a), place, row)).toThrow(unavailable(/does not open/));
  }
  const cut = { ...sealed, [part]: "" };
  expect(() => openText(ringOf(a), place, cut)).toThrow(unavailable(/does not open/));
});

test("SEC-2 without the key nothing opens, and nothing of the content is told", () => {
  const sealed = sealText(ringOf(a), place, "the value");
  expect(() => openText(ringOf(b), place, sealed)).toThrow(unavailable(/the key a, .*\(b\)/));
  expect(() => openText(ringOf(keyOf("a", 9)), place, sealed)).toThrow(
    unavailable(/does not open/),
  );
  expect(() => rewrapKey(ringOf(b), place, sealed)).toThrow(unavailable(/the key a/));
});

test("SEC-3 a key that is wrapped anew opens with the primary alone; what it sealed stays", () => {
  const sealed = sealText(ringOf(a), place, "the value");
  const rewrapped = { ...sealed, ...rewrapKey(ringOf(b, [a]), place, sealed) };
  expect(rewrapped).toMatchObject({ key_id: "b", body: sealed.body });
  expect(openText(ringOf(b), place, rewrapped)).toBe("the value");
  expect(() => openText(ringOf(a), place, rewrapped)).toThrow(unavailable(/the key b/));
});

test("SEC-9 a data key is taken along to another place, and opens only there", () => {
  const { dataKey, ...wrapped } = newDataKey(ringOf(a), place);
  expect(dataKey).toHaveLength(32);
  expect(Buffer.from(unwrapKey(ringOf(a), place, wrapped))).toEqual(Buffer.from(dataKey));
  const fork = { ...place, name: "fork" };
  const copied = wrapKey(ringOf(a), fork, dataKey);
  expect(Buffer.from(unwrapKey(ringOf(a), fork, copied))).toEqual(Buffer.from(dataKey));
  expect(() => unwrapKey(ringOf(a), place, copied)).toThrow(unavailable(/does not open/));
});
