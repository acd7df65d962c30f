import { expect, test } from "vitest";
import { referenceOf } from "./stored-reference.ts";
import { decode, encode, type Json, store, toPlain, UnencodableValue } from "./value.ts";

class PaymentError extends Error {}
class Point {
  x = 1;
  toJSON() {
    return { x: this.x };
  }
}

/** Every type of EXE-47 with its form over HTTP (EXE-48). */
const kinds: [name: string, value: unknown, http: Json][] = [
  ["null", null, null],
  ["a boolean", true, true],
  ["a number", 1.5, 1.5],
  ["text", "größer\u2028\n", "größer\u2028\n"],
  ["a list", [1, [2, []]], [1, [2, []]]],
  ["an object", { a: { b: [null] } }, { a: { b: [null] } }],
  ["a Date", new Date("2026-01-02T03:04:05.678Z"), "2026-01-02T03:04:05.678Z"],
  ["a bigint", 12345678901234567890n, "12345678901234567890"],
  ["a Map with text keys", new Map([["a", 1n]]), { a: "1" }],
  [
    "a Map with other keys",
    new Map([
      [1, "x"],
      [2, "y"],
    ]),
    [
      [1, "x"],
      [2, "y"],
    ],
  ],
  ["a Set", new Set([1, "two"]), [1, "two"]],
  ["bytes", Uint8Array.of(0, 255, 16, 32), "AP8QIA=="],
  ["one byte", Uint8Array.of(77), "TQ=="],
  ["two bytes", Uint8Array.of(77, 97), "TWE="],
  ["no bytes", new Uint8Array(), ""],
  ["undefined", undefined, null],
  ["undefined in a list", [undefined, 1], [null, 1]],
  ["undefined in an object", { gone: undefined, kept: 1 }, { kept: 1 }],
  ["a URL", new URL("https://example.test/a?b=c"), "https://example.test/a?b=c"],
  ["an Error", new Error("odd"), { type: "Error", message: "odd" }],
  ["NaN", Number.NaN, null],
  ["Infinity", Number.POSITIVE_INFINITY, null],
  ["-Infinity", Number.NEGATIVE_INFINITY, null],
  ["-0", -0, 0],
  ["rich values deep inside", { a: [new Map([["k", new Set([1n])]])] }, { a: [{ k: ["1"] }] }],
  ["a key that the codec itself uses", { $rich: [1] }, { $rich: [1] }],
];

test.each(kinds)(
  "EXE-47 %s is stored, given to the first run and replayed as the same value",
  (_, value) => {
    const { text, value: live } = store(value, "output");
    const replayed = decode(JSON.parse(text));
    expect(live).toStrictEqual(value);
    expect(replayed).toStrictEqual(value);
    // Once more, as a value that is passed on.
    expect(store(live, "output").text).toBe(text);
  },
);

test.each(kinds)("EXE-48 %s over HTTP is plain JSON", (_, value, http) => {
  const plain = toPlain(encode(value, "output"));
  expect(plain).toStrictEqual(http);
  expect(JSON.parse(JSON.stringify(plain))).toStrictEqual(http);
});

test("EXE-47 the first run gets a copy: what it does to it cannot reach what was stored", () => {
  const original = { list: [1], when: new Date(0), bytes: Uint8Array.of(1) };
  const { value, text } = store(original, "output");
  const live = value as typeof original;
  original.list.push(2);
  original.when.setFullYear(1999);
  original.bytes[0] = 9;
  expect(live).toStrictEqual({ list: [1], when: new Date(0), bytes: Uint8Array.of(1) });
  expect(decode(JSON.parse(text))).toStrictEqual(live);
});

test("EXE-47 an object with toJSON becomes its result, live and replayed", () => {
  const { value, text } = store({ at: new Point(), when: { toJSON: () => 7n } }, "output");
  expect(value).toStrictEqual({ at: { x: 1 }, when: 7n });
  expect(decode(JSON.parse(text))).toStrictEqual(value);
});

test("EXE-47 an Error keeps class name, message and cause, and its stack says nothing of this process", () => {
  const { value } = store(new PaymentError("declined", { cause: { code: 7n } }), "output");
  const error = value as Error;
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: "PaymentError", message: "declined", cause: { code: 7n } });
  expect(error.stack).toBe("PaymentError: declined");
});

test("a Buffer comes back as plain bytes", () => {
  class Buffer extends Uint8Array {
    toJSON() {
      return { type: "Buffer" };
    }
  }
  expect(store(Buffer.of(1, 2), "output").value).toStrictEqual(Uint8Array.of(1, 2));
});

const cycle: { self?: unknown } = {};
cycle.self = { cycle };
const refused: [value: unknown, path: string, reason: RegExp][] = [
  [{ items: [1, 2, 3, { client: new (class Client {})() }] }, "output.items[3].client", /Client/],
  [() => 1, "output", /function/],
  [{ run: () => 1 }, "output.run", /function/],
  [[Symbol("s")], "output[0]", /symbol/],
  [{ later: Promise.resolve(1) }, "output.later", /await it/],
  [cycle, "output.self.cycle", /contains itself/],
  [new Map([["k", new WeakMap()]]), "output.get(k)", /WeakMap/],
  [new Set([new ArrayBuffer(1)]), "output[0]", /ArrayBuffer/],
  [new Error("x", { cause: () => 1 }), "output.cause", /function/],
  [{ "not an identifier": () => 1 }, 'output["not an identifier"]', /function/],
  [JSON.parse('{"a":{"__proto__":1}}'), "output.a", /__proto__/],
];

test.each(refused)(
  "EXE-47 what has no stored form is refused with its place (%#)",
  (value, path, reason) => {
    const error = thrownBy(() => store(value, "output"));
    expect(error).toBeInstanceOf(UnencodableValue);
    expect(error).toMatchObject({ path, message: expect.stringMatching(reason) });
    expect((error as Error).message.startsWith(`${path} cannot be stored: `)).toBe(true);
  },
);

test("EXE-47 a value may nest 100 levels, not 101", () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
  expect(store(nested(100), "input").value).toEqual(nested(100));
  expect(thrownBy(() => store(nested(101), "input"))).toMatchObject({
    message: expect.stringContaining("100 levels"),
  });
});

test("a value that appears twice is no cycle", () => {
  const shared = { a: 1n };
  expect(store([shared, shared], "output").value).toStrictEqual([{ a: 1n }, { a: 1n }]);
});

test("plain JSON is stored as it is, without tags", () => {
  expect(store({ a: [1, "x", null] }, "output").text).toBe('{"a":[1,"x",null]}');
});

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return expect.unreachable("nothing was thrown");
}

test("EXE-49 a user's value in the shape of a stored reference is kept as a value", () => {
  const forged = { $stored: { storage_type: "file", reference_id: "another/execution's" } };
  const encoded = encode(forged, "input");
  expect(referenceOf(encoded)).toBeUndefined();
  expect(decode(encoded)).toEqual(forged);
  expect(toPlain(encoded)).toEqual(forged);
});
