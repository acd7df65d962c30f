import { expect, test } from "vitest";
import { resolvePlacement } from "./resolve.ts";
import { type RankedWorker, scoresOf } from "./score.ts";
import { built, compared, input, label, meta, routingInput } from "./testing/built.ts";

const amounts = {
  cpu_total: 8,
  cpu_available: 4,
  memory_total: 100,
  memory_available: 50,
  disk_total: 10,
  disk_free: 5,
};

function worker(has: Partial<RankedWorker> = {}): RankedWorker {
  const plain = { labels: {}, metadata: {}, metrics: {}, amounts: null, load: 0, slots: 0 };
  return { ...plain, isPreferred: false, ...has };
}

/** The scores of workers under a policy; those of its terms beside them. */
function ranked(
  terms: readonly unknown[],
  workers: readonly Partial<RankedWorker>[],
  given: { input?: unknown; routing_input?: Record<string, unknown> | null } = {},
) {
  const inputs = { input: given.input ?? {}, routing_input: given.routing_input ?? null };
  const resolved = resolvePlacement({ affinity: null, routing: built("score", ...terms) }, inputs);
  if (resolved.failure) throw new Error(resolved.failure.message);
  const policy = [...(resolved.open.routing ?? []), ...(resolved.hidden.routing ?? [])];
  return scoresOf(policy, workers.map(worker));
}

const scored = (...of: Parameters<typeof ranked>) => ranked(...of).map(({ score }) => score);
const metric = (key: string) => built("metric", key) as unknown;
const prefer = (left: unknown, op: "eq" | "ne" | "lt" | "lte" | "gt" | "gte", value: unknown) =>
  built("prefer", compared(left, op, value)) as unknown;

// RTE-4

test("RTE-4 most is (v − min) ÷ (max − min), least 1 − that", () => {
  const workers = [{ load: 1 }, { load: 2 }, { load: 5 }];
  expect(scored([built("most", built("load"))], workers)).toEqual([0, 0.25, 1]);
  expect(scored([built("least", built("load"))], workers)).toEqual([1, 0.75, 0]);
});

test("RTE-4 where all are equal each has a half, also a worker alone", () => {
  for (const term of ["least", "most"] as const) {
    expect(scored([built(term, built("load"))], [{ load: 3 }, { load: 3 }])).toEqual([0.5, 0.5]);
    expect(scored([built(term, built("load"))], [{ load: 3 }])).toEqual([0.5]);
  }
});

test("RTE-4 a worker without the value has 0, and a term that nobody has a value for is skipped", () => {
  const queue = metric("queue");
  const workers = [{ metrics: { queue: 1 } }, {}, { metrics: { queue: 3 } }];
  expect(ranked([built("least", queue)], workers).map(({ terms }) => terms)).toEqual([
    [1],
    [0],
    [0],
  ]);
  expect(scored([built("most", queue)], workers)).toEqual([0, 0, 1]);
  expect(
    ranked([built("most", queue), built("least", built("load"))], [{ load: 0 }, { load: 1 }]),
  ).toEqual([
    { score: 1, terms: [null, 1] },
    { score: 0, terms: [null, 0] },
  ]);
});

test("RTE-4 prefer is 1 where it holds, and 0 where the worker has no such value, for ne too", () => {
  const is = prefer(label("zone"), "eq", "a");
  const isNot = prefer(label("zone"), "ne", "a");
  const workers = [{ labels: { zone: "a" } }, { labels: { zone: "b" } }, {}];
  expect(scored([is], workers)).toEqual([1, 0, 0]);
  expect(scored([isNot], workers)).toEqual([0, 1, 0]);
});

test("RTE-4 an absent or invalid input makes 0 for all, and the execution goes on", () => {
  const term = prefer(label("zone"), "eq", input("zone"));
  const service = built("prefer", built("service", input("zone")));
  for (const given of [{}, { zone: null }, { zone: ["a"] }, { zone: {} }]) {
    expect(scored([term, service], [{ labels: { zone: "a" } }, {}], { input: given })).toEqual([
      0, 0,
    ]);
  }
  const bad = { input: { zone: "No Service" } };
  expect(scored([service], [{}], bad)).toEqual([0]);
});

