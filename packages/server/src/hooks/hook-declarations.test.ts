import type { HookRecord, SourceIssue } from "@engine/contract";
import { interposed, type Store } from "@engine/store";
import { expect, test, vi } from "vitest";
import {
  type HookedServer,
  hookedServer,
  REFUSED,
  refusalOf,
} from "../handlers/testing/hooked-server.ts";
import { settled } from "../testing/manual-time.ts";
import { TwoServers } from "../testing/two-servers.ts";

vi.setConfig({ testTimeout: 60_000 });

const base = `workflow: "pay", principal: "bot"`;
const PAGE = `{ on: "created", ${base}, name: "on-created" }`;
const OWNER = { owner_type: "workflow", owner_ref: "billing/charge" };
const asBot = "principal:bot:impersonate";

/** A file whose workflow `billing/charge` declares these hooks. */
function file(hooks: string, { body = "1", more = "" } = {}): { source: string } {
  return {
    source: `import { workflow } from "@engine/sdk";
export const charge = workflow(
  { name: "charge", namespace: "billing", hooks: [${hooks}] },
  async () => ${body},
);
${more}`,
  };
}

/** One more workflow of the file. */
const also = (name: string, hooks: string, body = "1") =>
  `export const ${name} = workflow({ name: "${name}", namespace: "billing", hooks: [${hooks}] }, async () => ${body});\n`;

const register = (t: HookedServer, source: { source: string }, query = "", ask = t.admin) =>
  ask("POST", `/workflows${query}`, source);

async function declared(t: HookedServer): Promise<readonly HookRecord[]> {
  return (await t.admin("GET", "/hooks?owner_type=workflow")).body.items;
}

async function get(t: HookedServer, name = "on-created"): Promise<HookRecord> {
  const { status: _, ...record } = (await t.admin("GET", `/hooks/${name}`)).body;
  return record;
}

const run = (t: HookedServer) => t.admin("POST", "/workflows/billing/charge/run/async", 1);

test("HOOK-47 HOOK-49 registering a workflow makes the hooks that it declares, enabled", async () => {
  const t = await hookedServer();
  const { status, body } = await register(t, file(`${PAGE}, { on: ["failed", "a:*"], ${base} }`));
  expect(status).toBe(201);
  const made = await declared(t);
  expect(made).toEqual([
    expect.objectContaining({
      ...{ name: "on-created", enabled: true, selectors: ["execution:billing:charge:created"] },
      ...{ workflow: "default/pay", principal: "bot", max_attempts: 5, ...OWNER },
      ...{ created_by: "admin", updated_by: "admin" },
    }),
    expect.objectContaining({
      name: expect.stringMatching(/^wf-billing-charge-[0-9a-f]{12}$/),
      selectors: ["execution:billing:charge:failed", "task:billing:charge:a:*"],
    }),
  ]);
  expect(body.items[0].hooks).toEqual(
    made.map(({ name, selectors, workflow, principal, max_attempts }) => {
      return { name, selectors, workflow, principal, max_attempts };
    }),
  );
});

test("HOOK-49 an equal declaration leaves the hook untouched, with another body as well", async () => {
  let now = Date.parse("2026-01-05T12:00:00.000Z");
  const t = await hookedServer({ clock: () => now });
  await register(t, file(PAGE));
  await t.admin("PUT", "/hooks/on-created", { enabled: false });
  const before = await get(t);
  now += 60_000;
  for (const body of ["1", "2"]) await register(t, file(PAGE, { body }));
  expect(await get(t)).toEqual(before);
  expect((await t.admin("GET", "/workflows/billing/charge")).body.version).toBe(2);
});

test("HOOK-49 a different one is updated in place, with its id, its deliveries and an operator's word", async () => {
  const t = await hookedServer();
  await register(t, file(PAGE));
  await run(t);
  await t.admin("PUT", "/hooks/on-created", { enabled: false });
  const before = await get(t);
  await register(
    t,
    file(
      `{ on: ["failed", "created"], workflow: "plain", principal: "bot", name: "on-created", maxAttempts: 9 }`,
    ),
  );
  expect(await get(t)).toMatchObject({
    ...{ id: before.id, enabled: false, workflow: "default/plain", max_attempts: 9 },
    selectors: ["execution:billing:charge:failed", "execution:billing:charge:created"],
  });
  expect((await t.admin("GET", "/hooks/on-created/deliveries")).body.total).toBe(1);
});

