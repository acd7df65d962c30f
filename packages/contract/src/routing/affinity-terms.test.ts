import { expect, test } from "vitest";
import type { Failure } from "../errors/failure.ts";
import { holds, type WorkerAttributes } from "./match.ts";
import { resolvePlacement } from "./resolve.ts";
import { built, compared, input, label, meta, routingInput } from "./testing/built.ts";

/** What comes of an affinity for an execution and a worker. */
type Result = "match" | "parks" | Failure;

interface Given {
  readonly input?: unknown;
  readonly routing?: Readonly<Record<string, unknown>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, string | number>>;
}

function resultOf(affinity: unknown, given: Given = {}): Result {
  const inputs = { input: given.input ?? {}, routing_input: given.routing ?? null };
  const resolved = resolvePlacement({ affinity, routing: null }, inputs);
  if (resolved.failure) return resolved.failure;
  const worker: WorkerAttributes = { labels: given.labels ?? {}, metadata: given.metadata ?? {} };
  const needs = [...(resolved.open.affinity ?? []), ...(resolved.hidden.affinity ?? [])];
  return needs.every((need) => holds(need, worker)) ? "match" : "parks";
}

const required = (...terms: unknown[]) => built("require", ...terms);
const fails = (details: object) => ({
  type: "AffinityResolutionError",
  code: "affinity_resolution",
  details,
});

const labelIs = (value: unknown) => required(compared(label("k"), "eq", value));
const labelIsNot = (value: unknown) => required(compared(label("k"), "ne", value));
const p = input("p");
const has = (value: string) => ({ labels: { k: value } });

// AFF-4, row by row; so is the second table of the interface ("Affinity expressions").

test("AFF-4 label(k).eq(input(p)), input absent: the execution fails, naming the input", () => {
  const term = 'label("k").eq(input("p"))';
  expect(resultOf(labelIs(p), { input: {}, ...has("x") })).toMatchObject({
    ...fails({ term, input: "p", reason: "absent" }),
    message: `affinity term ${term} needs input "p", which this execution does not have`,
  });
});

test("AFF-4 label(k).eq(input(p)), input present, the worker has no such label or another value: parks", () => {
  expect(resultOf(labelIs(p), { input: { p: "x" } })).toBe("parks");
  expect(resultOf(labelIs(p), { input: { p: "x" }, ...has("y") })).toBe("parks");
});

test("AFF-4 label(k).eq(input(p)), input present, the worker has it equal: match", () => {
  expect(resultOf(labelIs(p), { input: { p: "x" }, ...has("x") })).toBe("match");
});

test("AFF-4 label(k).eq(const), the worker has no such label or another value: parks", () => {
  expect(resultOf(labelIs("x"))).toBe("parks");
  expect(resultOf(labelIs("x"), has("y"))).toBe("parks");
});

test("AFF-4 label(k).eq(const), the worker has it equal: match", () => {
  expect(resultOf(labelIs("x"), has("x"))).toBe("match");
});

test("AFF-4 label(k).ne(v), the worker has no such label or another value: match", () => {
  expect(resultOf(labelIsNot("x"))).toBe("match");
  expect(resultOf(labelIsNot("x"), has("y"))).toBe("match");
  expect(resultOf(labelIsNot(p), { input: { p: "x" } })).toBe("match");
  expect(resultOf(labelIsNot(p), { input: { p: "x" }, ...has("y") })).toBe("match");
});

test("AFF-4 label(k).ne(v), the worker has it equal: parks", () => {
  expect(resultOf(labelIsNot("x"), has("x"))).toBe("parks");
  expect(resultOf(labelIsNot(p), { input: { p: "x" }, ...has("x") })).toBe("parks");
});

test("AFF-4 label(k).ne(input(p)), input absent: the execution fails", () => {
  const details = { term: 'label("k").ne(input("p"))', input: "p", reason: "absent" };
  expect(resultOf(labelIsNot(p), { input: {} })).toMatchObject(fails(details));
});

const optional = required(built("optional", compared(label("k"), "eq", p)));

test("AFF-4 optional(term), input absent: the term is skipped", () => {
  expect(resultOf(optional, { input: {} })).toBe("match");
  expect(resultOf(optional, { input: { p: null }, ...has("y") })).toBe("match");
});

