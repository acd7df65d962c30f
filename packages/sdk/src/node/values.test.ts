import { decode, type Json, toPlain } from "@engine/contract";
import { expect, test } from "vitest";
import { pause, type TaskError, task, UnencodableValueError, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

function nested(levels: number): unknown {
  let value: unknown = "deep";
  for (let n = 0; n < levels; n++) value = n % 2 ? [value] : { in: value };
  return value;
}

class Money {
  readonly cents = 5;
  toJSON(): unknown {
    return { cents: this.cents, at: new Date(5) };
  }
}

const at = new Date(Date.UTC(2030, 0, 1));

/** Every kind of value: what goes in, what code gets, what HTTP shows (EXE-47, EXE-48). */
const kinds: [name: string, value: unknown, seen: unknown, plain: Json][] = [
  ["null", null, null, null],
  ["true", true, true, true],
  ["a number", 1.5, 1.5, 1.5],
  ["a text", "ü\u2028\ud83d\ude00", "ü\u2028\ud83d\ude00", "ü\u2028\ud83d\ude00"],
  ["a lone surrogate", "\ud800", "\ud800", "\ud800"],
  ["an empty text", "", "", ""],
  ["undefined", undefined, undefined, null],
  ["undefined in an object", { a: undefined, b: 1 }, { a: undefined, b: 1 }, { b: 1 }],
  ["undefined in a list", [undefined, 1], [undefined, 1], [null, 1]],
  ["NaN", Number.NaN, Number.NaN, null],
  ["Infinity", Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, null],
  ["-Infinity", Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, null],
  ["-0", -0, -0, 0],
  ["-0 in a list", [-0, 0], [-0, 0], [0, 0]],
  ["a Date", at, at, "2030-01-01T00:00:00.000Z"],
  ["an invalid Date", new Date(Number.NaN), new Date(Number.NaN), null],
  ["a bigint", 12345678901234567890n, 12345678901234567890n, "12345678901234567890"],
  ["a Map", new Map([["a", at]]), new Map([["a", at]]), { a: "2030-01-01T00:00:00.000Z" }],
  ["a Map with other keys", new Map([[1, "a"]]), new Map([[1, "a"]]), [[1, "a"]]],
  ["a Set", new Set([1, "a"]), new Set([1, "a"]), [1, "a"]],
  ["bytes", Uint8Array.of(0, 255, 7), Uint8Array.of(0, 255, 7), "AP8H"],
  ["a Buffer", Buffer.from([1, 2]), Uint8Array.of(1, 2), "AQI="],
  [
    "a URL",
    new URL("https://a.example/b?c#d"),
    new URL("https://a.example/b?c#d"),
    "https://a.example/b?c#d",
  ],
  [
    "an object with toJSON",
    { price: new Money() },
    { price: { cents: 5, at: new Date(5) } },
    { price: { cents: 5, at: "1970-01-01T00:00:00.005Z" } },
  ],
  ["99 levels", nested(99), nested(99), nested(99) as Json],
  [
    "keys that look like the engine's",
    { $rich: [1], $stored: 2 },
    { $rich: [1], $stored: 2 },
    { $rich: [1], $stored: 2 },
  ],
  ["one key that looks like the engine's", { $rich: 1 }, { $rich: 1 }, { $rich: 1 }],
  [
    "a stored reference that is none",
    { $stored: { a: 1 } },
    { $stored: { a: 1 } },
    { $stored: { a: 1 } },
  ],
  [
    "rich values deep inside",
    { a: [new Map([["k", new Set([1n])]])] },
    { a: [new Map([["k", new Set([1n])]])] },
    { a: [{ k: ["1"] }] },
  ],
];

const echo = task({ name: "echo" }, async (value: unknown) => value);

/** What a body gets from a task, on the first run and on a replay. */
async function received(
  value: unknown,
): Promise<{ live: unknown; replayed: unknown; scene: Scene }> {
  const seen: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    const got = await echo(value);
    seen.push(got);
    await pause("p");
    return got;
  });
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.resume("e1", null);
  await scene.toEnd();
  expect(scene.row().failure).toBeNull();
  expect(seen).toHaveLength(2);
  return { live: seen[0], replayed: seen[1], scene };
}

