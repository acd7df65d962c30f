import { createHash } from "node:crypto";
import { EngineError, placementText } from "@engine/contract";
import { expect, test } from "vitest";
import { hello, TestEngine } from "../testing/start-engine.ts";

const declaring = (options: string, name = "w") => ({
  source: `import { workflow } from "@engine/sdk";
import { concurrency, input, label, least, load, require, score, sticky } from "@engine/sdk/routing";
export const it = workflow({ name: "${name}", ${options} }, async (order: { region: string }) => order);
`,
});

test.each([
  ["invalid_affinity", "affinity: require()"],
  ["invalid_affinity", 'affinity: { a: 1, "b c": "x" }'],
  ["invalid_affinity", 'affinity: require(label("a").lt(3), label(process.env.KEY).eq("b"))'],
  ["invalid_routing", "routing: score(sticky({ weight: 0 }))"],
  ["invalid_routing", 'routing: require(label("a").eq("b"))'],
  ["invalid_limits", "limits: [concurrency(0)]"],
  ["invalid_input", "affinity: require(), routing: score()"],
  ["invalid_input", "affinity: require(), runner: 'nowhere'"],
  ["invalid_input", "affinity: require(), afinity: {}"],
  ["invalid_input", "priority: 11"],
  ["invalid_input", "fairness: {}"],
])(
  "AFF-8 a registration is refused as %s for %s, and nothing of it is there",
  async (code, options) => {
    await using t = await TestEngine.start();
    const { catalog } = t.engine;
    const refused = await catalog
      .register(declaring(options), { by: null })
      .catch((error) => error);
    expect(refused).toBeInstanceOf(EngineError);
    const { details, message } = refused as EngineError;
    expect(refused).toMatchObject({ code, status: 422 });
    expect(message).toMatch(/^workflow\.ts:\d+:\d+ /);
    for (const issue of (details as { issues: object[] }).issues) {
      expect(issue).toMatchObject({ workflow: "default/w", file: "workflow.ts", line: 3 });
      expect(Object.keys(issue).sort()).toEqual([
        "column",
        "expression",
        "file",
        "line",
        "message",
        "path",
        "rule",
        "workflow",
      ]);
    }
    expect(
      (await catalog.list({ limit: 10, offset: 0 })).items.map(({ name }) => name),
    ).not.toContain("w");
  },
);

test("AFF-8 a workflow of the same file is not saved either", async () => {
  await using t = await TestEngine.start();
  const source = `${declaring("affinity: {}", "fine").source}
export const other = workflow({ name: "other", affinity: require() }, async () => 1);`;
  await expect(t.engine.catalog.register({ source }, { by: null })).rejects.toMatchObject({
    code: "invalid_affinity",
  });
  await expect(t.engine.catalog.get("default", "fine")).rejects.toMatchObject({
    code: "not_found",
  });
});

test("AFF-8 a path that no input has is a warning of the registration", async () => {
  await using t = await TestEngine.start();
  const affinity = 'affinity: require(label("region").eq(input("regoin")))';
  const { items, warnings } = await t.engine.catalog.register(declaring(affinity), { by: null });
  expect(items).toMatchObject([{ name: "w", created: true }]);
  expect(warnings).toMatchObject([
    {
      rule: "unknown_input_path",
      workflow: "default/w",
      path: "workflows[0].affinity[0]",
      line: 3,
    },
  ]);
});

test("EXE-69 an assignment has the digest of what was registered, also of a version that is gone", async () => {
  await using t = await TestEngine.start();
  const { catalog, executions } = t.engine;
  const options = 'affinity: { role: "x", os: "linux" }, routing: score(least(load()))';
  await catalog.register(declaring(options), { by: null });
  const record = await catalog.get("default", "w");
  const text = placementText(record);
  expect(text).toBe(
    '{"affinity":{"os":"linux","role":"x"},"routing":{"terms":[{"kind":"least","selector":{"kind":"load"},"weight":1}]}}',
  );
  const worker = t.strangeWorker("first");
  await worker.register({ labels: { role: "x", os: "linux" } });
  await worker.connect();
  await executions.start({ ...hello(), workflow: "w", input: { region: "eu" } });
  const assigned = await worker.next("assign");
  expect(assigned.placement).toBe(
    createHash("sha256")
      .update(text ?? "")
      .digest("hex"),
  );
  await worker.paused(assigned);
  await catalog.delete("default", "w");
  await t.engine.executions.resume({ execution_id: assigned.execution_id, input: 1, by: null });
  expect(await worker.next("assign")).toMatchObject({ placement: assigned.placement });
});

test("EXE-69 an assignment of a workflow without affinity and routing says so", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("first");
  await t.engine.executions.start(hello());
  expect(await worker.next("assign")).toMatchObject({ placement: null });
});
