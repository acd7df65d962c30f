import { createHash } from "node:crypto";
import {
  EngineError,
  type ExecutionRow,
  hookExecutionId,
  routes,
  testDeliveryId,
} from "@engine/contract";
import type { AuthorizationRequest } from "@engine/http";
import { expect, test } from "vitest";
import { GuardedEngine, tokenKeys, tokenOf } from "../testing/guarded-engine.ts";
import { proven } from "./execution-token.ts";

const SOURCE = `import { workflow } from "@engine/sdk";
export const parent = workflow({ name: "parent" }, async (input) => input);
`;

/** A running execution of ada's, with what its task may do with its token. */
async function running(grants: readonly string[] = ["workflow:default:*:run"]) {
  const guarded = await GuardedEngine.start();
  const { t, principals } = guarded;
  await t.engine.catalog.register({ source: SOURCE }, { by: null });
  principals.set("ada", grants);
  const worker = await t.worker();
  await guarded.run("ada", "parent");
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  return { guarded, t, principals, worker, assigned, ask };

  /** What a request with a token is answered with before its body is read. */
  async function ask(
    route: (typeof routes.executions)[keyof typeof routes.executions],
    params: Readonly<Record<string, string>> = { id: assigned.execution_id },
    token = tokenOf(assigned),
  ) {
    const request = { params } as AuthorizationRequest;
    const { tokens = expect.unreachable() } = t.engine;
    try {
      return await tokens.identify(token, request, route);
    } catch (error) {
      if (error instanceof EngineError) return error.details?.["reason"];
      throw error;
    }
  }
}

const { get, status, run, runDefault, resume, resumeMode, cancel, cancelLink } = routes.executions;

test("AUTH-39 AUTH-41 a task calls as its execution's principal, with the rights of that one now", async () => {
  const { ask, guarded, assigned } = await running();
  expect(tokenOf(assigned)).toMatch(/^engine_et_/);
  expect(await ask(run)).toMatchObject({
    id: "ada",
    subject: "ada@acme",
    grants: ["workflow:default:*:run"],
    credential: { kind: "execution_token", expires_at: expect.any(Number) },
    via_execution: assigned.execution_id,
  });
  await guarded.change((p) => p.set("ada", ["workflow:other:*:run"]));
  expect(await ask(run)).toMatchObject({ grants: ["workflow:other:*:run"] });
});

test("AUTH-39 with authorization off nobody has a token", async () => {
  const { t } = await GuardedEngine.start({ enabled: false });
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const { authz, execution_token } = await worker.next("assign");
  expect([authz, execution_token]).toEqual([{ enforced: false, task_grants: ["*"] }, null]);
  const renewal = t.engine.workers.executionToken(worker.ref, execution_id, { generation: 1 });
  await expect(renewal).rejects.toMatchObject({ code: "not_found" });
});

test("AUTH-44 a token reaches its execution and what descends from it, and no route besides", async () => {
  const { ask, t, assigned } = await running(["*"]);
  const { execution_id } = assigned;
  const start = { namespace: "default", workflow: "hello", input: null } as const;
  const child = (via: string | null) =>
    t.engine.executions.start({ ...start, trigger: { kind: "api" }, by: "ada", via });
  const { row: mine } = await child(execution_id);
  const { row: grandchild } = await child(mine.execution_id);
  const { row: others } = await child(null);
  const self = { id: execution_id };
  const wf = { ns: "default", wf: "hello" };
  const scope = "execution_token_scope";
  for (const route of [get]) expect(await ask(route, self)).toMatchObject({ id: "ada" });
  for (const route of [status, resume, resumeMode, cancel]) {
    expect(await ask(route, { ...self, ...wf })).toBe(scope);
  }
  for (const { execution_id: id } of [mine, grandchild]) {
    for (const route of [get, status, resume, resumeMode, cancel]) {
      expect(await ask(route, { ...wf, id })).toMatchObject({ id: "ada" });
    }
  }
  for (const id of [others.execution_id, "none"]) {
    for (const route of [get, status, resume, cancel]) {
      expect(await ask(route, { ...wf, id })).toBe(scope);
    }
  }
  expect(await ask(run, wf)).toMatchObject({ id: "ada" });
  const reached = new Set<object>([get, status, run, resume, resumeMode, cancel]);
  const all = Object.values(routes).flatMap((group) => Object.values(group));
  for (const route of all) {
    if (reached.has(route)) continue;
    const place = { ...wf, id: mine.execution_id, name: "x", execution_id: mine.execution_id };
    expect([route.path, await ask(route as never, place)]).toEqual([route.path, scope]);
  }
  expect(all).toContain(runDefault);
  expect(all).toContain(cancelLink);
});

test("AUTH-44 an execution may read itself, whatever its principal may read", async () => {
  const { ask } = await running();
  expect(await ask(get)).toMatchObject({
    grants: ["workflow:default:*:run", "execution:*:read", "workflow:default:parent:read"],
  });
});

test("AUTH-43 a child that a task starts has the task's execution as parent, and its rights", async () => {
  const { t, assigned, worker } = await running();
  const { row } = await t.engine.executions.start({
    ...{ namespace: "default", workflow: "hello", input: null },
    ...{ trigger: { kind: "api" }, by: "ada", via: assigned.execution_id },
  });
  expect(row).toMatchObject({
    parent_id: assigned.execution_id,
    parent_call_id: null,
    depth: 1,
    started_by: "ada",
    run_as: "ada",
  });
  // Nothing waits for it: its end concerns nobody.
  await worker.completed(await worker.next("assign"), "done");
  expect(await t.row(row.execution_id)).toMatchObject({ state: "COMPLETED" });
  expect(await t.row(assigned.execution_id)).toMatchObject({ state: "RUNNING", waits: [] });
});

