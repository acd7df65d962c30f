import { expect, test } from "vitest";
import { GuardedEngine } from "../testing/guarded-engine.ts";
import { settled } from "../testing/manual-time.ts";

const RUN = "workflow:default:hello:run";
const TASK = "workflow:default:hello:task";

test("AUTH-35 an assignment says which tasks the execution's principal may execute", async () => {
  const cases: [grants: string[], told: string[]][] = [
    [
      [RUN, `${TASK}:b:execute`, `${TASK}:a:execute`, `${TASK}:a:approve`],
      ["a", "b"],
    ],
    [[RUN], []],
    [["workflow:default:*"], ["*"]],
    [["*"], ["*"]],
    [[RUN, "workflow:*:*:task:*:execute"], ["*"]],
    [[RUN, "workflow:*:other:task:*:execute", "workflow:*:hello:task:c:execute"], ["c"]],
  ];
  const { t, principals, run } = await guarded();
  const worker = await t.worker();
  for (const [i, [grants, task_grants]] of cases.entries()) {
    principals.set(`p${i}`, grants);
    await run(`p${i}`);
    expect((await worker.next("assign")).authz).toEqual({ enforced: true, task_grants });
  }
});

test("AUTH-32 without task permissions a principal that may run a workflow may execute its tasks", async () => {
  const { t, principals, run } = await guarded({ task_permissions: false });
  principals.set("ada", [RUN]);
  const worker = await t.worker();
  await run("ada");
  const { authz } = await worker.next("assign");
  expect(authz).toEqual({ enforced: false, task_grants: ["*"] });
});

test.each([
  ["is disabled", { enabled: false }],
  ["is banned", { banned: true }],
  ["no longer holds :run", "grants"],
  ["is deleted", "deleted"],
] as const)(
  "AUTH-36 an execution whose principal %s waits, and begins once it is back",
  async (_, how) => {
    const { t, change, run } = await guarded();
    const lose = (p: GuardedEngine["principals"]) => {
      if (how === "deleted") p.delete("ada");
      else if (how === "grants") p.set("ada", ["workflow:default:other:run"]);
      else p.set("ada", ["*"], how);
    };
    await change(lose);
    const { execution_id } = await run("ada");
    const worker = await t.worker();
    await settled();
    expect(worker.heard).toEqual(["welcome"]);
    expect(await t.row(execution_id)).toMatchObject({ state: "CREATED", session: null });
    await change((p) => p.set("ada", ["*"]));
    expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 1 });
  },
);

test("AUTH-36 others go past executions that are held", async () => {
  const { t, change, run } = await guarded();
  await change((p) => {
    p.set("ada", ["*"], { enabled: false });
    p.set("bob", ["*"]);
  });
  for (let n = 0; n < 5; n++) await run("ada");
  const bobs = await run("bob");
  const worker = await t.worker();
  expect(await worker.next("assign")).toMatchObject({ execution_id: bobs.execution_id });
  const later = await run("bob");
  expect(await worker.next("assign")).toMatchObject({ execution_id: later.execution_id });
});

test("AUTH-36 DSP-8 an execution that is held says so when its time to wait is over", async () => {
  const { t, change } = await guarded();
  await change((p) => p.set("ada", ["*"], { banned: true }));
  await t.worker();
  const start = { namespace: "default", workflow: "hello", input: null, park_ttl: 60 };
  const { row } = await t.engine.executions.start({
    ...start,
    trigger: { kind: "api" },
    by: "ada",
  });
  await t.time.advance(61_000);
  expect(await t.row(row.execution_id)).toMatchObject({
    state: "FAILED",
    failure: { type: "ParkTimeoutError", details: { code: "principal_unavailable" } },
  });
});

