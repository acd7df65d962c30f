import { expect, test } from "vitest";
import { workflow } from "../workflow.ts";
import * as routing from "./index.ts";
import {
  concurrency,
  input,
  label,
  labelFor,
  least,
  limit,
  load,
  meta,
  metaFor,
  metric,
  optional,
  prefer,
  rate,
  require,
  routingInput,
  score,
  service,
  sticky,
  when,
} from "./index.ts";

test("the public surface is deliberate", () => {
  expect(Object.keys(routing).sort()).toEqual([
    "concurrency",
    "input",
    "label",
    "labelFor",
    "least",
    "limit",
    "load",
    "meta",
    "metaFor",
    "metric",
    "most",
    "optional",
    "prefer",
    "rate",
    "require",
    "resource",
    "routingInput",
    "score",
    "service",
    "sticky",
    "utilization",
    "when",
  ]);
});

test("AFF-3 AFF-7 require gives the data that a version stores", () => {
  const affinity = require(label("region").eq(input("region")), labelFor(
    "dataset.",
    input("dataset"),
  ).eq("true"), meta("maintenance").ne("true"), metaFor("approved.", input("model")).eq(
    "true",
  ), service(input("model")), optional(label("node").eq(input("node"))), when(
    input("tier").eq("restricted"),
    label("compliance").eq("hipaa"),
  ));
  const ref = (path: string) => ({ kind: "input", path });
  expect(JSON.parse(JSON.stringify(affinity))).toEqual(affinity);
  expect(affinity).toMatchObject([
    { kind: "match", left: { kind: "label", key: "region" }, op: "eq", right: ref("region") },
    { left: { prefix: "dataset.", suffix: ref("dataset") }, right: "true" },
    { left: { kind: "meta", key: "maintenance" }, op: "ne", right: "true" },
    { left: { kind: "meta", prefix: "approved.", suffix: ref("model") } },
    { left: { kind: "label", prefix: "engine.service.", suffix: ref("model") }, right: "true" },
    { optional: true, right: ref("node") },
    { kind: "when", if: { left: ref("tier"), op: "eq", right: "restricted" } },
  ]);
});

test("RTE-1 RTE-7 FLW-1 FLW-2 FLW-3 score and limits give the data that a version stores", () => {
  const policy = score(
    prefer(metric("x").lt(3), { weight: 10 }),
    prefer(service("gpu")),
    sticky({ weight: 3 }),
    when(meta("spot").eq("true"), least(load())),
  );
  expect(JSON.parse(JSON.stringify(policy))).toEqual(policy);
  expect(policy.terms).toMatchObject([
    { kind: "prefer", left: { kind: "metric", key: "x" }, op: "lt", right: 3, weight: 10 },
    { kind: "prefer", left: { kind: "label", key: "engine.service.gpu" }, weight: 1 },
    { kind: "sticky", weight: 3 },
    { kind: "when", if: { left: { kind: "meta", key: "spot" }, op: "eq", right: "true" } },
  ]);
  const key = routingInput("tenant");
  expect([
    concurrency(2, { key, holdWhileWaiting: true, overflow: "reject" }),
    rate(100, "1m", { key }),
    limit("openai"),
  ]).toEqual([
    {
      kind: "concurrency",
      count: 2,
      key: { ...key },
      hold_while_waiting: true,
      overflow: "reject",
    },
    { kind: "rate", count: 100, period_ms: 60_000, key: { ...key } },
    { kind: "limit", name: "openai" },
  ]);
});

test("AFF-8 a wrong use of a builder is refused where it is written", () => {
  const refused = (use: () => unknown, message: RegExp) => {
    expect(use).toThrow(expect.objectContaining({ code: "invalid_definition" }));
    expect(use).toThrow(message);
  };
  // @ts-expect-error no key has a space
  refused(() => label("a key"), /a label key is 1 to 128/);
  refused(() => service("No Service"), /a service name is 1 to 32/);
  // @ts-expect-error a weight is above 0
  refused(() => sticky({ weight: 0 }), /a finite number above 0; got 0/);
  refused(() => concurrency(0), /a whole number from 1 to 100000; got 0/);
  refused(() => rate(1, "25h"), /a period from a second to a day/);
  refused(() => limit("a limit"), /the name of a limit/);
  // @ts-expect-error what orders is no term
  refused(() => require(label("a").lt(3)), /by eq and ne only/);
  // @ts-expect-error a number is no path
  refused(() => input("items.0"), /without an index of a list/);
});

test("AFF-8 FLW-5 FLW-6 a workflow refuses options that are none", () => {
  const define = (options: object) => () => workflow({ name: "w", ...options }, async () => 1);
  const refused = (options: object, path: string, message: RegExp) => {
    const issues = [{ path, rule: "invalid_option", message: expect.stringMatching(message) }];
    const details = { details: { issues } };
    expect(define(options)).toThrow(
      expect.objectContaining({ code: "invalid_definition", ...details }),
    );
  };
  refused({ affinity: { cpus: 4 } }, "affinity.cpus", /compared with a text; got 4/);
  refused({ affinity: score(sticky()) }, "affinity", /belongs in option routing/);
  refused({ affinity: () => ({}) }, "affinity", /labels with their values/);
  refused({ routing: require(label("a").eq("b")) }, "routing", /belongs in option affinity/);
  refused({ limits: concurrency(1) }, "limits", /a list of at most 16/);
  refused({ limits: [limit("a"), 1] }, "limits[1]", /what concurrency\(…\)/);
  refused({ priority: 11 }, "priority", /from -10 to 10; got 11/);
  refused({ fairness: {} }, "fairness", /\{ key, weight \}/);
  refused({ fairness: { key: "a" } }, "fairness.key", /input\(…\) or routingInput\(…\)/);
  refused({ fairness: { key: input("a"), weight: 0 } }, "fairness.weight", /from 1 to 100/);
  expect(
    define({ affinity: {}, limits: [], priority: -10, fairness: { key: input("a") } }),
  ).not.toThrow();
});