test("AUTH-43 EXE-57 a task starts nothing deeper than executions nest", async () => {
  const { t, assigned } = await running();
  const { max_depth } = t.config.executions;
  let via = assigned.execution_id;
  const start = { namespace: "default", workflow: "hello", input: null } as const;
  const child = () =>
    t.engine.executions.start({ ...start, trigger: { kind: "api" }, by: "ada", via });
  for (let depth = 1; depth <= max_depth; depth++) via = (await child()).row.execution_id;
  await expect(child()).rejects.toMatchObject({ code: "conflict" });
});

test("AUTH-41 a token ends with its claim, its execution, its principal and its time", async () => {
  const { ask, guarded, t, worker, assigned } = await running();
  await guarded.change((p) => p.set("ada", ["*"], { banned: true, enabled: false }));
  expect(await ask(run)).toBe("banned");
  await guarded.change((p) => p.set("ada", ["*"], { enabled: false }));
  expect(await ask(run)).toBe("disabled");
  await guarded.change((p) => p.delete("ada"));
  expect(await ask(run)).toBe("invalid");
  await guarded.change((p) => p.set("ada", ["*"]));
  expect(await ask(run)).toMatchObject({ id: "ada" });

  // A later claim has a token of its own; that of an earlier one counts no more.
  const { execution_id, generation } = assigned;
  await t.engine.workers.release(worker.ref, [{ execution_id, generation, reason: "paused" }]);
  const again = await worker.next("assign");
  expect(again).toMatchObject({ execution_id, generation: 2 });
  expect(await ask(run)).toBe("invalid");
  expect(await ask(run, {}, tokenOf(again))).toMatchObject({ id: "ada" });

  await guarded.change((p) => p.set("bob", ["*"]));
  await t.engine.executions.setPrincipal({ execution_id, run_as: "bob" });
  expect(await ask(run, {}, tokenOf(again))).toBe("invalid");
  await t.engine.executions.setPrincipal({ execution_id, run_as: "ada" });
  expect(await ask(run, {}, tokenOf(again))).toMatchObject({ id: "ada" });

  t.time.now += t.config.security.execution_tokens.ttl * 1000;
  expect(await ask(run, {}, tokenOf(again))).toBe("expired");
  expect(await ask(run, {}, "engine_et_a.b.c")).toBe("invalid");
  const renewed = await t.engine.workers.executionToken(worker.ref, execution_id, {
    generation: 2,
  });
  expect(await ask(run, {}, renewed.token)).toMatchObject({ id: "ada" });

  await worker.completed(again, null);
  expect(await ask(run, {}, renewed.token)).toBe("invalid");
});

test("AUTH-42 only the holder of the claim gets another token", async () => {
  const { t, worker, assigned } = await running();
  const { execution_id } = assigned;
  const renew = (of: typeof worker, generation: number) =>
    t.engine.workers.executionToken(of.ref, execution_id, { generation });
  const { token, expires_at } = await renew(worker, 1);
  expect(token).toMatch(/^engine_et_/);
  expect(Date.parse(expires_at)).toBe(t.time.now + 3_600_000);
  await expect(renew(worker, 2)).rejects.toMatchObject({ code: "stale_claim" });
  const other = await t.worker("other");
  await expect(renew(other, 1)).rejects.toMatchObject({ code: "stale_claim" });
  const end = worker.event(assigned, "WORKFLOW_COMPLETED", null);
  await worker.checkpoint(assigned, assigned.head + 1, "COMPLETED", [end]);
  await expect(renew(worker, 1)).rejects.toMatchObject({ code: "stale_claim" });
});

test("AUTH-39 a token is nowhere in what is stored, read or logged of its execution", async () => {
  const { t, assigned } = await running();
  const { execution_id } = assigned;
  const row = await t.row(execution_id);
  const log = await t.store.log.read(execution_id);
  const history = await t.engine.executions.history(execution_id);
  expect(JSON.stringify([row, log, history])).not.toContain("engine_et_");
});

test("AUTH-40 HOOK-45 a token says what made the engine start its execution, and nothing of what that one starts", async () => {
  const { t, guarded } = await running();
  const row = await guarded.run("ada", "parent");
  const delivery_id = "0192f0c1-5b7a-7c31-9d7e-3f1b8a6c2d10";
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const hook = { name: "page", delivery_id, hop: 0 };
  const tested = { ...hook, delivery_id: testDeliveryId(row.execution_id) };
  const cases: [Partial<ExecutionRow>, string | null][] = [
    [{}, null],
    [{ schedule: "nightly" }, "schedule:nightly"],
    [{ execution_id: hookExecutionId(delivery_id, sha256), hook }, "hook:page"],
    [{ hook: tested }, "hook:page:test"],
    // Of a child, or a fork, which have the lineage of what they come from.
    [{ hook }, null],
    [{ execution_id: "another", hook: tested }, null],
  ];
  for (const [changes, on_behalf_of] of cases) {
    const account = { id: "ada", subject: "ada@acme" };
    const minted = t.engine.tokens?.mint({ ...row, ...changes }, account);
    expect(proven(minted?.token ?? "", tokenKeys())).toMatchObject({ on_behalf_of });
  }
});
