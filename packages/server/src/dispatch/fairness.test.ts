import { expect, test } from "vitest";
import { TestEngine } from "../testing/start-engine.ts";

const FAIR = `import { call, workflow } from "@engine/sdk";
import { input, routingInput } from "@engine/sdk/routing";

export const fair = workflow(
  { name: "fair", fairness: { key: input("tenant") } },
  async (input) => input,
);
export const heavy = workflow(
  { name: "heavy", fairness: { key: input("customer"), weight: 3 } },
  async (input) => input,
);
export const hidden = workflow(
  { name: "hidden", fairness: { key: routingInput("tenant") } },
  async (input) => input,
);
export const plain = workflow({ name: "plain" }, async (input) => input);
export const calm = workflow({ name: "calm", priority: 0 }, async (input) => input);
`;

interface Asked {
  readonly workflow: string;
  readonly input?: unknown;
  readonly namespace?: string;
  readonly priority?: number;
}

async function engine(config: object = {}): Promise<TestEngine> {
  const t = await TestEngine.start(config);
  await t.engine.catalog.register({ source: FAIR }, { by: null });
  return t;
}

async function start(t: TestEngine, { input = null, ...of }: Asked): Promise<void> {
  const asked = { namespace: "default", ...of, input: input as never };
  await t.engine.executions.start({ ...asked, trigger: { kind: "api" }, by: null });
}

/** What a worker of one slot is given, one after the other. */
async function given(t: TestEngine, count: number): Promise<unknown[]> {
  const worker = await t.worker("w", { slots: 1 });
  const inputs: unknown[] = [];
  for (let n = 0; n < count; n++) {
    const assigned = await worker.next("assign");
    inputs.push(assigned.input);
    await worker.completed(assigned, null);
  }
  return inputs;
}

test("FLW-6 the values of a key take turns, however many of one wait before another", async () => {
  await using t = await engine();
  for (let n = 0; n < 6; n++) await start(t, { workflow: "fair", input: { tenant: "big" } });
  for (const tenant of ["a", "b", "a", "b"])
    await start(t, { workflow: "fair", input: { tenant } });
  const tenants = (await given(t, 10)).map((input) => (input as { tenant: string }).tenant);
  expect(tenants.slice(0, 6).toSorted()).toEqual(["a", "a", "b", "b", "big", "big"]);
  expect(tenants.slice(6)).toEqual(["big", "big", "big", "big"]);
});

test("FLW-6 one value is one part in whichever workflow, and a weight is a larger one", async () => {
  await using t = await engine();
  for (let n = 0; n < 8; n++) {
    await start(t, { workflow: "fair", input: { tenant: "a", n } });
    await start(t, { workflow: "heavy", input: { customer: "b", n } });
  }
  const first = (await given(t, 8)).map((input) => ("tenant" in (input as object) ? "a" : "b"));
  expect(first.filter((key) => key === "b")).toHaveLength(6);
});

test("FLW-5 FLW-6 turns are taken within a priority: a lower one waits for all of a higher one", async () => {
  await using t = await engine();
  await start(t, { workflow: "fair", input: { tenant: "a", low: true }, priority: -1 });
  for (let n = 0; n < 3; n++) await start(t, { workflow: "fair", input: { tenant: "b" } });
  const inputs = await given(t, 4);
  expect(inputs.at(-1)).toMatchObject({ low: true });
});

test("FLW-6 RIN-3 a key of the routing input takes turns and lies in no row as it was given", async () => {
  await using t = await engine();
  const asked = { namespace: "default", workflow: "hidden", trigger: { kind: "api" }, by: null };
  const routing_input = { tenant: "secret-tenant" };
  const { row } = await t.engine.executions.start({
    ...{ ...asked, trigger: { kind: "api" as const } },
    ...{ input: null, routing_input },
  });
  expect(row.requirements?.fairness).toMatchObject({ weight: 1 });
  expect(JSON.stringify(row)).not.toContain("secret-tenant");
});

test("FLW-4 FLW-6 a list as key fails the start, and an absent one shares a part", async () => {
  await using t = await engine();
  const of = {
    namespace: "default",
    workflow: "fair",
    trigger: { kind: "api" as const },
    by: null,
  };
  const failed = await t.engine.executions.start({ ...of, input: { tenant: ["a"] } });
  expect(failed.row).toMatchObject({
    state: "FAILED",
    failure: { type: "AffinityResolutionError", details: { input: "tenant", reason: "invalid" } },
  });
  const { row } = await t.engine.executions.start({ ...of, input: {} });
  expect(row.requirements).toMatchObject({ fairness: { key: '["input",null]', weight: 1 } });
});

test("FLW-6 where it is configured, namespaces take turns", async () => {
  await using t = await engine({ dispatch: { fairness: "namespace" } });
  const other = `import { workflow } from "@engine/sdk";
export const plain = workflow({ name: "plain", namespace: "other" }, async (input) => input);
`;
  await t.engine.catalog.register({ source: other }, { by: null });
  for (let n = 0; n < 4; n++) await start(t, { workflow: "plain", input: "default" });
  await start(t, { workflow: "plain", namespace: "other", input: "other" });
  expect((await given(t, 2)).toSorted()).toEqual(["default", "other"]);
});

test("DSP-10 a child takes turns with its parent's key unless its workflow states one", async () => {
  await using t = await engine();
  const worker = await t.worker("w");
  await start(t, { workflow: "fair", input: { tenant: "a" } });
  const assigned = await worker.next("assign");
  const call = (id: string, workflow: string, input: object) =>
    worker.callEvent("TASK_STARTED", id, { workflow, input, wait: true, detach: false } as never);
  await worker.parked(assigned, [
    call("call~1", "default/plain", {}),
    call("call~2", "default/heavy", { customer: "c" }),
  ]);
  const { execution_id: parent_id } = assigned;
  const page = { parent_id, order: "created_asc", limit: 9, offset: 0 } as const;
  const { items } = await t.engine.executions.list(page);
  expect(items.map(({ requirements }) => requirements?.fairness)).toEqual([
    { key: '["input","a"]', weight: 1 },
    { key: '["input","c"]', weight: 3 },
  ]);
});

test("DSP-10 FLW-5 a child has its parent's priority unless its workflow states one, be it 0", async () => {
  await using t = await engine();
  const worker = await t.worker("w");
  await start(t, { workflow: "fair", input: { tenant: "a" }, priority: 5 });
  const assigned = await worker.next("assign");
  const call = (id: string, workflow: string) =>
    worker.callEvent("TASK_STARTED", id, { workflow, input: {}, wait: true, detach: false });
  await worker.parked(assigned, [call("call~1", "default/plain"), call("call~2", "default/calm")]);
  const page = { order: "created_asc", limit: 9, offset: 0 } as const;
  const { items } = await t.engine.executions.list({ parent_id: assigned.execution_id, ...page });
  expect(items.map(({ priority }) => priority)).toEqual([5, 0]);
});
