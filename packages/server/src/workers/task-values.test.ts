import type { Json } from "@engine/contract";
import { expect, test } from "vitest";
import type { AuditedCall } from "../auth/audit-entry.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";

const SOURCE = `import { task, workflow } from "@engine/sdk";
const sign = task({ name: "sign", secrets: ["KEY"], configs: ["region"] }, async () => 1);
const other = task({ name: "other", secrets: ["OTHERS"] }, async () => 1);
export const signing = workflow(
  { name: "signing", secrets: ["SHARED"], configs: ["limits"] },
  async () => [await sign(), await other()],
);
`;
const ASKER = {
  action: "secrets.put",
  address: undefined,
  request_id: "r",
  caller: { principal: null, identity: undefined },
} as unknown as AuditedCall;

async function kept(t: TestEngine, values: Readonly<Record<string, Json>>): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    await t.engine.secrets.put(name, { value, unmasked: true }, ASKER);
  }
}

/** An execution of the workflow above that a worker owns, with what asks for values on its behalf. */
async function signing(t: TestEngine) {
  await t.engine.catalog.register({ source: SOURCE }, { by: null });
  const worker = await t.worker();
  const start = { namespace: "default", workflow: "signing", input: null, by: null } as const;
  await t.engine.executions.start({ ...start, trigger: { kind: "api" } } as never);
  const assigned = await worker.next("assign");
  const { execution_id, generation } = assigned;
  const { workers } = t.engine;
  const secrets = (task: string, names: readonly string[], as: ScriptedWorker = worker) =>
    workers.secrets(as.ref, execution_id, { generation, task, names });
  const configs = (task: string | null, names: readonly string[]) =>
    workers.configs(worker.ref, execution_id, { generation, task, names });
  return { worker, assigned, secrets, configs };
}

test("SEC-6 a task is given the secrets that it declares, and those of its workflow", async () => {
  await using t = await TestEngine.start();
  await kept(t, { KEY: { id: 1 }, SHARED: "all" });
  const { secrets } = await signing(t);
  expect(await secrets("sign", ["KEY", "SHARED"])).toEqual({ KEY: { id: 1 }, SHARED: "all" });
  expect(await secrets("other", ["SHARED"])).toEqual({ SHARED: "all" });
});

test("SEC-6 what neither declares is refused by name, whether it exists or not", async () => {
  await using t = await TestEngine.start();
  await kept(t, { KEY: "k", OTHERS: "o", ELSE: "e" });
  const { secrets, configs } = await signing(t);
  const refused = (undeclared: readonly string[]) => ({
    code: "permission_denied",
    details: { undeclared },
  });
  await expect(secrets("sign", ["KEY", "OTHERS", "ELSE"])).rejects.toMatchObject(
    refused(["OTHERS", "ELSE"]),
  );
  await expect(secrets("sign", ["NOTHING"])).rejects.toMatchObject(refused(["NOTHING"]));
  await expect(secrets("no such task", ["KEY"])).rejects.toMatchObject(refused(["KEY"]));
  await expect(configs("sign", ["else"])).rejects.toMatchObject(refused(["else"]));
});

test("SEC-6 what is declared and does not exist is 404 by its name", async () => {
  await using t = await TestEngine.start();
  await kept(t, { KEY: "k" });
  const { secrets, configs } = await signing(t);
  await expect(secrets("sign", ["KEY", "SHARED"])).rejects.toMatchObject({
    code: "not_found",
    details: { resource: "secret", names: ["SHARED"] },
  });
  await expect(configs("sign", ["region"])).rejects.toMatchObject({
    code: "not_found",
    details: { resource: "config", names: ["region"] },
  });
});

test("SEC-6 EXE-7 configs of a task are declared; the workflow's own code may ask for any", async () => {
  await using t = await TestEngine.start();
  await t.engine.configs.put("region", { value: "eu" }, ASKER);
  await t.engine.configs.put("else", { value: [1] }, ASKER);
  const { configs } = await signing(t);
  expect(await configs("sign", ["region"])).toEqual({ region: "eu" });
  expect(await configs(null, ["else"])).toEqual({ else: [1] });
});

test("SEC-6 AUTH-49 only the claim holder is given values, and only while the execution has not ended", async () => {
  await using t = await TestEngine.start();
  await kept(t, { KEY: "k" });
  const { worker, assigned, secrets } = await signing(t);
  const other = await t.worker("other");
  await expect(secrets("sign", ["KEY"], other)).rejects.toMatchObject({ code: "stale_claim" });
  await worker.completed(assigned, null);
  await expect(secrets("sign", ["KEY"])).rejects.toMatchObject({ code: "stale_claim" });
});

test("SEC-6 EXE-70 the version that the execution is pinned to counts, also once it was deleted", async () => {
  await using t = await TestEngine.start();
  await kept(t, { KEY: "k" });
  const { secrets } = await signing(t);
  const changed = SOURCE.replace('secrets: ["KEY"]', 'secrets: ["NEW"]');
  await t.engine.catalog.register({ source: changed }, { by: null });
  await t.engine.catalog.delete("default", "signing");
  expect(await secrets("sign", ["KEY"])).toEqual({ KEY: "k" });
  await expect(secrets("sign", ["NEW"])).rejects.toMatchObject({ code: "permission_denied" });
});

test("SEC-7 registering warns of secrets that do not exist yet, each where it is declared", async () => {
  await using t = await TestEngine.start();
  await kept(t, { KEY: "k" });
  const { warnings } = await t.engine.catalog.register({ source: SOURCE }, { by: null });
  expect(warnings).toMatchObject([
    {
      rule: "secret_unknown",
      workflow: "default/signing",
      path: "workflows[0].secrets",
      file: "workflow.ts",
      line: 5,
      expression: '["SHARED"]',
      message: expect.stringContaining("SHARED"),
    },
    { rule: "secret_unknown", path: "workflows[0].tasks[1].secrets", line: 3 },
  ]);
});