test("AFF-4 optional(term), input present, comparison false: parks", () => {
  expect(resultOf(optional, { input: { p: "x" }, ...has("y") })).toBe("parks");
  expect(resultOf(optional, { input: { p: "x" }, ...has("x") })).toBe("match");
});

test("AFF-4 optional(term), input invalid: the execution fails", () => {
  const key = compared(built("labelFor", "dataset.", p), "eq", "true");
  for (const [term, value] of [
    [optional, ["x"]],
    [required(built("optional", key)), "no/key"],
    [required(built("optional", built("service", p))), "No Service"],
  ]) {
    const result = resultOf(term, { input: { p: value } });
    expect(result).toMatchObject({
      type: "AffinityResolutionError",
      details: { input: "p", reason: "invalid" },
    });
  }
});

const gated = (op: "eq" | "ne" = "eq") =>
  required(built("when", compared(input("tier"), op, "restricted"), compared(label("k"), "eq", p)));

test("AFF-4 when(cond, term), the input of cond absent or cond false: the term is inactive", () => {
  for (const inactive of [{}, { tier: null }, { tier: "open" }, "text", null]) {
    expect(resultOf(gated(), { input: inactive })).toBe("match");
  }
  expect(resultOf(gated("ne"), { input: {} })).toBe("match");
  expect(resultOf(gated("ne"), { input: { tier: "restricted" } })).toBe("match");
});

test("AFF-4 when(cond, term), cond true: as the term alone", () => {
  const on = { tier: "restricted" };
  expect(resultOf(gated(), { input: { ...on, p: "x" }, ...has("x") })).toBe("match");
  expect(resultOf(gated(), { input: { ...on, p: "x" }, ...has("y") })).toBe("parks");
  const term = 'when(input("tier").eq("restricted"), label("k").eq(input("p")))';
  expect(resultOf(gated(), { input: on })).toMatchObject(
    fails({ term, input: "p", reason: "absent" }),
  );
  expect(resultOf(gated("ne"), { input: { tier: "open", p: "x" } })).toBe("parks");
});

test.each([
  [
    'labelFor("dataset.", input("p")).eq("true")',
    compared(built("labelFor", "dataset.", p), "eq", "true"),
  ],
  [
    'metaFor("approved.", input("p")).eq("true")',
    compared(built("metaFor", "approved.", p), "eq", "true"),
  ],
  ['service(input("p"))', built("service", p)],
])("AFF-4 %s, input absent: the execution fails, naming the input", (term, of) => {
  expect(resultOf(required(of), { input: {} })).toMatchObject(
    fails({ term, input: "p", reason: "absent" }),
  );
});

test.each([
  [
    'labelFor("dataset.", input("p")).eq("true")',
    compared(built("labelFor", "dataset.", p), "eq", "true"),
    "a/b",
    /a label key is 1 to 128 letters/,
  ],
  [
    'labelFor("dataset.", input("p")).eq("true")',
    compared(built("labelFor", "dataset.", p), "eq", "true"),
    "",
    /a label key is/,
  ],
  [
    'labelFor("dataset.", input("p")).eq("true")',
    compared(built("labelFor", "dataset.", p), "eq", "true"),
    "x".repeat(121),
    /a label key is 1 to 128/,
  ],
  [
    'metaFor("approved.", input("p")).eq("true")',
    compared(built("metaFor", "approved.", p), "eq", "true"),
    "x".repeat(56),
    /a metadata key is 1 to 64 letters/,
  ],
  [
    'service(input("p"))',
    built("service", p),
    "Not_A_Service",
    /a service name is 1 to 32 characters/,
  ],
  [
    'service(input("p"))',
    built("service", p),
    "x".repeat(33),
    /a service name is 1 to 32 characters/,
  ],
])(
  "AFF-4 %s, key invalid: the execution fails, naming the input and the key rule",
  (term, of, value, rule) => {
    const result = resultOf(required(of), { input: { p: value } });
    expect(result).toMatchObject(fails({ term, input: "p", reason: "invalid" }));
    expect((result as Failure).message).toMatch(rule);
    expect((result as Failure).message).toContain('input "p"');
  },
);

