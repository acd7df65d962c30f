import { call, pause, signal, sleep, type TaskError, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";
import { echo } from "./tasks.ts";

/** What has the shape of something of the engine's own, or of anybody's. */
const SHAPED: Readonly<Record<string, unknown>> = {
  wrapped: { $rich: [["Date", 0], "2026-01-01"] },
  wrapped_text: { $rich: "text" },
  wrapped_twice: { $rich: { $rich: [1] } },
  stored: { $stored: { storage_type: "file", reference_id: "a/b", metadata: { bytes: 3 } } },
  stored_null: { $stored: null },
  reference: { storage_type: "inline", reference_id: "x", metadata: { value: 1 } },
  failure: {
    type: "TaskError",
    code: null,
    message: "only data",
    retryable: true,
    details: null,
    cause: null,
    attempts: 1,
    task_call_id: "a~1",
  },
  error: { name: "Error", message: "only data", stack: "at nowhere" },
  serialized_error: { __serialized: true, name: "Error", message: "only data" },
  rejected: { status: "rejected", failure: { type: "E", message: "m" } },
  fulfilled: { status: "fulfilled", value: 1 },
  // biome-ignore lint/suspicious/noThenProperty: that it has one is the point
  thenable_like: { then: "not a function" },
  event: { seq: 1, type: "TASK_COMPLETED", source_id: "echo~1", value: null },
  json_text: '{"$rich":[1]}',
  prototype_text: { constructor: "text", toString: "text", hasOwnProperty: 1 },
  dotted: { "a.b": { "c[0]": 1 }, "": "empty key", " ": "space" },
};

/** Plain values at the edges. */
const PLAIN: Readonly<Record<string, unknown>> = {
  null: null,
  false: false,
  zero: 0,
  negative: -1.5e-7,
  largest: Number.MAX_SAFE_INTEGER,
  beyond: 2 ** 60,
  tiny: Number.MIN_VALUE,
  empty_text: "",
  null_byte: "a\0b",
  emoji: "👩‍👩‍👧 ｆｕｌｌ ‮ right to left",
  lone_surrogate: "\ud800 alone \udc00",
  separators: '\u2028 and \u2029, tab\t, quote" and \\',
  empty_list: [],
  empty_record: {},
  nested_empty: [[], {}, [[]], { a: {} }],
  nulls: [null, [null], { a: null }],
  numbers_as_keys: { 10: "ten", 9: "nine", "01": "one" },
};

/** Values beyond JSON, with a look at each that tells whether it is still what it was. */
const RICH: Readonly<Record<string, readonly [() => unknown, (value: never) => unknown]>> = {
  date: [() => new Date(1e12), (date: Date) => date instanceof Date && date.getTime()],
  invalid_date: [() => new Date(Number.NaN), (date: Date) => String(date.getTime())],
  map: [
    () => new Map([[{ a: 1 }, new Set([1])]]),
    (map: Map<unknown, Set<number>>) => [
      ...map.keys(),
      ...[...map.values()].map((set) => [...set]),
    ],
  ],
  set: [() => new Set([1, "1", null]), (set: Set<unknown>) => [...set]],
  bigint: [() => 2n ** 70n, (value: bigint) => typeof value + value],
  undefined: [() => undefined, (value: unknown) => typeof value],
  undefined_inside: [
    () => ({ a: undefined, b: [undefined] }),
    (value: { readonly a: unknown; readonly b: readonly unknown[] }) => [
      "a" in value,
      value.b.length,
      typeof value.b[0],
    ],
  ],
  not_a_number: [() => Number.NaN, (value: number) => String(value)],
  infinite: [() => [1 / 0, -1 / 0], (value: readonly number[]) => value.join()],
  minus_zero: [() => -0, (value: number) => Object.is(value, -0)],
  url: [() => new URL("https://a.example/b?c=d#e"), (url: URL) => url.hash],
  bytes: [() => new Uint8Array([0, 127, 255]), (bytes: Uint8Array) => [...bytes]],
  buffer: [() => Buffer.from("héllo"), (bytes: Uint8Array) => Buffer.from(bytes).toString()],
  error_object: [
    () => new TypeError("t", { cause: "c" }),
    (error: Error) => [error instanceof Error, error.name, error.message, error.cause],
  ],
  own_json: [() => ({ toJSON: () => ({ own: "form" }) }), (value: { own: string }) => value.own],
  wrapped_rich: [() => ({ $rich: new Date(1) }), (v: { $rich: Date }) => v.$rich.getTime()],
  no_prototype: [
    () => Object.assign(Object.create(null), { a: 1 }),
    (value: { readonly a: number }) => value.a,
  ],
  deep: [() => nested(90), (value: unknown) => depthOf(value)],
};

function nested(depth: number): unknown {
  let value: unknown = "bottom";
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { in: value };
  return value;
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + depthOf(Object.values(value)[0]);
}

const makes = task({ name: "makes" }, async (what: string, ctx) => {
  await did(ctx, `makes ${what}`);
  return RICH[what]?.[0]() ?? SHAPED[what] ?? PLAIN[what];
});
const looks = task({ name: "looks" }, async ([what, value]: readonly [string, unknown], ctx) => {
  await did(ctx, `looks at ${what}`);
  return RICH[what]?.[1](value as never);
});

export const richValue = workflow({ name: "rich_value" }, async (what: string) => {
  const value = await makes(what);
  const look = RICH[what]?.[1] as (value: unknown) => unknown;
  const here = look(value);
  await sleep(15);
  const there = await looks([what, value]);
  return [here, there, look(value)].map((one) => JSON.stringify(one));
});

export const sameValue = workflow({ name: "same_value" }, async (what: string) => {
  const value = await makes(what);
  const again = await echo(value);
  await sleep(15);
  return [value, again, await echo({ inside: [again] })];
});

export const sameInput = workflow({ name: "same_input" }, async (input: unknown) => {
  await sleep(15);
  return echo(input);
});

export const sameOfAll = workflow({ name: "same_of_all" }, async () => {
  const all = Object.entries({ ...SHAPED, ...PLAIN });
  const wrong: string[] = [];
  await Promise.all(
    all.map(async ([what, value]) => {
      const given = await makes(what);
      if (JSON.stringify(given) !== JSON.stringify(value)) wrong.push(what);
    }),
  );
  return wrong;
});

export const throughChildren = workflow({ name: "through_children" }, async () => {
  const wrong: string[] = [];
  for (const what of ["wrapped", "stored", "failure", "reference", "thenable_like"]) {
    const value = await call(sameInput, SHAPED[what]);
    if (JSON.stringify(value) !== JSON.stringify(SHAPED[what])) wrong.push(what);
  }
  return wrong;
});

export const richThroughAChild = workflow({ name: "rich_through_a_child" }, async () => {
  const sent = new Map<string, unknown>([
    ["day", new Date(5)],
    ["many", 5n],
  ]);
  const back = (await call(sameInput, sent)) as typeof sent;
  return [back instanceof Map, (back.get("day") as Date).getTime(), typeof back.get("many")];
});

export const shapedMessages = workflow({ name: "shaped_messages" }, async () => {
  const answer = await pause("ask", { output: SHAPED["stored"] });
  const letter = await signal("letter");
  return [answer, letter];
});

class Account {
  readonly owner = "ada";
  balance = 1;
}

const UNKEPT: Readonly<Record<string, () => unknown>> = {
  function: () => ({ callback: () => 1 }),
  symbol: () => Symbol("s"),
  promise: () => ({ later: Promise.resolve(1) }),
  instance: () => [new Account()],
  weak: () => new WeakMap(),
  circle: () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = { circle };
    return circle;
  },
  too_deep: () => nested(120),
  prototype_key: () => JSON.parse('{"__proto__":{"polluted":true}}'),
};