test("HOOK-49 one that is gone is deleted, and hooks of others are never touched", async () => {
  const t = await hookedServer();
  await register(
    t,
    file(PAGE, { more: also("refund", `{ on: "failed", ${base}, name: "theirs" }`) }),
  );
  await t.create(t.admin, { name: "mine", selectors: ["execution:billing:charge:created"] });
  await register(t, file(""));
  const { items } = (await t.admin("GET", "/hooks")).body;
  expect(items.map(({ name }: HookRecord) => name)).toEqual(["mine", "page", "theirs"]);
});

test("HOOK-49 without a name the order of selectors and hooks makes no other hook, and equal ones are one", async () => {
  const t = await hookedServer();
  const hook = (on: string) => `{ on: ${on}, ${base} }`;
  await register(t, file(`${hook(`["failed", "paused"]`)}, ${hook(`"created"`)}`));
  const before = await declared(t);
  const again = `${hook(`"created"`)}, ${hook(`["paused", "failed", "paused"]`)}, ${hook(`"created"`)}`;
  await register(t, file(again));
  expect(await declared(t)).toEqual(before);
  expect(before).toHaveLength(2);
});

test("HOOK-49 two different hooks of one name are refused, and nothing is saved", async () => {
  const t = await hookedServer();
  const answer = await register(t, file(`${PAGE}, { on: "failed", ${base}, name: "on-created" }`));
  expect(refusalOf(answer)).toMatchObject({ status: 422, code: "invalid_input" });
  expect(answer.body.error.details.issues).toMatchObject([{ path: "workflows[0].hooks[1].name" }]);
  expect(await declared(t)).toEqual([]);
  expect((await t.admin("GET", "/workflows/billing/charge")).status).toBe(404);
});

test("HOOK-49 a name that follows for one hook is given to another one: refused, too", async () => {
  const t = await hookedServer();
  await register(t, file(`{ on: "failed", ${base} }`));
  const [{ name } = expect.unreachable()] = await declared(t);
  const answer = await register(
    t,
    file(`{ on: "failed", ${base} }, { on: "paused", ${base}, name: "${name}" }`),
  );
  expect(refusalOf(answer)).toMatchObject({ status: 422, code: "invalid_input" });
  expect(await declared(t)).toMatchObject([
    { name, selectors: ["execution:billing:charge:failed"] },
  ]);
});

test("HOOK-38 HOOK-49 a name that somebody else has refuses the whole registration, a dry run too", async () => {
  const t = await hookedServer();
  const taken = file(`{ on: "failed", ${base}, name: "page" }`);
  for (const query of ["?dry_run=true", ""]) {
    const answer = await register(t, taken, query);
    expect(refusalOf(answer)).toEqual({
      ...{ status: 409, code: "hook_exists", details: { owner_type: "user", owner_ref: null } },
    });
    expect(answer.body.error.message).toMatch(/hook page exists/);
  }
  expect((await t.admin("GET", "/workflows/billing/charge")).status).toBe(404);
  await register(t, file(PAGE));
  const other = { source: `import { workflow } from "@engine/sdk";\n${also("refund", PAGE)}` };
  expect(refusalOf(await register(t, other))).toMatchObject({
    code: "hook_exists",
    details: OWNER,
  });
});

test("HOOK-49 EXE-66 a dry run saves no hook", async () => {
  const t = await hookedServer();
  const { status, body } = await register(t, file(PAGE), "?dry_run=true");
  expect([status, body.items[0].hooks.length]).toEqual([200, 1]);
  expect(await declared(t)).toEqual([]);
});