test("AFF-4 a list or an object as value: the execution fails, whatever the term", () => {
  const terms = [
    labelIs(p),
    labelIsNot(p),
    optional,
    required(built("service", p)),
    required(compared(built("metaFor", "a.", p), "ne", "x")),
    required(built("when", compared(p, "eq", "x"), compared(label("k"), "eq", "x"))),
  ];
  for (const term of terms) {
    for (const value of [[], ["x"], {}, { p: 1 }]) {
      expect(resultOf(term, { input: { p: value }, ...has("x") })).toMatchObject({
        type: "AffinityResolutionError",
        details: { input: "p", reason: "invalid" },
      });
    }
  }
});

test("AFF-4 meta and metaFor compare as labels do, over metadata alone, ne on an absent key included", () => {
  const is = required(compared(meta("k"), "eq", "x"));
  const isNot = required(compared(meta("k"), "ne", "x"));
  const key = required(compared(built("metaFor", "a.", p), "eq", "x"));
  expect(resultOf(is)).toBe("parks");
  expect(resultOf(is, { labels: { k: "x" } })).toBe("parks");
  expect(resultOf(is, { metadata: { k: "y" } })).toBe("parks");
  expect(resultOf(is, { metadata: { k: "x" } })).toBe("match");
  expect(resultOf(isNot)).toBe("match");
  expect(resultOf(isNot, { labels: { k: "x" } })).toBe("match");
  expect(resultOf(isNot, { metadata: { k: "y" } })).toBe("match");
  expect(resultOf(isNot, { metadata: { k: "x" } })).toBe("parks");
  expect(resultOf(key, { input: { p: "b" }, metadata: { "a.b": "x" } })).toBe("match");
  expect(resultOf(key, { input: { p: "b" }, labels: { "a.b": "x" } })).toBe("parks");
});

test.each<[string, unknown, string]>([
  ["a text", "x", "x"],
  ["true", true, "true"],
  ["false", false, "false"],
  ["an integer", 10, "10"],
  ["a fraction", 0.1, "0.1"],
  ["a number written another way", 1.0, "1"],
  ["-0", -0, "0"],
  ["a large number", 1e21, "1e+21"],
])("AFF-4 %s is compared as text", (_, value, text) => {
  expect(resultOf(labelIs(p), { input: { p: value }, ...has(text) })).toBe("match");
  expect(resultOf(labelIs(value), has(text))).toBe("match");
  expect(resultOf(labelIs(value), has(`${text} `))).toBe("parks");
});

test("AFF-4 two numbers are compared as numbers, a number and a text as texts", () => {
  const is = (value: unknown) => required(compared(meta("k"), "eq", value));
  expect(resultOf(is(2), { metadata: { k: 2 } })).toBe("match");
  expect(resultOf(is(p), { input: { p: 2 }, metadata: { k: 2 } })).toBe("match");
  expect(resultOf(is(0), { metadata: { k: -0 } })).toBe("match");
  expect(resultOf(is("2"), { metadata: { k: 2 } })).toBe("match");
  expect(resultOf(is("2.0"), { metadata: { k: 2 } })).toBe("parks");
  expect(resultOf(is(2), { metadata: { k: "2" } })).toBe("match");
  expect(resultOf(is(true), { metadata: { k: "true" } })).toBe("match");
});

test.each<[string, unknown, "absent" | "invalid" | "match"]>([
  ["nothing", {}, "absent"],
  ["null", { a: { b: null } }, "absent"],
  ["a step that is null", { a: null }, "absent"],
  ["a step that is a text", { a: "b" }, "absent"],
  ["a step that is a list", { a: [{ b: "x" }] }, "absent"],
  ["a step that is inherited", Object.create({ a: { b: "x" } }), "absent"],
  ["an input that is a text", "x", "absent"],
  ["an input that is null", null, "absent"],
  ["a list", { a: { b: ["x"] } }, "invalid"],
  ["an object", { a: { b: {} } }, "invalid"],
  ["the value", { a: { b: "x" } }, "match"],
  ["an empty text", { a: { b: "" } }, "match"],
])("AFF-4 the path a.b leads to %s in %j: %s", (_, value, expected) => {
  const affinity = required(compared(label("k"), "eq", input("a.b")));
  const inputs = { input: value, routing_input: null };
  const { failure } = resolvePlacement({ affinity, routing: null }, inputs);
  const reason = (failure?.details as { reason?: string } | undefined)?.reason;
  expect(reason ?? "match").toBe(expected);
});