test("AUTH-36 a start while nobody can say who may do what waits in the queue, and no worker loses its stream", async () => {
  const { t, principals, run } = await guarded();
  principals.set("ada", ["*"]);
  const worker = await t.worker();
  t.failing.add("epochs.read");
  await t.time.advance(2_000);
  const { execution_id } = await run("ada");
  await settled();
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED", session: null });
  expect(worker.heard).toEqual(["welcome"]);
  t.failing.clear();
  await t.time.advance(15_000);
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("AUTH-62 executions of nobody are held while authorization is on, until somebody has them", async () => {
  const { t, principals, run } = await guarded();
  principals.set("ada", ["*"]);
  const { execution_id } = await run(null);
  const worker = await t.worker();
  await settled();
  expect(worker.heard).toEqual(["welcome"]);
  await t.engine.executions.setPrincipal({ execution_id, run_as: "ada" });
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("AUTH-36 a worker is told of rights that changed, once, and that their principal is gone", async () => {
  const { t, change, principals, run } = await guarded();
  principals.set("ada", [RUN, `${TASK}:a:execute`]);
  const worker = await t.worker();
  const { execution_id } = await run("ada");
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  const told = { execution_id, generation: 1 };
  // Nothing about this execution has changed.
  await change((p) => p.set("bob", ["*"]));
  await change((p) => p.set("ada", [RUN, `${TASK}:b:execute`]));
  expect(await worker.next("grants")).toEqual({ ...told, task_grants: ["b"] });
  await change((p) => p.set("ada", [RUN, `${TASK}:b:execute`], { enabled: false }));
  expect(await worker.next("grants")).toEqual({ ...told, task_grants: [], hold: true });
  await change((p) => p.set("ada", [RUN, `${TASK}:b:execute`]));
  expect(await worker.next("grants")).toEqual({ ...told, task_grants: ["b"] });
  expect(worker.heard).toEqual(["welcome", "assign", "grants", "grants", "grants"]);
});

test("AUTH-36 LIV-5 an execution that is released for its principal is no loss, and goes on under it later", async () => {
  const { t, change, principals, run } = await guarded();
  principals.set("ada", ["*"]);
  const worker = await t.worker();
  const { execution_id } = await run("ada");
  await worker.started(await worker.next("assign"));
  await change((p) => p.set("ada", ["*"], { enabled: false }));
  const { generation } = await worker.next("grants");
  const reason = "principal_unavailable";
  await t.engine.workers.release(worker.ref, [{ execution_id, generation, reason }]);
  await settled();
  const held = await t.row(execution_id);
  expect(held).toMatchObject({ state: "CREATED", session: null, losses: [], generation: 1 });
  await change((p) => p.set("ada", ["*"]));
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("AUTH-36 a worker that comes back is told what changed meanwhile", async () => {
  const { t, change, principals, run } = await guarded();
  principals.set("ada", [RUN, `${TASK}:a:execute`]);
  const worker = await t.worker();
  const { execution_id } = await run("ada");
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  worker.connection?.close();
  await change((p) => p.set("ada", [RUN]));
  await worker.connect([{ execution_id, generation: 1, seq: assigned.head + 1 }]);
  expect(await worker.next("grants")).toEqual({ execution_id, generation: 1, task_grants: [] });
});

test("AUTH-36 WRK-10 a worker that polls is told once of what changed", async () => {
  const { t, change, principals, run } = await guarded();
  principals.set("ada", [RUN, `${TASK}:a:execute`]);
  const worker = t.strangeWorker();
  await worker.register();
  await worker.poll();
  const { execution_id } = await run("ada");
  await worker.poll();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  const running = [{ execution_id, generation: 1, seq: assigned.head + 1 }];
  await change((p) => p.set("ada", [RUN]));
  const frames = (await worker.poll(running)).map(({ event }) => event);
  expect(frames).toEqual(["grants"]);
  const next = worker.poll(running);
  await settled();
  await t.time.advance(30_000);
  expect(await next).toEqual([]);
});

test("AUTH-36 a principal that is disabled between claim and assignment gets nothing begun", async () => {
  const { t, change, principals, run } = await guarded();
  principals.set("ada", ["*"]);
  const worker = await t.worker();
  const committed = Promise.withResolvers<void>();
  principals.afterCommit = committed.promise;
  const claimed = run("ada");
  await settled();
  await change((p) => p.set("ada", ["*"], { enabled: false }));
  committed.resolve();
  principals.afterCommit = undefined;
  const { execution_id } = await claimed;
  await settled();
  expect(worker.heard).toEqual(["welcome"]);
  expect(await t.types(execution_id)).toEqual(["WORKFLOW_CREATED", "WORKFLOW_CLAIMED"]);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED", session: null, losses: [] });
  await change((p) => p.set("ada", ["*"]));
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("AUTH-34 a resume by another principal gives the execution that one's rights", async () => {
  const { t, principals, run } = await guarded();
  principals.set("ada", [RUN, `${TASK}:a:execute`]);
  principals.set("bob", [RUN, `${TASK}:b:execute`]);
  const worker = await t.worker();
  const { execution_id } = await run("ada");
  await worker.paused(await worker.next("assign"));
  await t.engine.executions.resume({ execution_id, input: 1, by: "bob" });
  const { authz } = await worker.next("assign");
  expect(authz).toEqual({ enforced: true, task_grants: ["b"] });
  expect(await t.row(execution_id)).toMatchObject({ started_by: "ada", run_as: "bob" });
});

test("AUTH-37 a worker is told the rights of whoever takes a running execution over", async () => {
  const { t, principals, run } = await guarded();
  principals.set("ada", [RUN]);
  principals.set("bob", [RUN, `${TASK}:b:execute`]);
  const worker = await t.worker();
  const { execution_id } = await run("ada");
  await worker.started(await worker.next("assign"));
  await t.engine.executions.setPrincipal({ execution_id, run_as: "bob" });
  expect(await worker.next("grants")).toMatchObject({ execution_id, task_grants: ["b"] });
});

test("AUTH-56 rights are read once for many executions, and again only when they changed", async () => {
  const { t, change, principals, run } = await guarded();
  principals.set("ada", ["*"]);
  const worker = await t.worker();
  for (let n = 0; n < 20; n++) await run("ada");
  for (let n = 0; n < 20; n++) await worker.next("assign");
  expect(principals.reads).toBe(1);
  await change((p) => p.set("bob", ["*"]));
  await run("ada");
  await worker.next("assign");
  expect(principals.reads).toBe(2);
});

test("AUTH-43 a call needs what a run of its target needs, by the rights of the caller's principal", async () => {
  const { t, principals, run } = await guarded();
  const source = `import { workflow } from "@engine/sdk";
export const parent = workflow({ name: "parent" }, async (input) => input);
`;
  await t.engine.catalog.register({ source }, { by: null });
  principals.set("ada", ["workflow:default:parent:run"]);
  principals.set("bob", ["workflow:default:parent:run", RUN]);
  const worker = await t.worker();
  const call = { workflow: "default/hello", input: null, wait: true, detach: false };
  const refused = await run("ada", "parent");
  await worker.started(await worker.next("assign"), [
    worker.callEvent("TASK_STARTED", "call~1", call),
  ]);
  const log = await t.store.log.read(refused.execution_id);
  expect(log.at(-1)?.event).toMatchObject({
    type: "TASK_FAILED",
    value: { type: "TaskNotAuthorizedError", details: { missing_permissions: [RUN] } },
  });
  const { execution_id } = await run("bob", "parent");
  await worker.parked(await worker.next("assign"), [
    worker.callEvent("TASK_STARTED", "call~1", call),
  ]);
  const child = await t.row((await worker.next("assign")).execution_id);
  expect(child).toMatchObject({ parent_id: execution_id, started_by: "bob", run_as: "bob" });
});

test.each([
  ["was disabled", { enabled: false }, ["*"]],
  ["was banned", { banned: true }, ["*"]],
  ["has lost its rights", {}, ["workflow:default:other:run"]],
  ["was deleted", "deleted", []],
] as const)(
  "AUTH-36 a call that comes before its worker hears that the principal %s starts a child, which waits with it",
  async (_, how, grants) => {
    const { t, change, run } = await guarded();
    const source = `import { workflow } from "@engine/sdk";
export const parent = workflow({ name: "parent" }, async (input) => input);
`;
    await t.engine.catalog.register({ source }, { by: null });
    await change((p) => p.set("ada", ["*"]));
    const worker = await t.worker();
    const { execution_id } = await run("ada", "parent");
    const assigned = await worker.next("assign");
    await change((p) => {
      if (how === "deleted") p.delete("ada");
      else p.set("ada", grants, how);
    });
    const call = { workflow: "default/hello", input: null, wait: true, detach: false };
    await worker.parked(assigned, [worker.callEvent("TASK_STARTED", "call~1", call)]);
    const { waits } = await t.row(execution_id);
    expect(waits).toMatchObject([{ kind: "child", task_call_id: "call~1" }]);
    const child = waits[0]?.execution_id ?? "";
    expect(await t.row(child)).toMatchObject({ state: "CREATED", session: null, run_as: "ada" });
    await change((p) => p.set("ada", ["*"]));
    expect(await worker.next("assign")).toMatchObject({ execution_id: child });
  },
);

async function guarded(auth?: object) {
  const engine = await GuardedEngine.start(auth);
  const { t, principals } = engine;
  return {
    t,
    principals,
    change: engine.change.bind(engine),
    run: engine.run.bind(engine),
  };
}
