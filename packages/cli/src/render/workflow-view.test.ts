import { ExtractedWorkflow, type WorkflowRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { workflowTypes } from "./workflow-types.ts";
import { workflowView } from "./workflow-view.ts";

function record(extracted: object): WorkflowRecord {
  const plain = { namespace: "shop", name: "order", description: null, tasks: [], metadata: {} };
  return {
    ...ExtractedWorkflow.parse({ ...plain, ...extracted }),
    version: 2,
    content_hash: "c0ffee",
    source_hash: "5eed",
    created_at: "2026-01-01T11:55:00.000Z",
    created_by: null,
  };
}

const view = (extracted: object) =>
  workflowView(record(extracted), {
    paint: (_role, text) => text,
    now: Date.parse("2026-01-01T12:00:00.000Z"),
    columns: undefined,
  });

test("a workflow shows what it declares, and says nothing of what it does not", () => {
  const greet = { name: "greet", description: "Says hello.", risk: "write" };
  const charge = { name: "charge", description: null, risk: "external", sensitive: true };
  const all = {
    description: "Sells.",
    tasks: [greet, { ...charge, secrets: ["KEY"], auth_exempt: true }],
    nested_workflows: ["shop/pack", "default/mail"],
    timeout_seconds: 5400,
    durability: "transient",
    secrets: ["A"],
    configs: ["region", "currency"],
  };
  expect(view(all)).toMatchInlineSnapshot(`
    "shop/order v2
      about        Sells.
      tasks        greet – Says hello.
                   charge (external; sensitive; needs no permission; secrets KEY)
      calls        shop/pack, default/mail
      timeout      1 h 30 min
      kept         start and end only (transient)
      secrets      A
      configs      region, currency
      registered   5 min ago (2026-01-01T11:55:00.000Z)
      content      c0ffee
    "
  `);
  expect(view({ tasks: [greet] })).toMatchInlineSnapshot(`
    "shop/order v2
      tasks        greet – Says hello.
      registered   5 min ago (2026-01-01T11:55:00.000Z)
      content      c0ffee
    "
  `);
});

test("AFF-7 RTE-7 FLW-1 a workflow shows where it may run, and how many of it may, as it was typed", () => {
  const key = { kind: "input", path: "tenant_id" };
  const match = { kind: "match", left: { kind: "label", key: "os" }, op: "eq", right: "linux" };
  const all = {
    affinity: [
      match,
      { ...match, left: { kind: "meta", key: "pool" }, right: key, optional: true },
    ],
    routing: {
      terms: [
        { kind: "least", selector: { kind: "load" }, weight: 1 },
        { kind: "sticky", weight: 3 },
      ],
    },
    limits: [
      { kind: "concurrency", count: 2, key, overflow: "reject" },
      { kind: "rate", count: 100, period_ms: 60_000 },
    ],
    priority: 5,
    fairness: { key, weight: 2 },
  };
  expect(view(all)).toMatchInlineSnapshot(`
    "shop/order v2
      affinity     require(
                     label("os").eq("linux"),
                     optional(meta("pool").eq(input("tenant_id"))),
                   )
      routing      score(
                     least(load()),
                     sticky({ weight: 3 }),
                   )
      limits       concurrency(2, { key: input("tenant_id"), overflow: "reject" })
                   rate(100, "1m")
      priority     5
      fairness     { key: input("tenant_id"), weight: 2 }
      registered   5 min ago (2026-01-01T11:55:00.000Z)
      content      c0ffee
    "
  `);
  expect(view({ affinity: { role: "harness", "gpu.model": "a100" } })).toContain(
    '  affinity     { role: "harness", "gpu.model": "a100" }\n',
  );
});

test("RES-1 a workflow shows what it and its tasks request, in units that people use", () => {
  const GIB = 2 ** 30;
  const packages = ["sharp@^0.33", "@acme/fonts"];
  const train = { name: "train", description: null, requests: { cpu: 0.25, memory: GIB, gpu: 1 } };
  const shown = view({
    tasks: [train],
    requests: { cpu: 4, memory: 16 * GIB, disk: 500_000_000, gpu: 2, packages },
  });
  expect(shown).toContain("train (needs 0.25 cores, 1 GiB memory, 1 GPU)\n");
  expect(shown).toMatch(
    /needs +4 cores, 16 GiB memory, 476\.8 MiB disk, 2 GPUs, packages sharp@\^0\.33 @acme\/fonts\n/,
  );
});

test("EXE-90 declarations have an entry per workflow, with what its schemas say", () => {
  const input_schema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
  const declarations = workflowTypes([
    record({
      description: "Sells.\n\nAnd */ more.",
      input_schema,
      output_schema: { type: "null" },
    }),
    record({ name: "pack-up", namespace: "default" }),
  ]);
  expect(declarations).toMatchInlineSnapshot(`
    "// Made by \`engine workflow types\` from an engine's catalog: make it anew instead of editing it.
    export interface Workflows {
      /**
       * Sells.
       *
       * And *\\/ more.
       */
      readonly "shop/order": {
        readonly "~input"?: { readonly id: string };
        readonly "~output"?: null;
      };
      readonly "default/pack-up": {
        readonly "~input"?: unknown;
        readonly "~output"?: unknown;
      };
    }
    "
  `);
});