// AFF-3, row by row; so is the first table of the interface ("Affinity expressions").

test("AFF-3 label(key).eq and .ne take a text, a number, a boolean, input or routingInput", () => {
  const given = { input: { v: "x" }, routing: { v: "x" } };
  for (const value of ["x", 7, true, input("v"), routingInput("v")]) {
    const text = typeof value === "object" ? "x" : String(value);
    expect(resultOf(labelIs(value), { ...given, ...has(text) })).toBe("match");
    expect(resultOf(labelIs(value), { ...given, ...has("other") })).toBe("parks");
    expect(resultOf(labelIsNot(value), { ...given, ...has(text) })).toBe("parks");
    expect(resultOf(labelIsNot(value), given)).toBe("match");
  }
});

test("AFF-3 meta(key).eq and .ne look at what the server holds, and at no label", () => {
  for (const value of ["x", 7, true, input("v"), routingInput("v")]) {
    const held = typeof value === "object" ? "x" : typeof value === "number" ? 7 : String(value);
    const given = { input: { v: "x" }, routing: { v: "x" }, labels: { k: String(held) } };
    const is = required(compared(meta("k"), "eq", value));
    const isNot = required(compared(meta("k"), "ne", value));
    expect(resultOf(is, { ...given, metadata: { k: held } })).toBe("match");
    expect(resultOf(is, given)).toBe("parks");
    expect(resultOf(isNot, { ...given, metadata: { k: held } })).toBe("parks");
    expect(resultOf(isNot, given)).toBe("match");
  }
});

test("AFF-3 labelFor and metaFor look at the key that a value of the execution makes", () => {
  for (const ref of [input("v"), routingInput("v")]) {
    for (const v of ["imagenet", 7, true]) {
      const given = { input: { v }, routing: { v } };
      const ofLabel = required(compared(built("labelFor", "dataset.", ref), "eq", "true"));
      const ofMeta = required(compared(built("metaFor", "dataset.", ref), "ne", "no"));
      expect(resultOf(ofLabel, { ...given, labels: { [`dataset.${v}`]: "true" } })).toBe("match");
      expect(resultOf(ofLabel, { ...given, labels: { "dataset.x": "true" } })).toBe("parks");
      expect(resultOf(ofMeta, { ...given, metadata: { [`dataset.${v}`]: "no" } })).toBe("parks");
      expect(resultOf(ofMeta, given)).toBe("match");
    }
  }
});

test("AFF-3 service(nameOrRef) is the label that only the server makes", () => {
  const named = built("service", "gpu-large");
  expect(named).toEqual(compared(label("engine.service.gpu-large"), "eq", "true"));
  const read = built("service", input("v"));
  expect(read).toEqual(compared(built("labelFor", "engine.service.", input("v")), "eq", "true"));
  const labels = { "engine.service.gpu-large": "true" };
  expect(resultOf(required(named), { labels })).toBe("match");
  expect(resultOf(required(named))).toBe("parks");
  expect(resultOf(required(read), { input: { v: "gpu-large" }, labels })).toBe("match");
  expect(resultOf(required(read), { input: { v: "gpu" }, labels })).toBe("parks");
});

test("AFF-3 routingInput stands wherever input does", () => {
  const read = routingInput("v");
  const terms = [
    compared(label("k"), "eq", read),
    compared(built("labelFor", "a.", read), "eq", "true"),
    built("service", read),
    built("optional", compared(label("k"), "eq", read)),
    built("when", compared(read, "eq", "x"), compared(label("k"), "eq", "x")),
  ];
  const labels = { k: "x", "a.x": "true", "engine.service.x": "true" };
  for (const term of terms) {
    expect(resultOf(required(term), { routing: { v: "x" }, labels })).toBe("match");
    expect(resultOf(required(term), { routing: { v: "x" }, labels: {} })).toBe("parks");
  }
});

test("AFF-3 when takes an optional term, too", () => {
  const inner = built("optional", compared(label("k"), "eq", p));
  const term = required(built("when", compared(input("tier"), "eq", 1), inner));
  expect(resultOf(term, { input: { tier: 1 } })).toBe("match");
  expect(resultOf(term, { input: { tier: "1", p: "x" } })).toBe("parks");
});

