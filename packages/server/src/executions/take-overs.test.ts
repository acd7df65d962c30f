import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { guardedServer } from "../auth/testing/guarded-server.ts";
import type { Log } from "../log.ts";
import { silent } from "../testing/start-engine.ts";

const PAY = `import { task, workflow } from "@engine/sdk";
const charge = task({ name: "charge" }, async () => null);
export const pay = workflow({ name: "pay", namespace: "shop" }, async () => charge());
export const hello = workflow({ name: "hello", namespace: "shop" }, async (input) => input);
`;

const RUN = ["workflow:shop:*:run", "workflow:shop:*:task:*:execute"];

/** A server with accounts that have keys, and executions of some of them. */
async function shop() {
  const { server, store, ask, adminKey = "" } = await guardedServer();
  await ask("/workflows", adminKey, { source: PAY });
  let roles = 0;
  return { server, store, ask, adminKey, account, start, put };

  /** Makes a service account; answers its key. */
  async function account(subject: string, permissions: readonly string[]): Promise<string> {
    const name = `role-${++roles}`;
    await ask("/admin/roles", adminKey, { name, permissions });
    const type = "service_account";
    await ask("/admin/principals", adminKey, { subject, type, roles: [name] });
    const made = await ask(`/admin/principals/${subject}/keys`, adminKey, { name: "k" });
    return made.body.key;
  }

  async function start(key: string, workflow = "hello"): Promise<string> {
    const { body } = await ask(`/workflows/shop/${workflow}/run/async`, key, null);
    return body.execution_id;
  }

  async function put(path: string, key: string, body: object) {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(server.url + path, {
      method: "PUT",
      headers,
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: an answer of any route
    const answer: any = await response.json();
    return { status: response.status, body: answer };
  }
}

const ref = (subject: string) => ({ subject, issuer: "engine", type: "service_account" });

test("AUTH-34 records say who started an execution and whose rights it has, also of who is gone", async () => {
  const { ask, adminKey, account, start } = await shop();
  const id = await start(await account("ada", RUN));
  const named = { started_by: ref("ada"), run_as: ref("ada") };
  expect((await ask(`/executions/${id}`, adminKey)).body).toMatchObject(named);
  expect((await ask("/executions", adminKey)).body).toMatchObject({
    items: [named],
    auth_filtered: false,
  });
  expect((await ask(`/inspect/${id}`, adminKey)).body).toMatchObject(named);
});

test("AUTH-37 whoever may run it and be the other gives an execution that one's rights", async () => {
  const { ask, adminKey, account, start, put } = await shop();
  const ada = await account("ada", RUN);
  await account("bot", RUN);
  await account("poor", ["workflow:shop:hello:run"]);
  const boss = await account("boss", [...RUN, "principal:bot:impersonate"]);
  const id = await start(ada, "pay");
  const path = `/executions/${id}/principal`;

  const refused = await put(path, ada, { subject: "bot" });
  expect([refused.status, refused.body.error.details]).toEqual([
    403,
    { missing_permissions: ["principal:bot:impersonate"] },
  ]);
  // Without the grant nobody learns whether there is such an account.
  const unknown = await put(path, ada, { subject: "none" });
  expect([unknown.status, unknown.body.error.code]).toEqual([403, "permission_denied"]);
  for (const [subject, status, code] of [
    ["none", 400, "principal_not_found"],
    ["poor", 403, "principal_not_permitted"],
  ] as const) {
    const { status: said, body } = await put(path, adminKey, { subject });
    expect([subject, said, body.error.code]).toEqual([subject, status, code]);
  }
  const taken = await put(path, boss, { subject: "bot" });
  expect(taken).toMatchObject({
    status: 200,
    body: { started_by: ref("ada"), run_as: ref("bot") },
  });
  // To take it oneself takes no more than the right to run it.
  expect(await put(path, ada, { subject: "ada" })).toMatchObject({
    status: 200,
    body: { run_as: ref("ada") },
  });
  await ask(`/workflows/shop/pay/cancel/${id}`, adminKey, {});
  expect(await put(path, boss, { subject: "bot" })).toMatchObject({
    status: 409,
    body: { error: { code: "conflict" } },
  });
  const audit = await ask("/admin/audit?action=executions.setPrincipal&decision=allow", adminKey);
  expect(audit.body.items.slice(-2)).toMatchObject([
    { actor: { subject: "ada" }, target: id, permissions: [] },
    { actor: { subject: "boss" }, target: id, permissions: ["principal:bot:impersonate"] },
  ]);
});

test("AUTH-37 executions are taken over by the many, oldest first, as far as both may run them", async () => {
  const { ask, adminKey, account, start } = await shop();
  const ada = await account("ada", RUN);
  await account("bot", ["workflow:shop:hello:run"]);
  const boss = await account("boss", [...RUN, "principal:bot:impersonate"]);
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push(await start(ada));
  await start(ada, "pay");
  const take = (key: string, body: object) =>
    ask("/executions/take-over", key, { subject: "bot", from: "ada", ...body });
  const refused = [
    {
      workflow: "shop/pay",
      missing_permissions: ["workflow:shop:pay:run", "workflow:shop:pay:task:charge:execute"],
    },
  ];
  expect((await take(ada, {})).status).toBe(403);
  expect((await take(boss, { limit: 2 })).body).toEqual({ taken: 2, remaining: 1, refused });
  const runAs = async () =>
    Promise.all(
      ids.map(async (id) => (await ask(`/executions/${id}`, adminKey)).body.run_as.subject),
    );
  expect(await runAs()).toEqual(["bot", "bot", "ada"]);
  expect((await take(boss, { workflow: "hello" })).body).toEqual({
    ...{ taken: 1, remaining: 0, refused: [] },
  });
  expect(await runAs()).toEqual(["bot", "bot", "bot"]);
  expect((await take(boss, {})).body).toEqual({ taken: 0, remaining: 0, refused });
  // Nobody's are those that are meant without `from`.
  expect((await ask("/executions/take-over", boss, { subject: "bot" })).body).toEqual({
    ...{ taken: 0, remaining: 0, refused: [] },
  });
  for (const limit of [0, 10_001, 1.5, "1"]) {
    expect((await take(boss, { limit })).status).toBe(422);
  }
});

test("AUTH-37 what the caller may not run is passed over", async () => {
  const { ask, account, start } = await shop();
  const ada = await account("ada", RUN);
  await account("bot", RUN);
  const some = await account("some", ["workflow:shop:hello:run", "principal:bot:impersonate"]);
  await start(ada);
  await start(ada, "pay");
  const answer = await ask("/executions/take-over", some, { subject: "bot", from: "ada" });
  expect(answer.body).toEqual({ taken: 1, remaining: 0, refused: [] });
});

test("AUTH-33 a list that shows only what its caller may read says so, found something or not", async () => {
  const { ask, adminKey, account } = await shop();
  const some = await account("some", [
    "execution:*:read",
    "workflow:other:*:read",
    "schedule:a:read",
    "worker:w:read",
  ]);
  for (const path of ["/executions", "/workflows", "/namespaces", "/schedules", "/workers"]) {
    expect([path, (await ask(path, some)).body]).toMatchObject([
      path,
      { items: [], total: 0, auth_filtered: true },
    ]);
    expect([path, (await ask(path, adminKey)).body.auth_filtered]).toEqual([path, false]);
  }
});

test("AUTH-62 turned on over executions of nobody, a start says how many, and they go on once taken over", async () => {
  const store = await openSqliteStore({
    path: ":memory:",
    synchronous: "normal",
    clock: Date.now,
  });
  onTestFinished(() => store.close());
  const open = await guardedServer({ store, auth: {} });
  await open.ask("/workflows", undefined, { source: PAY });
  for (let n = 0; n < 3; n++) await open.ask("/workflows/shop/hello/run/async", undefined, null);
  await open.server.close();

  const warnings: unknown[] = [];
  const warn: Log["warn"] = (...said: unknown[]) => void warnings.push(said);
  const { ask, adminKey } = await guardedServer({ store, log: { ...silent, warn } });
  expect(warnings).toContainEqual([
    { executions: 3 },
    expect.stringContaining("engine execution take-over --all --run-as <subject>"),
  ]);
  const taken = await ask("/executions/take-over", adminKey, { subject: "admin" });
  expect(taken.body).toEqual({ taken: 3, remaining: 0, refused: [] });
  expect((await ask("/executions", adminKey)).body.items).toMatchObject(
    Array.from({ length: 3 }, () => ({ started_by: null, run_as: ref("admin") })),
  );
});

test("EXE-84 AUTH-62 two callers never share an idempotency key, and nobody has that of nobody", async () => {
  const { server, account } = await shop();
  const [ada, bob] = [await account("ada", RUN), await account("bob", RUN)];
  const start = async (key: string) => {
    const headers = { authorization: `Bearer ${key}`, "idempotency-key": "once" };
    const url = `${server.url}/workflows/shop/hello/run/async`;
    return (
      (await (await fetch(url, { method: "POST", headers })).json()) as { execution_id: string }
    ).execution_id;
  };
  const { row } = await server.engine.executions.start({
    ...{ namespace: "shop", workflow: "hello", input: null, trigger: { kind: "api" } },
    ...{ by: null, idempotency_key: "once" },
  });
  const ids = [row.execution_id, await start(ada), await start(bob)];
  expect(new Set(ids).size).toBe(3);
  expect(await start(ada)).toBe(ids[1]);
});