test("RTE-4 sticky is 1 for the preferred worker", () => {
  const sticky = built("sticky", { weight: 3 });
  expect(scored([sticky], [{ isPreferred: true }, {}])).toEqual([3, 0]);
});

test("RTE-4 a score is the sum of weight × value, rounded to 9 decimals", () => {
  const tenth = built("prefer", compared(built("load"), "eq", 0), { weight: 0.1 });
  const fifth = built("prefer", compared(built("load"), "eq", 0), { weight: 0.2 });
  expect(0.1 + 0.2).not.toBe(0.3);
  expect(scored([tenth, fifth], [{}])).toEqual([0.3]);
  const third = scored([built("most", built("load"))], [{ load: 0 }, { load: 1 }, { load: 3 }]);
  expect(third).toEqual([0, 0.333333333, 1]);
  expect(scored([built("sticky", { weight: 1e-10 })], [{ isPreferred: true }])).toEqual([0]);
  expect(scored([built("sticky", { weight: 4e6 })], [{ isPreferred: true }])).toEqual([4e6]);
});

test("RTE-4 numbers of any size make a number between 0 and the sum of the weights", () => {
  const far = [{ metrics: { m: -1.7e308 } }, { metrics: { m: 0 } }, { metrics: { m: 1.7e308 } }];
  expect(scored([built("most", metric("m"))], far)).toEqual([0, 0.5, 1]);
  const near = [{ metrics: { m: 0 } }, { metrics: { m: 5e-324 } }];
  expect(scored([built("most", metric("m"))], near)).toEqual([0, 1]);
  const heavy = built("sticky", { weight: Number.MAX_VALUE });
  const of = scored([heavy, heavy], [{ isPreferred: true }, {}]);
  expect(of).toEqual([Number.MAX_VALUE, 0]);
});

// RTE-1, RTE-2

test.each<[string, unknown, Partial<RankedWorker>, string | number]>([
  ["label(k)", label("k"), { labels: { k: "7" } }, "7"],
  ["labelFor(p, ref)", built("labelFor", "a.", input("v")), { labels: { "a.x": "7" } }, 7],
  ["service(x)", label("engine.service.gpu"), { labels: { "engine.service.gpu": "true" } }, "true"],
  ["meta(k)", meta("k"), { metadata: { k: 7 } }, 7],
  ["metaFor(p, ref)", built("metaFor", "a.", routingInput("v")), { metadata: { "a.y": 7 } }, 7],
  ["metric(k)", metric("engine.cpu_percent"), { metrics: { "engine.cpu_percent": 7 } }, 7],
  ["resource(f)", built("resource", "memory_available"), { amounts }, 50],
  ["load()", built("load"), { load: 7 }, 7],
  ["utilization()", built("utilization"), { load: 7, slots: 14 }, 0.5],
])("RTE-1 a policy looks at %s", (_, selector, has, value) => {
  const given = { input: { v: "x" }, routing_input: { v: "y" } };
  expect(scored([prefer(selector, "eq", value)], [has, {}], given)).toEqual([1, 0]);
});

test("RTE-1 a worker without a limit of slots has no utilization", () => {
  const low = prefer(built("utilization"), "lt", 1);
  expect(scored([low], [{ slots: 0 }, { slots: 2, load: 1 }])).toEqual([0, 1]);
});

test.each<["eq" | "ne" | "lt" | "lte" | "gt" | "gte", readonly number[]]>([
  ["eq", [0, 1, 0]],
  ["ne", [1, 0, 1]],
  ["lt", [1, 0, 0]],
  ["lte", [1, 1, 0]],
  ["gt", [0, 0, 1]],
  ["gte", [0, 1, 1]],
])("RTE-2 %s compares with a constant, input and routingInput", (op, expected) => {
  const workers = [{ load: 1 }, { load: 2 }, { load: 3 }];
  const given = { input: { n: 2 }, routing_input: { n: 2 } };
  for (const value of [2, input("n"), routingInput("n")]) {
    expect(scored([prefer(built("load"), op, value)], workers, given)).toEqual(expected);
  }
});

