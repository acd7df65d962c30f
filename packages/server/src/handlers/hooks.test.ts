import { expect, test, vi } from "vitest";
import { hookedServer, RUN, refusalOf } from "./testing/hooked-server.ts";

vi.setConfig({ testTimeout: 60_000 });

const NOON = Date.parse("2026-01-05T12:00:00.000Z");
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("HOOK-1 HOOK-36 a hook is made with what was left out, and answered as it is kept", async () => {
  const { trusted, create } = await hookedServer({ clock: () => NOON });
  const selectors = ["execution:b:*:failed", "task:*", "execution:b:*:failed"];
  const { status, body } = await create(trusted, { name: "other", selectors });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(UUID),
    name: "other",
    enabled: true,
    selectors: ["execution:b:*:failed", "task:*"],
    workflow: "default/pay",
    principal: "bot",
    max_attempts: 5,
    owner_type: "user",
    owner_ref: null,
    created_at: "2026-01-05T12:00:00.000Z",
    created_by: "trusted",
    updated_at: "2026-01-05T12:00:00.000Z",
    updated_by: "trusted",
  });
  const { status: kept, ...record } = (await trusted("GET", "/hooks/other")).body;
  expect(record).toEqual(body);
  expect(kept).toEqual({
    ...{ pending: 0, dead: 0, last_delivered_at: null, problems: ["hooks_disabled"] },
  });
  const { body: list } = await trusted("GET", "/hooks");
  expect(list).toMatchObject({ total: 2, limit: 200, offset: 0 });
  expect(list.items.map(({ name }: { name: string }) => name)).toEqual(["other", "page"]);
});

test("HOOK-36 a list may leave out what is disabled, what others declare, and what came before", async () => {
  const { trusted, create, store } = await hookedServer();
  await create(trusted, { name: "asleep", enabled: false });
  const hook = { enabled: true, selectors: ["task:*"], workflow: "default/pay", principal: "bot" };
  const owner = { owner_type: "workflow", owner_ref: "billing/charge" } as const;
  const rest = { max_attempts: 5, created_by: null };
  await store.hooks.create({ id: "h", name: "declared", ...hook, ...rest, ...owner });
  const listed = async (query: string) =>
    (await trusted("GET", `/hooks?${query}`)).body.items.map(({ name }: { name: string }) => name);
  expect(await listed("enabled_only=true")).toEqual(["declared", "page"]);
  expect(await listed("enabled_only=false")).toEqual(["asleep", "declared", "page"]);
  expect(await listed("owner_type=user")).toEqual(["asleep", "page"]);
  expect(await listed("owner_ref=billing/charge")).toEqual(["declared"]);
  expect(await listed("limit=1&offset=1")).toEqual(["declared"]);
});

test("HOOK-37 a change touches what it names, and moves its instant where a value changed", async () => {
  let now = NOON;
  const { trusted, admin, page } = await hookedServer({ clock: () => now });
  const before = await page();
  now += 60_000;
  for (const same of [{}, { workflow: "pay", max_attempts: 5 }]) {
    expect((await trusted("PUT", "/hooks/page", same)).body).toEqual(before);
  }
  const { status, body } = await trusted("PUT", "/hooks/page", { selectors: ["task:*"] });
  expect([status, body]).toEqual([
    200,
    {
      ...before,
      selectors: ["task:*"],
      updated_at: "2026-01-05T12:01:00.000Z",
      updated_by: "trusted",
    },
  ]);
  const unknown = await admin("PUT", "/hooks/page", { name: "other" });
  expect(refusalOf(unknown)).toMatchObject({ status: 422, code: "invalid_input" });
  const none = await admin("PUT", "/hooks/page", { max_attempts: null });
  expect(refusalOf(none)).toMatchObject({ status: 422, code: "invalid_input" });
});