const makesUnkept = task({ name: "makes_unkept" }, async (what: string, ctx) => {
  await did(ctx, `makes ${what}`);
  return UNKEPT[what]?.();
});

export const cannotBeKept = workflow({ name: "cannot_be_kept" }, async () => {
  const found: Record<string, unknown> = {};
  for (const what of Object.keys(UNKEPT)) {
    const tell = (error: TaskError) => error.failure.type;
    found[what] = [
      await makesUnkept(what).catch(tell),
      await echo(UNKEPT[what]?.()).catch(tell),
    ].join();
  }
  return found;
});

export const unkeptEnd = workflow({ name: "unkept_end" }, async () => {
  await echo("before");
  return { callback: () => 1 };
});

export const pollutesNothing = workflow({ name: "pollutes_nothing" }, async (input: unknown) => {
  await sleep(10);
  await echo(JSON.parse('{"__proto__":{"polluted":true}}')).catch(() => {});
  const { polluted } = {} as { readonly polluted?: boolean };
  return [typeof input, typeof polluted];
});

export const sameInstance = workflow({ name: "same_instance" }, async () => {
  const shared = { n: 1 };
  const [a, b] = await echo([shared, shared]);
  if (a) a.n = 2;
  return [a?.n, b?.n, shared.n];
});