test.each<[text: string, counts: boolean]>([
  ["2", true],
  ["-2", true],
  ["2.50", true],
  ["007", true],
  ["", false],
  [" 2", false],
  ["+2", false],
  [".5", false],
  ["2.", false],
  ["1e3", false],
  ["0x10", false],
  ["Infinity", false],
  ["NaN", false],
  ["٢", false],
  ["9".repeat(400), false],
])("RTE-2 the text %j counts as a number: %s", (text, counts) => {
  const expected = counts ? 1 : 0;
  const has = [{ labels: { n: text }, metadata: { n: text } }];
  for (const selector of [label("n"), meta("n")]) {
    expect(scored([prefer(selector, "lt", 1_000)], has)).toEqual([expected]);
    expect(scored([built("most", selector)], has)).toEqual([counts ? 0.5 : 0]);
  }
  const wanted = { input: { n: text } };
  expect(scored([prefer(built("load"), "gt", input("n"))], [{ load: 1_000 }], wanted)).toEqual([
    expected,
  ]);
});

test("RTE-2 a service is a condition by itself", () => {
  const gpu = built("prefer", built("service", "gpu"), { weight: 10 });
  expect(scored([gpu], [{ labels: { "engine.service.gpu": "true" } }, {}])).toEqual([10, 0]);
});

// RTE-3

test("RTE-3 a condition on an input is decided once, and is off where the input is absent", () => {
  const term = built("when", compared(input("tier"), "eq", "gold"), built("most", built("load")));
  const workers = [{ load: 0 }, { load: 1 }];
  expect(scored([term], workers, { input: { tier: "gold" } })).toEqual([0, 1]);
  expect(scored([term], workers, { input: { tier: "tin" } })).toEqual([0, 0]);
  for (const off of [{}, { tier: null }, { tier: ["gold"] }]) {
    expect(scored([term], workers, { input: off })).toEqual([0, 0]);
  }
  const other = built("when", compared(input("tier"), "ne", "gold"), built("most", built("load")));
  expect(scored([other], workers, { input: {} })).toEqual([0, 0]);
});

test("RTE-3 a condition on the worker makes the term count for those it holds for", () => {
  const spot = built("when", compared(meta("spot"), "ne", "true"), built("least", built("load")));
  const workers = [
    { load: 9, metadata: { spot: "false" } },
    { load: 5, metadata: { spot: "false" } },
    { load: 0, metadata: { spot: "true" } },
    { load: 0 },
  ];
  expect(scored([spot], workers)).toEqual([0, 1, 0, 0]);
  for (const left of [metric("m"), built("load"), built("utilization")]) {
    const term = built("when", compared(left, "gte", 0), built("sticky"));
    const has = { metrics: { m: 1 }, slots: 1, isPreferred: true };
    expect(scored([term], [has])).toEqual([1]);
  }
});

test("RTE-5 a stored policy that is not known leaves workers to be ranked by their load", () => {
  for (const routing of [
    { terms: [{ kind: "nearest" }] },
    { terms: [] },
    [],
    "fast",
    { rules: 1 },
  ]) {
    const resolved = resolvePlacement(
      { affinity: null, routing },
      { input: 1, routing_input: null },
    );
    expect(resolved).toEqual({ open: {}, hidden: {}, isPolicyUnreadable: true });
  }
});

test("RTE-7 a policy is stored as data", () => {
  const terms = [
    built("prefer", compared(metric("x"), "lt", 3), { weight: 10 }),
    built("least", meta("rank"), { weight: 5 }),
    built("sticky", { weight: 3 }),
    built(
      "when",
      compared(input("a"), "eq", true),
      built("most", built("resource", "cpu_available")),
    ),
  ];
  expect(built("score", ...terms) as unknown).toEqual(
    JSON.parse(`{"terms":[
      {"kind":"prefer","left":{"kind":"metric","key":"x"},"op":"lt","right":3,"weight":10},
      {"kind":"least","selector":{"kind":"meta","key":"rank"},"weight":5},
      {"kind":"sticky","weight":3},
      {"kind":"when","if":{"left":{"kind":"input","path":"a"},"op":"eq","right":true},
       "then":{"kind":"most","selector":{"kind":"resource","field":"cpu_available"},"weight":1}}]}`),
  );
});