test("HOOK-4 HOOK-36 a hook is deleted with its deliveries, and the answer tells how many waited", async () => {
  const t = await hookedServer();
  await t.rewrite({ selectors: ["execution:default:pay:created"] });
  for (let n = 0; n < 3; n++) await t.fire();
  await t.die();
  const { status, headers } = await t.trusted("DELETE", "/hooks/page");
  expect([status, headers.get("x-engine-pending-dropped")]).toEqual([204, "2"]);
  for (const path of ["/hooks/page", "/hooks/page/deliveries"]) {
    expect(refusalOf(await t.admin("GET", path))).toEqual({
      ...{ status: 404, code: "not_found", details: { resource: "hook" } },
    });
  }
  expect((await t.trusted("DELETE", "/hooks/page")).status).toBe(404);
  expect((await t.create(t.trusted)).status).toBe(201);
  expect((await t.admin("GET", "/hooks/page/deliveries")).body.total).toBe(0);
});

test("HOOK-38 a name that is taken is told with whose it is", async () => {
  const { trusted, create, store } = await hookedServer();
  const hook = { enabled: true, selectors: ["task:*"], workflow: "default/pay", principal: "bot" };
  const owner = { owner_type: "agent", owner_ref: "helper" } as const;
  const rest = { max_attempts: 5, created_by: null };
  await store.hooks.create({ id: "h", name: "declared", ...hook, ...rest, ...owner });
  expect(refusalOf(await create(trusted, { name: "declared" }))).toEqual({
    ...{ status: 409, code: "hook_exists", details: owner },
  });
  expect(refusalOf(await create(trusted))).toEqual({
    ...{ status: 409, code: "hook_exists", details: { owner_type: "user", owner_ref: null } },
  });
});

test("HOOK-50 of a hook that is declared somewhere only whether it is enabled changes here", async () => {
  const { trusted, store } = await hookedServer();
  const hook = { enabled: true, selectors: ["task:*"], workflow: "default/pay", principal: "bot" };
  const owner = { owner_type: "workflow", owner_ref: "billing/charge" } as const;
  const rest = { max_attempts: 5, created_by: null };
  await store.hooks.create({ id: "h", name: "declared", ...hook, ...rest, ...owner });
  const put = (body: object) => trusted("PUT", "/hooks/declared", body);
  const refused = { status: 409, code: "hook_is_declared", details: owner };
  for (const change of [
    { selectors: ["execution:*"] },
    { workflow: "plain" },
    { principal: "off" },
    { max_attempts: 9 },
    { max_attempts: 9, enabled: false },
  ]) {
    expect(refusalOf(await put(change))).toEqual(refused);
  }
  expect(refusalOf(await trusted("DELETE", "/hooks/declared"))).toEqual(refused);
  expect((await put({ enabled: false, workflow: "pay" })).body).toMatchObject({ enabled: false });
  expect((await put({ enabled: true })).body).toMatchObject({ enabled: true });
  expect((await trusted("POST", "/hooks/declared/test")).status).toBe(202);
});

test("HOOK-9 a selector that can never fire is told with what would be right", async () => {
  const { trusted, create } = await hookedServer();
  const answer = await create(trusted, { selectors: ["task:*", "execution:a:b:started"] });
  const { error } = answer.body;
  expect([answer.status, error.message]).toEqual([
    400,
    'selector "execution:a:b:started" can never fire',
  ]);
  expect(error).toMatchObject({
    code: "invalid_selector",
    details: {
      ...{ selector: "execution:a:b:started", index: 1, reason: "unknown_state" },
      hint: expect.stringMatching(/did you mean running\?/),
      allowed: expect.arrayContaining(["running", "failed"]),
    },
  });
});

test("HOOK-2 a hook tells everything that would stop its next delivery", async () => {
  const t = await hookedServer({ config: { hooks: { enabled: false } } });
  const problems = async () => (await t.admin("GET", "/hooks/page")).body.status.problems;
  expect(await problems()).toEqual(["hooks_disabled"]);
  await t.rewrite({ enabled: false });
  expect(await problems()).toEqual(["hooks_disabled", "hook_disabled"]);
  for (const [principal, code] of [
    ["gone", "principal_not_found"],
    ["user", "principal_not_service_account"],
    ["banned", "principal_banned"],
    ["off", "principal_disabled"],
    ["poor", "principal_not_permitted"],
    ["half", "principal_not_permitted"],
  ] as const) {
    await t.rewrite({ principal, workflow: "default/pay" });
    expect(await problems()).toEqual(["hooks_disabled", "hook_disabled", code]);
  }
  await t.rewrite({ principal: "off", workflow: "default/nothing" });
  const both = ["target_not_found", "principal_disabled"];
  expect(await problems()).toEqual(["hooks_disabled", "hook_disabled", ...both]);
});