const rich = Object.keys(RICH).map((what) => [
  `rich_value ${what}`,
  {
    workflow: "rich_value",
    sees: `a value beyond JSON (${what}) is the same for the workflow, for another task and later on`,
    input: what,
    right: ({ state, output }: { readonly state: string; readonly output: unknown }) =>
      state === "COMPLETED" && new Set(output as readonly string[]).size === 1,
    did: [`makes ${what}`, `looks at ${what}`],
  },
]);

const same = Object.entries({ ...SHAPED, ...PLAIN }).flatMap(([what, value]) => [
  [
    `same_value ${what}`,
    {
      workflow: "same_value",
      sees: `a value of whatever shape (${what}) is handed on as it is`,
      input: what,
      output: [value, value, { inside: [value] }],
    },
  ],
  [
    `same_input ${what}`,
    {
      workflow: "same_input",
      sees: `an input of whatever shape (${what}) arrives as it is`,
      input: value,
      output: value,
    },
  ],
]);

export const values: Programs = {
  ...Object.fromEntries(rich),
  ...Object.fromEntries(same),
  same_of_all: {
    sees: "values of all shapes at once come each to their own caller",
    output: [],
  },
  through_children: {
    sees: "values of whatever shape go through children as they are",
    output: [],
  },
  rich_through_a_child: {
    sees: "values beyond JSON go through children as they are",
    output: [true, 5, "bigint"],
  },
  shaped_messages: {
    sees: "answers and signals of whatever shape arrive as they are",
    drive: async (outside) => {
      await outside.untilWaits("pause", "ask");
      await outside.signal("letter", SHAPED["failure"]);
      await outside.resume(SHAPED["wrapped"]);
    },
    output: [SHAPED["wrapped"], SHAPED["failure"]],
  },
  cannot_be_kept: {
    sees: "what cannot be kept is refused as a result and as an argument, and can be caught",
    output: Object.fromEntries(
      Object.keys(UNKEPT).map((what) => [what, "UnencodableValueError,UnencodableValueError"]),
    ),
    did: Object.keys(UNKEPT).map((what) => `makes ${what}`),
  },
  unkept_end: {
    sees: "a workflow whose result cannot be kept has failed, and the place in it is named",
    failure: { type: "UnencodableValueError" },
    did: ["echo before"],
  },
  pollutes_nothing: {
    sees: "a key that means something to the language changes nothing elsewhere",
    input: { constructor: { prototype: { polluted: true } }, prototype: { polluted: true } },
    output: ["object", "undefined"],
  },
  same_instance: {
    sees: "what comes back is a copy: changing it changes nothing that was handed over",
    right: ({ output }) => {
      const [a, b, own] = output as readonly number[];
      return a === 2 && own === 1 && (b === 1 || b === 2);
    },
  },
};