test("HOOK-9 HOOK-48 a selector that can never fire is an issue at its place", async () => {
  const t = await hookedServer();
  const answer = await register(t, file(`{ on: ["failed", "started"], ${base} }`));
  expect(answer.status).toBe(422);
  const [issue]: SourceIssue[] = answer.body.error.details.issues;
  expect(issue).toMatchObject({
    ...{ workflow: "billing/charge", path: "workflows[0].hooks[0].on[1]", line: 3 },
    ...{ rule: "invalid_selector", expression: `"started"` },
    message: expect.stringMatching(/"started" can never fire: did you mean running\?/),
  });
});

test("HOOK-12 HOOK-49 an event right behind the answer is matched with what was registered", async () => {
  const t = await hookedServer();
  await register(t, file(PAGE));
  await run(t);
  const { items } = (await t.admin("GET", "/hooks/on-created/deliveries")).body;
  expect(items).toMatchObject([
    { selector: "execution:billing:charge:created", source_workflow: "billing/charge" },
  ]);
  await register(t, file(""));
  await run(t);
  await register(t, file(PAGE));
  expect((await t.admin("GET", "/hooks/on-created/deliveries")).body.total).toBe(0);
});

test("HOOK-12 HOOK-49 the other servers are told of a registration that changes hooks, and of no other", async () => {
  await using t = await TwoServers.start();
  let told = 0;
  t.b.engine.epochs.onChange("hooks", () => void told++);
  const source = (more: string) => ({
    source: `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello"${more} }, async (input) => input);
`,
  });
  await t.a.engine.catalog.register(source(""), { by: null });
  await settled();
  expect(told).toBe(0);
  const hooks = `, hooks: [{ on: "created", workflow: "hello", principal: "bot" }]`;
  await t.a.engine.catalog.register(source(hooks), { by: null });
  await settled();
  expect(told).toBeGreaterThan(0);
});

// Who may do it (HOOK-50).

const deployer = (t: HookedServer, ...more: readonly string[]) =>
  t.may("deployer", ["workflow:billing:*:register", ...more]);

test("HOOK-50 a hook that is made needs the right to make hooks, then that to be the account", async () => {
  const t = await hookedServer();
  const ask = await deployer(t);
  const lacking = async (...grants: readonly string[]) => {
    await t.admin("PUT", "/admin/roles/deployer", {
      permissions: ["workflow:billing:*:register", ...grants],
    });
    const { status, body } = await register(t, file(PAGE), "?dry_run=true", ask);
    return status === 200 ? [] : [status, ...body.error.details.missing_permissions];
  };
  expect(await lacking()).toEqual([403, "hook:*:create"]);
  expect(await lacking(asBot)).toEqual([403, "hook:*:create"]);
  expect(await lacking("hook:*:create")).toEqual([403, asBot]);
  expect(await lacking("hook:*:create", asBot)).toEqual([]);
});

test.each([
  ["selectors", `{ on: "failed", ${base}, name: "on-created" }`],
  ["workflow", `{ on: "created", workflow: "plain", principal: "bot", name: "on-created" }`],
  ["principal", `{ on: "created", workflow: "plain", principal: "half", name: "on-created" }`],
])("HOOK-50 so does one of which the %s changed", async (field, hook) => {
  const t = await hookedServer();
  await register(t, file(PAGE));
  const before = await get(t);
  const answer = await register(t, file(hook), "", await deployer(t, "hook:*:create"));
  const account = field === "principal" ? "half" : "bot";
  expect(refusalOf(answer)).toEqual({
    ...{ status: 403, code: "permission_denied" },
    details: { missing_permissions: [`principal:${account}:impersonate`] },
  });
  expect(await get(t)).toEqual(before);
});

test("HOOK-50 hooks that are equal, gone or only tried more often need nothing more", async () => {
  const t = await hookedServer();
  await register(t, file(`${PAGE}, { on: "failed", ${base} }`));
  const ask = await deployer(t);
  expect((await register(t, file(PAGE, { body: "2" }), "", ask)).status).toBe(201);
  const often = PAGE.replace("}", ", maxAttempts: 9 }");
  expect((await register(t, file(often), "", ask)).status).toBe(201);
  expect(await declared(t)).toMatchObject([
    { name: "on-created", max_attempts: 9, updated_by: "deployer" },
  ]);
  expect((await register(t, file(""), "", ask)).status).toBe(201);
  expect(await declared(t)).toEqual([]);
});