test("HOOK-2 a hook whose next delivery would start has no problems", async () => {
  const { admin } = await hookedServer({ config: { hooks: { enabled: true } } });
  const { status } = (await admin("GET", "/hooks/page")).body;
  expect(status).toEqual({ pending: 0, dead: 0, last_delivered_at: null, problems: [] });
});

test("HOOK-37 HOOK-35 a test starts the target as the account, enabled or not, and keeps no delivery", async () => {
  const t = await hookedServer({ clock: () => NOON });
  await t.rewrite({ enabled: false, selectors: ["execution:billing:*:failed", "task:*"] });
  const { status, body } = await t.trusted("POST", "/hooks/page/test");
  expect(status).toBe(202);
  const id = `hook-test-${body.execution_id.replaceAll("-", "")}`;
  expect(body).toEqual({
    hook: "page",
    execution_id: expect.stringMatching(UUID),
    envelope: {
      ...{ hook: "page", selector: "execution:billing:*:failed", delivery_id: id },
      ...{ event_key: `${id}:1`, attempt: 1, hop: 0 },
      event: {
        ...{ domain: "execution", type: "failed", execution_id: id, state: "failed" },
        ...{ workflow_namespace: "billing", workflow_name: "test_workflow" },
        ...{ task_name: null, task_call_id: null, value: { synthetic: true, hook: "page" } },
        occurred_at: "2026-01-05T12:00:00.000Z",
      },
    },
  });
  const bot = { subject: "bot", issuer: "engine", type: "service_account" };
  const started = (await t.admin("GET", `/executions/${body.execution_id}?detailed=true`)).body;
  expect(started).toMatchObject({
    ...{ namespace: "default", workflow: "pay", version: 1, input: body.envelope },
    ...{ started_by: bot, run_as: bot, hook: { name: "page", delivery_id: id, hop: 0 } },
  });
  expect(started.events[0].value.trigger).toEqual({ kind: "hook", id: "page" });
  expect((await t.admin("GET", "/hooks/page/deliveries")).body.total).toBe(0);
  // Asked for briefly, or of one that no hook is behind.
  expect((await t.admin("GET", `/executions/${body.execution_id}`)).body).not.toHaveProperty(
    "hook",
  );
  const run = (await t.admin("POST", "/workflows/default/pay/run/async", 1)).body;
  const own = (await t.admin("GET", `/executions/${run.execution_id}?detailed=true`)).body;
  expect(own.hook).toBeNull();
});

test("HOOK-37 a test may name another of the hook's selectors, and bring the event's value", async () => {
  const t = await hookedServer();
  await t.rewrite({ selectors: ["execution:*", "task:a:b:c:failed"] });
  const body = { selector: "task:a:b:c:failed", value: { n: 1 } };
  const { envelope } = (await t.trusted("POST", "/hooks/page/test", body)).body;
  expect(envelope).toMatchObject({
    selector: "task:a:b:c:failed",
    event: { type: "failed", task_name: "c", task_call_id: "c~1", value: { n: 1 } },
  });
  const foreign = await t.trusted("POST", "/hooks/page/test", { selector: "task:*" });
  expect(refusalOf(foreign)).toMatchObject({
    ...{ status: 400, code: "invalid_selector" },
    details: { selector: "task:*", reason: "not_of_this_hook" },
  });
});

test("HOOK-20 HOOK-37 a value too large for an envelope is cut in that of a test, too", async () => {
  const t = await hookedServer({ config: { hooks: { enabled: false, max_value_bytes: 1024 } } });
  const value = "x".repeat(2000);
  const { envelope } = (await t.trusted("POST", "/hooks/page/test", { value })).body;
  expect(envelope.event.value).toEqual({
    $omitted: {
      ...{ reason: "too_large", bytes: 2002, limit: 1024 },
      preview: `"${"x".repeat(1023)}`,
    },
  });
});

