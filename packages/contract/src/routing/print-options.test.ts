import { expect, test } from "vitest";
import { printAffinity, printFairness, printLimit, printRouting } from "./print-options.ts";
import { built, compared, input, label, meta, routingInput } from "./testing/built.ts";

test("AFF-7 an affinity is printed as a user would type it", () => {
  const terms = [
    compared(label("region"), "eq", input("region")),
    compared(built("labelFor", "dataset.", input("dataset")), "eq", "true"),
    compared(meta("maintenance"), "ne", true),
    built("service", "inference"),
    built("service", input("model")),
    built("optional", compared(label("node"), "eq", routingInput("node"))),
    built("when", compared(input("tier"), "eq", 'a"b'), compared(meta("rank"), "eq", -1.5)),
  ];
  expect(printAffinity(built("require", ...terms))).toMatchInlineSnapshot(`
    "require(
      label("region").eq(input("region")),
      labelFor("dataset.", input("dataset")).eq("true"),
      meta("maintenance").ne(true),
      service("inference"),
      service(input("model")),
      optional(label("node").eq(routingInput("node"))),
      when(input("tier").eq("a\\"b"), meta("rank").eq(-1.5)),
    )"
  `);
  expect(printAffinity(built("require", terms[0]))).toBe(
    'require(label("region").eq(input("region")))',
  );
  expect(printAffinity({ role: "harness", "gpu.model": "a100", "2nd": "x" })).toBe(
    '{ role: "harness", "gpu.model": "a100", "2nd": "x" }',
  );
  expect(printAffinity({})).toBe("{}");
  expect(printAffinity(null)).toBeUndefined();
});

test("AFF-7 a label under the engine's prefix that names no service is printed as the label it is", () => {
  const term = compared(label("engine.service.No_Name"), "eq", "true");
  expect(printAffinity([term])).toBe('require(label("engine.service.No_Name").eq("true"))');
});

test("AFF-7 a term of a later release is printed as it is stored", () => {
  expect(printAffinity([{ kind: "near", of: "x" }])).toBe(
    'require({"kind":"near","of":"x"} /* not known to this release */)',
  );
  expect(printRouting({ terms: [] })).toBe('{"terms":[]} /* not known to this release */');
});

test("RTE-7 a policy is printed as a user would type it", () => {
  const terms = [
    built("prefer", compared(built("metric", "queue"), "lte", 3), { weight: 10 }),
    built("prefer", built("service", "gpu")),
    built("least", built("utilization"), { weight: 0.5 }),
    built("most", built("resource", "memory_available")),
    built("sticky", { weight: 3 }),
    built("sticky"),
    built("when", compared(built("load"), "gt", 4), built("least", meta("rank"))),
  ];
  expect(printRouting(built("score", ...terms))).toMatchInlineSnapshot(`
    "score(
      prefer(metric("queue").lte(3), { weight: 10 }),
      prefer(service("gpu")),
      least(utilization(), { weight: 0.5 }),
      most(resource("memory_available")),
      sticky({ weight: 3 }),
      sticky(),
      when(load().gt(4), least(meta("rank"))),
    )"
  `);
  expect(printRouting(null)).toBeUndefined();
});

test("FLW-1 FLW-2 FLW-3 FLW-6 limits and fairness are printed as a user would type them", () => {
  const key = input("tenant_id");
  const all = { key, holdWhileWaiting: true, overflow: "reject" };
  expect(printLimit(built("concurrency", 10))).toBe("concurrency(10)");
  expect(printLimit(built("concurrency", 2, all))).toBe(
    'concurrency(2, { key: input("tenant_id"), holdWhileWaiting: true, overflow: "reject" })',
  );
  expect(printLimit(built("rate", 100, "1m", { key }))).toBe(
    'rate(100, "1m", { key: input("tenant_id") })',
  );
  expect(printLimit(built("rate", 100, 1_500))).toBe('rate(100, "1500ms")');
  expect(printLimit(built("rate", 1, "24h"))).toBe('rate(1, "1d")');
  expect(printLimit(built("limit", "openai"))).toBe('limit("openai")');
  expect(printFairness({ key, weight: 2 })).toBe('{ key: input("tenant_id"), weight: 2 }');
  expect(printFairness({ key, weight: 1 })).toBe('{ key: input("tenant_id") }');
});