test("AFF-3 all terms have to hold", () => {
  const both = required(compared(label("a"), "eq", "1"), compared(meta("b"), "eq", "2"));
  expect(resultOf(both, { labels: { a: "1" }, metadata: { b: "2" } })).toBe("match");
  expect(resultOf(both, { labels: { a: "1" } })).toBe("parks");
  expect(resultOf(both, { metadata: { b: "2" } })).toBe("parks");
});

// AFF-1

test.each<[string, unknown, Readonly<Record<string, string>>, Result]>([
  [
    "every label equal, others ignored",
    { role: "harness", os: "linux" },
    { role: "harness", os: "linux", x: "y" },
    "match",
  ],
  ["one label missing", { role: "harness", os: "linux" }, { role: "harness" }, "parks"],
  ["one label of another value", { role: "harness" }, { role: "Harness" }, "parks"],
  ["no label declared", {}, {}, "match"],
  ["nothing declared", null, { a: "b" }, "match"],
  ["names that every object has", { constructor: "x" }, {}, "parks"],
])("AFF-1 %s", (_, affinity, labels, expected) => {
  expect(resultOf(affinity, { labels })).toBe(expected);
});

// AFF-6

test("AFF-6 of a term that reads routing input nothing is told but that it is not satisfied", () => {
  const terms = [
    labelIs(routingInput("secret")),
    required(built("service", routingInput("secret"))),
    required(
      built(
        "when",
        compared(input("tier"), "eq", 1),
        compared(label("k"), "eq", routingInput("secret")),
      ),
    ),
    required(
      built(
        "when",
        compared(routingInput("secret"), "eq", 1),
        compared(label("k"), "eq", input("p")),
      ),
    ),
  ];
  for (const affinity of terms) {
    const result = resultOf(affinity, { input: { tier: 1, p: [] }, routing: { secret: ["a"] } });
    expect(result).toMatchObject({
      type: "AffinityResolutionError",
      message: "routing constraint unsatisfied",
    });
    expect(JSON.stringify(result)).not.toMatch(/secret|"k"|input/);
    expect(result).toMatchObject({ details: null });
  }
  expect(resultOf(terms[0], { routing: {} })).toMatchObject({
    message: "routing constraint unsatisfied",
  });
});

test("AFF-6 what reads routing input is kept apart from the rest", () => {
  const affinity = required(
    compared(label("a"), "eq", input("p")),
    compared(label("b"), "eq", routingInput("q")),
  );
  const routing = built(
    "score",
    built("prefer", compared(label("c"), "eq", routingInput("q"))),
    built("least", built("load")),
  );
  const inputs = { input: { p: "x" }, routing_input: { q: "y" } };
  expect(resolvePlacement({ affinity, routing }, inputs)).toEqual({
    isPolicyUnreadable: false,
    open: {
      affinity: [{ of: "label", key: "a", op: "eq", value: "x" }],
      routing: [{ kind: "least", selector: { kind: "load" }, weight: 1 }],
    },
    hidden: {
      affinity: [{ of: "label", key: "b", op: "eq", value: "y" }],
      routing: [
        { kind: "prefer", left: { kind: "label", key: "c" }, op: "eq", right: "y", weight: 1 },
      ],
    },
  });
});

test("AFF-7 a stored term that is not known matches no worker, and the execution parks", () => {
  const known = compared(label("k"), "eq", "x");
  for (const stored of [
    [known, { kind: "nearby", of: "x" }],
    [{ ...(known as object), op: "like" }],
    { k: ["x"] },
    "everything",
    7,
  ]) {
    expect(resultOf(stored, has("x"))).toBe("parks");
  }
});

test("DSP-2 equal needs are one text, in whichever order they were written and how often", () => {
  const [a, b] = [compared(label("a"), "eq", p), compared(meta("b"), "ne", 2)];
  const texts = [required(a, b), required(b, a), required(a, b, a)].map((affinity) => {
    const resolved = resolvePlacement(
      { affinity, routing: null },
      { input: { p: "x" }, routing_input: null },
    );
    return JSON.stringify(resolved);
  });
  expect(new Set(texts).size).toBe(1);
});