test("HOOK-21 RED-3 the envelope of a test holds no secret, whoever wrote it there", async () => {
  const key = Buffer.alloc(32, 1).toString("base64");
  const security = { auth: { enabled: true }, encryption: { key } };
  const t = await hookedServer({ config: { hooks: { enabled: false }, security } });
  await t.admin("PUT", "/admin/secrets/db", { value: "hunter-two-long" });
  const value = { password: "hunter-two-long" };
  const { envelope, execution_id } = (await t.trusted("POST", "/hooks/page/test", { value })).body;
  expect(JSON.stringify(envelope)).not.toContain("hunter");
  const row = await t.store.executions.find(execution_id);
  expect(JSON.stringify(row)).not.toContain("hunter");
});

test("HOOK-38 an envelope that the target's schema refuses is no start, and nothing is noted", async () => {
  const t = await hookedServer();
  await t.rewrite({ workflow: "default/picky" });
  const answer = await t.trusted("POST", "/hooks/page/test");
  expect(refusalOf(answer)).toMatchObject({
    ...{ status: 422, code: "invalid_input" },
    details: { issues: [{ path: "envelope.hop" }] },
  });
  expect((await t.admin("GET", "/executions")).body.total).toBe(0);
  expect((await t.admin("GET", "/admin/audit?action=hooks.test&decision=allow")).body.total).toBe(
    0,
  );
});

test("HOOK-30 HOOK-37 a test runs the latest version of the target", async () => {
  const t = await hookedServer();
  const source = `import { workflow } from "@engine/sdk";
export const pay = workflow({ name: "pay" }, async (input) => [input]);
`;
  await t.admin("POST", "/workflows", { source });
  const { execution_id } = (await t.trusted("POST", "/hooks/page/test")).body;
  const started = await t.admin("GET", `/executions/${execution_id}`);
  expect(started.body).toMatchObject({ workflow: "pay", version: 2 });
});

test("HOOK-46 with authorization off an account is kept by its spelling alone, and only the target looked for", async () => {
  const t = await hookedServer({ auth: { enabled: false } });
  const { body } = await t.create(t.admin, { name: "other", principal: "no.such@one" });
  expect(body).toMatchObject({ principal: "no.such@one", created_by: null, updated_by: null });
  const { status } = (await t.admin("GET", "/hooks/other")).body;
  expect(status.problems).toEqual(["hooks_disabled"]);
  const missing = await t.create(t.admin, { name: "more", workflow: "nothing" });
  expect(refusalOf(missing)).toMatchObject({ status: 404, code: "target_not_found" });
  const ill = await t.create(t.admin, { name: "more", principal: "a:b" });
  expect(refusalOf(ill)).toMatchObject({ status: 422, code: "invalid_input" });
  const none = await t.create(t.admin, { name: "more", principal: undefined });
  expect(refusalOf(none)).toMatchObject({ status: 422, code: "invalid_input" });
  const { execution_id } = (await t.admin("POST", "/hooks/other/test")).body;
  const started = (await t.admin("GET", `/executions/${execution_id}`)).body;
  expect(started).toMatchObject({ started_by: null, run_as: null });
});

test("HOOK-42 AUTH-6 a hook that is not there is refused as one that is, to whom it is not for", async () => {
  const { may } = await hookedServer();
  const blind = await may("blind", [RUN]);
  for (const name of ["page", "none"]) {
    expect(refusalOf(await blind("GET", `/hooks/${name}`))).toEqual({
      ...{ status: 403, code: "permission_denied" },
      details: { missing_permissions: [`hook:${name}:read`] },
    });
  }
});

test("HOOK-12 a change holds here before it is answered", async () => {
  const t = await hookedServer();
  await t.trusted("PUT", "/hooks/page", { selectors: ["execution:default:pay:created"] });
  await t.fire();
  expect((await t.admin("GET", "/hooks/page/deliveries")).body.total).toBe(1);
  await t.trusted("PUT", "/hooks/page", { enabled: false });
  await t.fire();
  expect((await t.admin("GET", "/hooks/page/deliveries")).body.total).toBe(1);
});