test.each(kinds)(
  "EXE-47 I9 %s is the same live, replayed and as the workflow's output; EXE-48 plain over HTTP",
  async (_, value, seen, plain) => {
    const { live, replayed, scene } = await received(value);
    expect(live).toStrictEqual(seen);
    expect(replayed).toStrictEqual(seen);
    expect(decode(scene.row().output)).toStrictEqual(seen);
    if (typeof value === "object" && value !== null) expect(live, "a copy").not.toBe(value);
    if (Object.is(seen, -0)) expect(Object.is(replayed, -0)).toBe(true);
    for (const type of ["TASK_STARTED", "TASK_COMPLETED", "WORKFLOW_COMPLETED"]) {
      const event = scene.log().find((e) => e.type === type);
      expect(toPlain(event?.value ?? null), type).toStrictEqual(plain);
    }
  },
);

test("EXE-47 an error with causes keeps names, messages and causes, no stack of another place", async () => {
  const error = new RangeError("out", { cause: new TypeError("in", { cause: { code: 7n } }) });
  const { live, replayed, scene } = await received(error);
  for (const got of [live, replayed] as RangeError[]) {
    expect(got).toBeInstanceOf(Error);
    expect(got).toMatchObject({ name: "RangeError", message: "out" });
    expect(got.cause).toMatchObject({ name: "TypeError", message: "in", cause: { code: 7n } });
    expect(got.stack).toBe("RangeError: out");
  }
  expect(toPlain(scene.row().output)).toEqual({ type: "RangeError", message: "out" });
});

test.each<[string, unknown, string]>([
  ["a function", { a: [() => 1] }, "input.a[0]"],
  ["a symbol", { a: Symbol("s") }, "input.a"],
  ["a promise", { a: Promise.resolve(1) }, "input.a"],
  [
    "an instance of a class",
    { items: [0, 1, 2, { client: new (class Client {})() }] },
    "input.items[3].client",
  ],
  [
    "a cycle",
    (() => {
      const a: Record<string, unknown> = {};
      a["self"] = { a };
      return a;
    })(),
    "input.self.a",
  ],
  ["more than 100 levels", nested(101), "input"],
  ["a function in a Map", new Map([["k", () => 1]]), "input.get(k)"],
])(
  "EXE-47 %s cannot be stored: the call fails with the path and starts no body",
  async (_, value, path) => {
    let caught: unknown;
    const wf = workflow({ name: "w" }, async () => {
      await echo(value).catch((error: unknown) => {
        caught = error;
      });
    });
    const scene = new Scene([wf]);
    await scene.run();
    expect(caught).toBeInstanceOf(UnencodableValueError);
    const { failure } = caught as TaskError;
    expect(failure).toMatchObject({
      code: "unencodable_value",
      retryable: false,
      task_call_id: "echo~1",
    });
    expect(
      String(failure.details?.["path"]).startsWith(path),
      String(failure.details?.["path"]),
    ).toBe(true);
    expect(failure.message).toContain("cannot be stored");
    expect(scene.story().slice(3, 5)).toEqual(["TASK_STARTED echo~1", "TASK_FAILED echo~1"]);
  },
);

test("EXE-47 a task gets a copy of its argument: what it does to it stays with it", async () => {
  const changes = task(
    { name: "changes", retry: { maxAttempts: 2, delay: 0 } },
    async (list: number[], { attempt }) => {
      list.push(attempt);
      if (attempt === 1) throw new Error("again");
      return list;
    },
  );
  const mine = [0];
  const scene = new Scene([workflow({ name: "w" }, async () => [await changes(mine), mine])]);
  await scene.run();
  expect(scene.row().output).toEqual([[0, 2], [0]]);
});

test("EXE-47 pause, resume, signal and child values keep their kinds", async () => {
  const { call, signal } = await import("../index.ts");
  const rich = { at, set: new Set([1n]) };
  const seen: unknown[] = [];
  const child = workflow({ name: "child" }, async (input: unknown) => [input, rich]);
  const wf = workflow({ name: "w" }, async () => {
    seen.push(await pause("p", { output: rich }));
    seen.push(await signal("s"));
    seen.push(await call(child, rich));
  });
  const scene = new Scene([wf, child]);
  await scene.start();
  expect(decode(scene.row().waits[0]?.output ?? null)).toEqual(rich);
  scene.engine.resume("e1", rich);
  await scene.settle();
  scene.engine.signal("e1", "s", rich);
  await scene.toEnd();
  expect(seen.slice(-3)).toEqual([rich, rich, [rich, rich]]);
});
