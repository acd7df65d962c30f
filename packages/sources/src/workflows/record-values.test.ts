import { expect, test } from "vitest";
import { extractWorkflows } from "./extract.ts";

const SDK = `import { task, workflow } from "@engine/sdk";\n`;

function extract(source: string) {
  return extractWorkflows({ entry: "main.ts", files: [{ path: "main.ts", source }] });
}

/** The record of the only task of a workflow with this body, beside what precedes it. */
function taskOf(before: string, body: string) {
  const { workflows, issues } = extract(
    `${SDK}${before}\nexport const w = workflow({ name: "w" }, async () => { ${body} });`,
  );
  expect(issues).toEqual([]);
  return workflows[0]?.tasks[0];
}

const NO_PLACEMENT = { affinity: null, routing: null, limits: [], priority: null, fairness: null };

test("EXE-61 a workflow is read with its options, its tasks and the text above it", () => {
  const { workflows, issues, warnings } = extract(`
    import { task, workflow } from "@engine/sdk";
    import { z } from "zod";
    /**
     * Takes the money,
     * once.
     *
     * Only the first paragraph counts.
     * @param order what to charge
     */
    const charge = task({ name: "charge", retry: { maxAttempts: 4, delay: "1s", backoff: 2 }, timeout: "30s",
      secrets: ["STRIPE_KEY"], configs: ["region"], risk: "external", sensitive: true, authExempt: true },
      async (order: { id: string }) => ({ receipt: order.id }));
    const ship = task({ name: "ship", description: "Sends it." }, async () => {});
    /** Sells. */
    // biome-ignore lint: a line between does not matter
    export const checkout = workflow(
      { name: "checkout", namespace: "shop", input: z.object({ id: z.string() }), metadata: { team: "sales", tags: ["a"] },
        timeout: "1.5h", durability: "transient", secrets: ["A", "B", "A"], configs: ["c"] },
      async (order) => { await ship(); return charge(order); },
    );`);
  expect({ issues, warnings }).toEqual({ issues: [], warnings: [] });
  expect(workflows).toEqual([
    {
      namespace: "shop",
      name: "checkout",
      description: "Sells.",
      tasks: [
        {
          name: "charge",
          description: "Takes the money, once.",
          auth_exempt: true,
          risk: "external",
          sensitive: true,
          secrets: ["STRIPE_KEY"],
          configs: ["region"],
          requests: null,
        },
        {
          name: "ship",
          description: "Sends it.",
          auth_exempt: false,
          risk: "write",
          sensitive: false,
          secrets: [],
          configs: [],
          requests: null,
        },
      ],
      input_schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: { id: { type: "string" } },
        required: ["id"],
      },
      output_schema: expect.objectContaining({
        properties: { receipt: { type: "string" } },
        required: ["receipt"],
      }),
      nested_workflows: [],
      durability: "transient",
      timeout_seconds: 5400,
      runner: null,
      runner_options: null,
      requests: null,
      schedule: null,
      hooks: [],
      ...NO_PLACEMENT,
      secrets: ["A", "B"],
      configs: ["c"],
      metadata: { team: "sales", tags: ["a"] },
    },
  ]);
});

test("RUN-2 a workflow is read with its runner; a memory limit without a process is refused", () => {
  const registered = (options: string) =>
    extract(`${SDK}export const w = workflow({ name: "w", ${options} }, async () => {});`);
  expect(
    registered('runner: "process", runnerOptions: { memoryMb: 256 }').workflows[0],
  ).toMatchObject({ runner: "process", runner_options: { memory_mb: 256 } });
  expect(registered("runnerOptions: { memoryMb: 256 }").issues).toMatchObject([
    { rule: "invalid_option", message: expect.stringContaining('needs runner: "process"') },
  ]);
});

test("a workflow without options has the defaults", () => {
  const { workflows } = extract(
    `${SDK}export const hello = workflow({ name: "hello" }, async () => 1);`,
  );
  expect(workflows).toEqual([
    {
      namespace: "default",
      name: "hello",
      description: null,
      tasks: [],
      input_schema: null,
      output_schema: expect.objectContaining({ type: "number" }),
      nested_workflows: [],
      durability: "durable",
      timeout_seconds: null,
      runner: null,
      runner_options: null,
      requests: null,
      schedule: null,
      hooks: [],
      ...NO_PLACEMENT,
      secrets: [],
      configs: [],
      metadata: {},
    },
  ]);
});

test("EXE-61 the copies of a task count once, with what any of them may use or do", () => {
  const task = `const t = task({ name: "t", secrets: ["A"], risk: "read", authExempt: true }, async () => {});`;
  expect(taskOf(task, "await t();")).toMatchObject({ secrets: ["A"], auth_exempt: true });
  const copies = `${task}
    const b = t.with({ secrets: ["B", "A"], configs: ["c"], sensitive: true });
    const c = b.with({ risk: "exec", authExempt: false });`;
  expect(taskOf(copies, "await t(); await c();")).toEqual({
    name: "t",
    description: null,
    auth_exempt: false,
    risk: "exec",
    sensitive: true,
    secrets: ["A", "B"],
    configs: ["c"],
    requests: null,
  });
});

test("EXE-61 a copy that only shortens the timeout changes nothing of the record", () => {
  const task = `const t = task({ name: "t", risk: "read", authExempt: true, sensitive: true }, async () => {});`;
  expect(taskOf(task, `await t.with({ timeout: "1s" })();`)).toEqual(taskOf(task, "await t();"));
});

test("EXE-64 a copy is refused for options that its task makes impossible", () => {
  const { issues } = extract(`${SDK}const t = task({ name: "t", sensitive: true }, async () => {});
const open = t.with({ sensitive: false });
export const w = workflow({ name: "w" }, async () => [open.with({ cache: true }), t.with({ cache: {} })]);`);
  expect(issues).toMatchObject([
    { rule: "invalid_option", line: 4, expression: "{}", path: "workflows[0].tasks.cache" },
  ]);
  expect(issues[0]?.message).toMatch(/cache and sensitive/);
});

test("EXE-64 what is wrong with a task is told when it is reached through a copy only", () => {
  const { issues } = extract(
    `${SDK}const t = task({ name: "t", risk: "high" }, async () => {}).with({ timeout: 1 });\nexport const w = workflow({ name: "w" }, async () => t());`,
  );
  expect(issues).toMatchObject([
    { rule: "invalid_option", path: "workflows[0].tasks[0].risk", expression: `"high"` },
  ]);
});

test("EXE-64 the options of a workflow are checked and must be static", () => {
  const { issues } = extract(
    `${SDK}export const w = workflow({ name: "w", timeout: 0, durability: "fast", secrets: ["a b"], configs: [process.env.X] }, async () => {});`,
  );
  expect(issues.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
    "invalid_option workflows[0].timeout",
    "invalid_option workflows[0].durability",
    "invalid_option workflows[0].secrets",
    "not_static workflows[0].configs[0]",
  ]);
});

test("EXE-61 a custom output storage and the key of a cache may be any expression", () => {
  const { issues } = extract(
    `${SDK}const t = task({ name: "t", cache: { ttl: "1h", key: keyOf() }, outputStorage: vault() }, async () => {});\nexport const w = workflow({ name: "w", outputStorage: vault() }, () => t());`,
  );
  expect(issues).toEqual([]);
});
