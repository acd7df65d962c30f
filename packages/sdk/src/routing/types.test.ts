import { expect, expectTypeOf, test } from "vitest";
import type { StandardSchema } from "../standard-schema.ts";
import { type Workflow, workflow } from "../workflow.ts";
import {
  type Affinity,
  concurrency,
  type InputPath,
  input,
  label,
  labelFor,
  least,
  limit,
  load,
  meta,
  metaFor,
  metric,
  most,
  type OfRoutingInput,
  optional,
  prefer,
  rate,
  require,
  resource,
  routingInput,
  score,
  service,
  sticky,
  utilization,
  when,
} from "./index.ts";

interface Order {
  readonly region: string;
  readonly tenant?: { readonly id: number; readonly plan: { readonly name: string } | null };
  readonly items: readonly { readonly sku: string }[];
  readonly extra: Readonly<Record<string, unknown>>;
}

/** A schema that takes everything. */
function schemaOf<Value>(): StandardSchema<Value> {
  const validate = (value: unknown) => ({ value: value as Value });
  return { "~standard": { version: 1, vendor: "test", validate } };
}

test("AFF-8 a path that the workflow's input type lacks does not compile", () => {
  expectTypeOf<InputPath<Order>>().toEqualTypeOf<
    | "region"
    | "tenant"
    | "tenant.id"
    | "tenant.plan"
    | "tenant.plan.name"
    | "items"
    | "extra"
    | `extra.${string}`
  >();
  const region = require(label("region").eq(input("region")));
  const nowhere = require(label("region").eq(input("regoin")));
  expectTypeOf(region).toEqualTypeOf<Affinity<"region">>();
  workflow({ name: "w", affinity: region }, async (_: Order) => 1);
  // @ts-expect-error -- the order has no regoin
  workflow({ name: "w", affinity: nowhere }, async (_: Order) => 1);
  // @ts-expect-error -- the order has no regoin
  workflow<Order, number>({ name: "w", affinity: nowhere }, async () => 1);
  workflow<Order, number>({ name: "w", affinity: region }, async () => 1);
});

test("AFF-8 the schema of an input says which paths there are", () => {
  const schema = schemaOf<{ region: string; size: { gb: number } | null }>();
  const affinity = require(label("region").eq(input("region")), optional(
    meta("gb").eq(input("size.gb")),
  ));
  workflow({ name: "w", input: schema, affinity }, async ({ region }) => region);
  workflow(
    // @ts-expect-error -- the schema has no tenant
    { name: "w", input: schema, affinity: require(label("tenant").eq(input("tenant"))) },
    async ({ region }) => region,
  );
  workflow(
    // @ts-expect-error -- the schema has no tenant
    { name: "w", input: schema, limits: [concurrency(2, { key: input("tenant") })] },
    async ({ region }) => region,
  );
  workflow(
    // @ts-expect-error -- the schema has no tenant
    { name: "w", input: schema, fairness: { key: input("tenant") } },
    async ({ region }) => region,
  );
  workflow(
    // @ts-expect-error -- the schema has no tenant
    { name: "w", input: schema, routing: score(prefer(label("tenant").eq(input("tenant")))) },
    async ({ region }) => region,
  );
});

test("AFF-8 where the input's type is not known every path compiles, and so does any of the routing input", () => {
  const affinity = require(label("a").eq(input("a.b.c")), labelFor("b.", routingInput("x.y")).eq(
    "true",
  ));
  expectTypeOf(affinity).toEqualTypeOf<Affinity<"a.b.c" | OfRoutingInput>>();
  workflow({ name: "w", affinity }, async () => 1);
  workflow({ name: "w", affinity }, async (_: unknown) => 1);
  // biome-ignore lint/suspicious/noExplicitAny: an input of any type
  workflow({ name: "w", affinity }, async (_: any) => 1);
  workflow({ name: "w", input: schemaOf<Record<string, unknown>>(), affinity }, async () => 1);
  workflow(
    { name: "w", affinity: require(label("a").eq(routingInput("x"))) },
    async (_: Order) => 1,
  );
  workflow({ name: "w", affinity: { role: "harness" } }, async (_: Order) => 1);
});