test.each(Object.entries(REFUSED))(
  "HOOK-42 HOOK-50 an account that is %s is told to those only who may be it",
  async (kind, refused) => {
    const t = await hookedServer();
    const hooks = `{ on: "failed", workflow: "pay", principal: "${kind}", name: "h" }`;
    const ask = await deployer(t, "hook:*:create");
    expect(refusalOf(await register(t, file(hooks), "", ask))).toEqual({
      ...{ status: 403, code: "permission_denied" },
      details: { missing_permissions: [`principal:${kind}:impersonate`] },
    });
    const answer = await register(t, file(hooks));
    expect(refusalOf(answer)).toEqual(refused);
    expect(answer.body.error.message).toMatch(/^hook h: /);
    expect((await t.admin("GET", "/workflows/billing/charge")).status).toBe(404);
  },
);

test("HOOK-42 HOOK-50 a target has to be registered, or be in the same upload", async () => {
  const t = await hookedServer();
  const hooks = `{ on: "failed", workflow: "billing/refund", principal: "bot" }`;
  expect(refusalOf(await register(t, file(hooks)))).toEqual({
    ...{ status: 404, code: "target_not_found", details: { workflow: "billing/refund" } },
  });
  expect((await register(t, file(hooks, { more: also("refund", "") }))).status).toBe(201);
  expect(await declared(t)).toMatchObject([{ workflow: "billing/refund" }]);
});

test("HOOK-50 AUTH-31 of a target in the same upload the account needs all that the new version takes", async () => {
  const t = await hookedServer();
  const hooks = `{ on: "failed", workflow: "billing/refund", principal: "refunder" }`;
  await t.may("refunder", ["workflow:billing:refund:run"]);
  const more = `import { task } from "@engine/sdk";
const back = task({ name: "back" }, async () => 1);
${also("deep", "", "back()")}${also("refund", "", `call("billing/deep")`)}`.replace(
    "{ task }",
    "{ call, task }",
  );
  expect(refusalOf(await register(t, file(hooks, { more })))).toEqual({
    ...{ status: 403, code: "principal_not_permitted" },
    details: {
      principal: "refunder",
      missing_permissions: ["workflow:billing:deep:run", "workflow:billing:deep:task:back:execute"],
    },
  });
});

test("HOOK-46 HOOK-50 with authorization off only the target is looked for", async () => {
  const t = await hookedServer({ auth: { enabled: false } });
  const hooks = (workflow: string) =>
    `{ on: "failed", workflow: "${workflow}", principal: "none" }`;
  expect(refusalOf(await register(t, file(hooks("nothing"))))).toMatchObject({
    ...{ status: 404, code: "target_not_found" },
  });
  expect((await register(t, file(hooks("pay")))).status).toBe(201);
  expect(await declared(t)).toMatchObject([{ principal: "none", created_by: null }]);
});

test("HOOK-37 HOOK-50 a hook that was equal when it was looked at, and is not when it is written, is approved anew", async () => {
  let between: (() => Promise<unknown>) | undefined;
  const t = await hookedServer({
    wrap: (store: Store) =>
      interposed(store, ({ name }, call) => {
        if (!call) return undefined;
        return async (...args) => {
          if (name === "catalog.register") await between?.();
          return call(...args);
        };
      }),
  });
  await register(t, file(PAGE));
  const ask = await deployer(t);
  between = async () => {
    between = undefined;
    await register(t, file(PAGE.replace("pay", "plain")));
  };
  const answer = await register(t, file(PAGE, { body: "2" }), "", ask);
  expect(refusalOf(answer)).toMatchObject({ status: 403, code: "permission_denied" });
  expect(await get(t)).toMatchObject({ workflow: "default/plain" });
  expect((await t.admin("GET", "/workflows/billing/charge")).body.version).toBe(2);
});

