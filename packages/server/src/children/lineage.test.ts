/** Who is started by an execution has the hook behind it that the execution has (HOOK-33). */
import { randomUUID } from "node:crypto";
import { type ExecutionRow, encode, type HookLineage } from "@engine/contract";
import { expect, test } from "vitest";
import { foundVersion } from "../starts/found-version.ts";
import { TestEngine } from "../testing/start-engine.ts";

const FAMILY = `import { workflow } from "@engine/sdk";
export const parent = workflow({ name: "parent", namespace: "shop" }, async (input) => input);
export const child = workflow({ name: "child", namespace: "shop" }, async (input) => input);
`;

const HOOK: HookLineage = { name: "page", delivery_id: "a delivery", hop: 1 };

/** One that a hook has started, as the store keeps it; nobody has told the engine yet. */
async function started(t: TestEngine, hook: HookLineage | null): Promise<ExecutionRow> {
  await t.engine.catalog.register({ source: FAMILY }, { by: null });
  const of = { namespace: "shop", workflow: "parent" };
  const { pin } = foundVersion(await t.engine.catalog.resolve(of.namespace, of.workflow));
  const { row } = await t.store.executions.create({
    ...pin,
    ...{ execution_id: randomUUID(), input: null, trigger: { kind: "hook" }, by: null },
    ...{ seed: "s", now: t.time.clock(), hook },
  });
  return row;
}

test.each([HOOK, null])(
  "HOOK-33 forks and children have the hook behind them that was there before: %j",
  async (hook) => {
    await using t = await TestEngine.start();
    const worker = await t.worker();
    const { execution_id: source } = await started(t, hook);
    const restarted = await t.engine.executions.fork({ execution_id: source, by: null });
    const { execution_id } = restarted.row;
    expect(restarted.row).toMatchObject({ hook, forked_from: { execution_id: source, seq: 0 } });
    const value = encode(
      { workflow: "shop/child", input: null, wait: true, detach: false },
      "value",
    );
    await worker.parked(await worker.next("assign"), [
      { ...worker.callEvent("TASK_STARTED", "call~1", value), name: "call", kind: "call" },
    ]);
    const child = await t.row((await worker.next("assign")).execution_id);
    expect(child).toMatchObject({ parent_id: execution_id, hook });
    // A fork makes the call that is open anew.
    const { head } = await t.row(execution_id);
    const forked = await t.engine.executions.fork({ execution_id, from_seq: head, by: null });
    expect(forked.row).toMatchObject({ hook, forked_from: { seq: head } });
    const page = { order: "created_asc", limit: 9, offset: 0 } as const;
    const calls = await t.engine.executions.list({ ...page, parent_id: forked.row.execution_id });
    expect(calls.items.map((row) => row.hook)).toEqual([hook]);
  },
);