test("AFF-8 the types refuse what registration refuses", () => {
  expect(() => {
    // @ts-expect-error -- empty
    workflow({ name: "w", affinity: require() }, async () => 1);
  }).toThrow();
  const refusals: readonly (() => unknown)[] = [
    // @ts-expect-error -- empty
    () => workflow({ name: "w", routing: score() }, async () => 1),
    // @ts-expect-error -- a label that is no text
    () => workflow({ name: "w", affinity: { cpus: 4 } }, async () => 1),
    // @ts-expect-error -- ordering
    () => require(label("a").lt(3)),
    // @ts-expect-error -- a metric
    () => require(metric("a").eq(3)),
    // @ts-expect-error -- a resource
    () => require(resource("cpu_total").eq(3)),
    // @ts-expect-error -- load
    () => require(load().eq(3)),
    // @ts-expect-error -- utilization
    () => require(utilization().eq(3)),
    // @ts-expect-error -- two selectors
    () => label("a").eq(label("b")),
    // @ts-expect-error -- a constant in optional
    () => optional(label("a").eq("b")),
    // @ts-expect-error -- optional twice
    () => optional(optional(label("a").eq(input("b")))),
    // @ts-expect-error -- when in optional
    () => optional(when(input("a").eq(1), label("a").eq(input("b")))),
    // @ts-expect-error -- when in when
    () => when(input("a").eq(1), when(input("a").eq(1), label("a").eq("b"))),
    // @ts-expect-error -- when in when
    () => when(input("a").eq(1), when(input("a").eq(1), least(load()))),
    // @ts-expect-error -- a worker in when of require
    () => when(meta("a").eq(1), label("a").eq("b")),
    // @ts-expect-error -- a label in when of score
    () => when(label("a").eq("b"), least(load())),
    // @ts-expect-error -- a resource in when of score
    () => when(resource("cpu_total").gt(4), least(load())),
    // @ts-expect-error -- an input in a condition on a worker
    () => when(metric("a").gt(input("b")), least(load())),
    // @ts-expect-error -- optional in score
    () => score(optional(label("a").eq(input("b")))),
    // @ts-expect-error -- a comparison alone in score
    () => score(metric("a").lt(3)),
    // @ts-expect-error -- a term of score in require
    () => require(sticky()),
    // @ts-expect-error -- when of score in require
    () => require(when(input("a").eq(1), least(load()))),
    // @ts-expect-error -- when of require in score
    () => score(when(input("a").eq(1), label("a").eq("b"))),
    // @ts-expect-error -- score as affinity
    () => workflow({ name: "w", affinity: score(least(load())) }, async () => 1),
    // @ts-expect-error -- require as routing
    () => workflow({ name: "w", routing: require(label("a").eq("b")) }, async () => 1),
    // @ts-expect-error -- one term without require
    () => workflow({ name: "w", affinity: label("a").eq("b") }, async () => 1),
    // @ts-expect-error -- what differs by execution
    () => least(labelFor("a.", input("b"))),
    // @ts-expect-error -- what differs by execution
    () => most(metaFor("a.", input("b"))),
    // @ts-expect-error -- a service is no number
    () => least(service("gpu")),
    // @ts-expect-error -- no key
    () => label("a key"),
    // @ts-expect-error -- no key
    () => meta(""),
    // @ts-expect-error -- no key
    () => label("-a"),
    // @ts-expect-error -- a weight of nothing
    () => sticky({ weight: 0 }),
    // @ts-expect-error -- a weight below nothing
    () => least(load(), { weight: -1 }),
    // @ts-expect-error -- a weight of nothing
    () => prefer(load().lt(3), { weight: 0 }),
    // @ts-expect-error -- a weight that is no number
    () => sticky({ weight: "3" }),
    // @ts-expect-error -- no key
    () => labelFor("a."),
    // @ts-expect-error -- a key that is a constant
    () => concurrency(2, { key: "tenant" }),
    // @ts-expect-error -- another way to overflow
    () => concurrency(2, { overflow: "drop" }),
    // @ts-expect-error -- no period
    () => rate(2),
    // @ts-expect-error -- a number
    () => limit(3),
    // @ts-expect-error -- a number
    () => input(0),
    // @ts-expect-error -- an index of a list
    () => input("items.0.sku"),
    // @ts-expect-error -- an index of a list
    () => input("items[0]"),
    // @ts-expect-error -- an index of a list
    () => routingInput("0"),
    // @ts-expect-error -- no path
    () => input(""),
    // @ts-expect-error -- an unknown resource
    () => resource("gpu_total"),
    // @ts-expect-error -- a comparison that orders an input
    () => when(input("a").lt(3), label("a").eq("b")),
    // @ts-expect-error -- an input as the constant
    () => when(input("a").eq(input("b")), label("a").eq("b")),
    // @ts-expect-error -- text that is no number
    () => metric("a").lt("many"),
  ];
  for (const refused of refusals) expect(refused, String(refused)).toThrow();
});

test("AFF-8 what terms read says nothing of the input's type", () => {
  const open = workflow(
    {
      name: "w",
      affinity: require(label("a").eq(input("a"))),
      routing: score(prefer(label("b").eq(input("b")))),
      limits: [limit("c"), rate(1, "1m", { key: input("c") })],
      fairness: { key: input("d") },
    },
    async () => 1,
  );
  expectTypeOf(open).toEqualTypeOf<Workflow<undefined, number>>();
  const closed = workflow(
    { name: "w", limits: [limit("c"), concurrency(1, { key: input("region") })] },
    async (order: Order) => order.region,
  );
  expectTypeOf(closed).toEqualTypeOf<Workflow<Order, string>>();
});