test("HOOK-50 of a declared hook the routes change whether it is enabled, test it, and retry its deliveries", async () => {
  const t = await hookedServer();
  await register(t, file(PAGE));
  await run(t);
  const hook = await t.store.hooks.find("on-created");
  const [{ id } = expect.unreachable()] = (await t.admin("GET", "/hooks/on-created/deliveries"))
    .body.items;
  const guard = { delivery_id: id, attempts: 0, hook_id: hook?.id ?? "", revision: 1 };
  const dead = { attempts: 1, error: "no", next_attempt_at: null } as const;
  await t.store.deliveries.fail(guard, { ...dead, dead_reason: "input_rejected" });
  const { trusted } = t;
  expect((await trusted("POST", `/hooks/on-created/deliveries/${id}/retry`)).status).toBe(200);
  expect((await trusted("POST", "/hooks/on-created/test")).status).toBe(202);
  const { principal, workflow, selectors, max_attempts } = await get(t);
  const same = { principal, workflow, selectors, max_attempts };
  for (const enabled of [false, true]) {
    const { status, body } = await trusted("PUT", "/hooks/on-created", { ...same, enabled });
    expect([status, body.enabled]).toEqual([200, enabled]);
  }
  const refused = { status: 409, code: "hook_is_declared", details: OWNER };
  const changes = [{ max_attempts: 6 }, { workflow: "plain" }, { selectors: ["task:*"] }];
  for (const change of changes) {
    expect(refusalOf(await trusted("PUT", "/hooks/on-created", change))).toEqual(refused);
  }
  const gone = await trusted("DELETE", "/hooks/on-created");
  expect(refusalOf(gone)).toEqual(refused);
  expect(gone.body.error.message).toMatch(/declared by workflow billing\/charge/);
});

test("HOOK-51 the newest registered version decides, and deleting it changes nothing", async () => {
  const t = await hookedServer();
  await register(t, file(PAGE));
  await register(t, file(`{ on: "failed", ${base}, name: "on-failed" }`));
  const before = await declared(t);
  expect(before.map(({ name }) => name)).toEqual(["on-failed"]);
  await t.admin("DELETE", "/workflows/billing/charge?version=2");
  expect(await declared(t)).toEqual(before);
  // What is registered again decides again, though it makes no version.
  expect((await register(t, file(PAGE))).status).toBe(200);
  expect((await declared(t)).map(({ name }) => name)).toEqual(["on-created"]);
});

test("HOOK-51 an execution of an older version fires the hooks of the newest", async () => {
  const t = await hookedServer();
  await register(t, file(""));
  await register(t, file(PAGE));
  await t.admin("POST", "/workflows/billing/charge/run/async?version=1", 1);
  expect((await t.admin("GET", "/hooks/on-created/deliveries")).body.total).toBe(1);
});

test.each(["?version=1", ""])(
  "HOOK-51 with the last version of a workflow, deleted by %j, its hooks are gone, and no others",
  async (query) => {
    const t = await hookedServer();
    await register(
      t,
      file(PAGE, { more: also("refund", `{ on: "failed", ${base}, name: "theirs" }`) }),
    );
    await run(t);
    expect((await t.admin("DELETE", `/workflows/billing/charge${query}`)).status).toBe(204);
    expect((await declared(t)).map(({ name }) => name)).toEqual(["theirs"]);
    await register(t, file(PAGE));
    expect((await t.admin("GET", "/hooks/on-created/deliveries")).body.total).toBe(0);
  },
);

test("AUD-2 HOOK-50 what a registration does to hooks is in the audit log, with the use of an account", async () => {
  const t = await hookedServer();
  await register(t, file(PAGE));
  await register(t, file(PAGE.replace("}", ", maxAttempts: 9 }")));
  await register(t, file(""));
  const { items } = (await t.admin("GET", "/admin/audit?target=on-created")).body;
  type Entry = { action: string; actor: object; permissions: string[]; changes: object };
  expect(items.map(({ action, permissions }: Entry) => [action, ...permissions])).toEqual([
    ["catalog.register"],
    ["catalog.register"],
    ["catalog.register", asBot],
  ]);
  expect(items[1].changes).toEqual({ max_attempts: { before: 5, after: 9 } });
});
