import { createHash } from "node:crypto";
import type { ErrorBody } from "@engine/contract";
import { expect, test } from "vitest";
import { type Ask, accountOf, asking, type Method, service_account } from "./testing/asking.ts";
import { guardedServer } from "./testing/guarded-server.ts";

/** A server with authorization on, asked by its first admin. */
async function administered(options: Parameters<typeof guardedServer>[0] = {}) {
  const guarded = await guardedServer(options);
  return { ...guarded, ask: asking(guarded, guarded.adminKey) };
}

const ROLES = "/admin/roles";
const PRINCIPALS = "/admin/principals";

async function code(answer: ReturnType<Ask>): Promise<[number, string | undefined]> {
  const { status, body } = await answer;
  return [status, (body as ErrorBody | undefined)?.error?.code];
}

test("AUTH-24 a role from its creation to its end, with warnings of what gives nothing", async () => {
  const { ask } = await administered();
  const created = await ask("POST", ROLES, {
    name: "deployer",
    permissions: ["workflow:*:*:register", "hoook:*", "agent:*", "agent:*"],
  });
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({
    name: "deployer",
    description: null,
    permissions: ["agent:*", "hoook:*", "workflow:*:*:register"],
    built_in: false,
    warnings: [expect.stringContaining("hoook:*")],
  });
  expect((await ask("GET", `${ROLES}/deployer`)).body).toEqual(created.body);

  const changed = await ask("PUT", `${ROLES}/deployer`, {
    add_permissions: ["schedule:*", "hook:a:read"],
    remove_permissions: ["hoook:*", "hook:a:read", "config:*"],
  });
  expect(changed.body).toMatchObject({
    permissions: ["agent:*", "schedule:*", "workflow:*:*:register"],
    warnings: [],
  });
  const replaced = await ask("PUT", `${ROLES}/deployer`, {
    permissions: ["config:*"],
    description: "Deploys",
  });
  expect(replaced.body).toMatchObject({ permissions: ["config:*"], description: "Deploys" });

  const cloned = await ask("POST", `${ROLES}/viewer/clone`, { new_name: "watcher" });
  expect([cloned.status, cloned.body.built_in]).toEqual([201, false]);
  const listed = await ask("GET", `${ROLES}?limit=2&offset=1`);
  expect(listed.body).toMatchObject({ total: 6, limit: 2, offset: 1 });
  expect(listed.body.items.map(({ name }: { name: string }) => name)).toEqual([
    "deployer",
    "operator",
  ]);
  expect((await ask("DELETE", `${ROLES}/deployer`)).status).toBe(204);
  expect(await code(ask("GET", `${ROLES}/deployer`))).toEqual([404, "not_found"]);
});

test("AUTH-24 the engine's own roles and those in use are kept; a later role revives nothing", async () => {
  const { ask } = await administered();
  for (const request of [
    ask("PUT", `${ROLES}/admin`, { permissions: [] }),
    ask("DELETE", `${ROLES}/viewer?force=true`),
  ]) {
    expect(await code(request)).toEqual([409, "built_in_role"]);
  }
  for (const name of ["r", "admin"]) await ask("POST", ROLES, { name, permissions: ["config:*"] });
  expect(await code(ask("POST", ROLES, { name: "admin", permissions: [] }))).toEqual([
    409,
    "conflict",
  ]);
  await ask("POST", PRINCIPALS, service_account("bot", ["r"]));
  const refused = await ask("DELETE", `${ROLES}/r`);
  expect([refused.status, refused.body.error]).toMatchObject([
    409,
    { code: "role_in_use", details: { principals: 1 } },
  ]);
  expect((await ask("DELETE", `${ROLES}/r?force=true`)).status).toBe(204);
  await ask("POST", ROLES, { name: "r", permissions: ["config:*"] });
  expect((await ask("GET", `${PRINCIPALS}/bot`)).body.roles).toEqual([]);
});

test.each<[string, Method, string, unknown, string[]]>([
  [
    "a grant that does not parse",
    "POST",
    ROLES,
    { name: "r", permissions: ["a", "b*"] },
    ["body.permissions[1]"],
  ],
  ["a role's name", "POST", ROLES, { name: "Big Role", permissions: [] }, ["body.name"]],
  ["a role of an unknown field", "POST", ROLES, { name: "r", permissions: [], x: 1 }, ["body.x"]],
  ["a role without permissions", "POST", ROLES, { name: "r" }, ["body.permissions"]],
  [
    "a description that no database takes",
    "POST",
    ROLES,
    { name: "r", permissions: [], description: "a\u0000" },
    ["body.description"],
  ],
  [
    "both forms of a change",
    "PUT",
    `${ROLES}/r`,
    { permissions: [], add_permissions: ["a"] },
    ["body.permissions"],
  ],
  [
    "a grant to add",
    "PUT",
    `${ROLES}/r`,
    { add_permissions: ["a b"] },
    ["body.add_permissions[0]"],
  ],
  ["the reserved subject", "POST", PRINCIPALS, service_account("anonymous"), ["body.subject"]],
  ["a subject with a slash", "POST", PRINCIPALS, service_account("a/b"), ["body.subject"]],
  ["a user of no provider", "POST", PRINCIPALS, { subject: "u", type: "user" }, ["body.issuer"]],
  [
    "a user of the engine's issuer",
    "POST",
    PRINCIPALS,
    { subject: "u", type: "user", issuer: "engine" },
    ["body.issuer"],
  ],
  [
    "a service account of a provider",
    "POST",
    PRINCIPALS,
    { ...service_account("u"), issuer: "https://x" },
    ["body.issuer"],
  ],
  ["a worker", "POST", PRINCIPALS, { subject: "w", type: "worker" }, ["body.type"]],
  ["a change of type", "PUT", `${PRINCIPALS}/admin`, { type: "user" }, ["body.type"]],
  ["a key's name", "POST", `${PRINCIPALS}/admin/keys`, { name: "a b" }, ["body.name"]],
  [
    "a key of no days",
    "POST",
    `${PRINCIPALS}/admin/keys`,
    { name: "a", expires_in_days: 0 },
    ["body.expires_in_days"],
  ],
  [
    "a key of eleven years",
    "POST",
    `${PRINCIPALS}/admin/keys`,
    { name: "a", expires_in_days: 3651 },
    ["body.expires_in_days"],
  ],
  [
    "a key's grant",
    "POST",
    `${PRINCIPALS}/admin/keys`,
    { name: "a", permissions: ["a::b"] },
    ["body.permissions[0]"],
  ],
  ["a filter", "GET", `${PRINCIPALS}?type=robot`, undefined, ["query.type"]],
  ["an instant", "GET", "/admin/audit?since=yesterday", undefined, ["query.since"]],
  ["a page", "GET", "/admin/audit?limit=501", undefined, ["query.limit"]],
])("AUTH-13 AUTH-18 AUTH-25 %s that does not fit is refused by its place", async (...row) => {
  const [, method, path, body, paths] = row;
  const { ask } = await administered();
  const refused = await ask(method, path, body);
  expect([refused.status, refused.body.error.code]).toEqual([422, "invalid_input"]);
  const { issues } = refused.body.error.details;
  expect(issues.map((issue: { path: string }) => issue.path)).toEqual(paths);
});

test("AUTH-18 AUTH-19 a principal from its creation to its end", async () => {
  const { ask } = await administered();
  const fields = { ...service_account("ci.bot@acme", ["viewer"]), display_name: "CI" };
  const created = await ask("POST", PRINCIPALS, fields);
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    ...{ id: expect.any(String), type: "service_account", subject: "ci.bot@acme" },
    ...{ issuer: "engine", display_name: "CI", enabled: true, banned: false, ban_reason: null },
    ...{ roles: ["viewer"], created_at: expect.any(String), updated_at: expect.any(String) },
    last_seen_at: null,
  });
  expect(await code(ask("POST", PRINCIPALS, fields))).toEqual([409, "conflict"]);
  const path = `${PRINCIPALS}/ci.bot@acme`;
  expect((await ask("GET", path)).body).toEqual(created.body);
  expect((await ask("PUT", path, { display_name: null })).body.display_name).toBeNull();

  for (let times = 0; times < 2; times++) {
    const granted = await ask("POST", `${path}/roles`, { role: "operator" });
    expect([granted.status, granted.body.roles]).toEqual([200, ["operator", "viewer"]]);
  }
  for (let times = 0; times < 2; times++) {
    expect((await ask("DELETE", `${path}/roles/operator`)).status).toBe(204);
  }
  const listed = await ask("GET", `${PRINCIPALS}?role=viewer&type=service_account&banned=false`);
  expect([listed.body.total, listed.body.items[0].roles]).toEqual([1, ["viewer"]]);
  expect(await code(ask("POST", `${path}/roles`, { role: "none" }))).toEqual([422, "unknown_role"]);
  expect(await code(ask("POST", PRINCIPALS, service_account("x", ["none"])))).toEqual([
    422,
    "unknown_role",
  ]);
  expect((await ask("DELETE", path)).status).toBe(204);
  for (const request of [
    ask("GET", path),
    ask("DELETE", path),
    ask("POST", `${path}/ban`),
    ask("POST", `${path}/keys`, { name: "a" }),
    ask("GET", `${path}/keys`),
    ask("DELETE", `${path}/keys/a`),
    ask("POST", `${path}/roles`, { role: "viewer" }),
  ]) {
    expect(await code(request)).toEqual([404, "not_found"]);
  }
});

test("AUTH-22 locking out and letting in, again and again", async () => {
  const { ask, server } = await administered();
  const key = await accountOf(ask, "bot", ["viewer"]);
  const asBot = asking({ server }, key);
  expect((await asBot("GET", "/workflows")).status).toBe(200);
  const path = `${PRINCIPALS}/bot`;
  const state = ({ body: { enabled, banned, ban_reason } }: Awaited<ReturnType<Ask>>) => [
    ...[enabled, banned, ban_reason],
  ];
  for (let times = 0; times < 2; times++) {
    expect(state(await ask("POST", `${path}/disable`))).toEqual([false, false, null]);
  }
  // Refused at once on the server that was asked.
  expect((await asBot("GET", "/workflows")).body.error.details.reason).toBe("disabled");
  for (let times = 0; times < 2; times++) {
    expect(state(await ask("POST", `${path}/enable`))).toEqual([true, false, null]);
  }
  expect((await asBot("GET", "/workflows")).status).toBe(200);
  expect(state(await ask("POST", `${path}/ban`, { reason: "left" }))).toEqual([
    false,
    true,
    "left",
  ]);
  expect(state(await ask("POST", `${path}/ban`, { reason: "twice" }))).toEqual([
    false,
    true,
    "left",
  ]);
  expect((await ask("GET", `${path}/keys`)).body.total).toBe(0);
  expect((await asBot("GET", "/workflows")).body.error.details.reason).toBe("invalid");
  expect(await code(ask("POST", `${path}/enable`))).toEqual([409, "conflict"]);
  expect(await code(ask("PUT", path, { enabled: true }))).toEqual([409, "conflict"]);
  for (let times = 0; times < 2; times++) {
    expect(state(await ask("POST", `${path}/unban`))).toEqual([false, false, null]);
  }
  expect(state(await ask("PUT", path, { enabled: true }))).toEqual([true, false, null]);
  expect(state(await ask("POST", `${path}/ban`))).toEqual([false, true, null]);
});

test("AUTH-12 AUTH-13 a key is shown once, lets its account in, and is gone when revoked", async () => {
  const { ask, server, store } = await administered();
  await ask("POST", PRINCIPALS, service_account("bot", ["viewer"]));
  const keys = `${PRINCIPALS}/bot/keys`;
  const fields = {
    name: "ci",
    expires_in_days: 90,
    permissions: ["workflow:*", "schedule:*:read"],
  };
  const created = await ask("POST", keys, fields);
  expect(created.status).toBe(201);
  const { key, id } = created.body;
  expect(key).toMatch(/^engine_sk_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/);
  const shown = {
    ...{ id, name: "ci", prefix: `engine_sk_${id}`, created_at: expect.any(String) },
    ...{ permissions: ["schedule:*:read", "workflow:*"], expires_at: expect.any(String) },
  };
  expect(created.body).toEqual({ ...shown, key });
  expect(key.startsWith(created.body.prefix)).toBe(true);
  const days = (Date.parse(created.body.expires_at) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(90);
  const listed = await ask("GET", keys);
  expect(listed.body).toEqual({
    items: [{ ...shown, last_used_at: null }],
    ...{ total: 1, limit: 100, offset: 0 },
  });
  // Only a hash of it is kept.
  const stored = await store.identities.findByKey(id);
  expect(stored?.key.secret_hash).toBe(createHash("sha256").update(key).digest("hex"));

  const asBot = asking({ server }, key);
  expect((await asBot("GET", "/workflows")).status).toBe(200);
  // The account may, the narrower key may not.
  expect((await asBot("GET", "/workers")).body.error.details).toEqual({
    missing_permissions: ["worker:*:read"],
  });
  expect(await code(ask("POST", keys, fields))).toEqual([409, "conflict"]);
  expect((await ask("DELETE", `${keys}/ci`)).status).toBe(204);
  expect(await code(ask("DELETE", `${keys}/ci`))).toEqual([404, "not_found"]);
  expect((await asBot("GET", "/workflows")).status).toBe(401);
});

test("AUTH-13 keys belong to service accounts, and there are none with API keys off", async () => {
  const { ask } = await administered();
  await ask("POST", PRINCIPALS, { subject: "u", type: "user", issuer: "https://login.example" });
  expect(await code(ask("POST", `${PRINCIPALS}/u/keys`, { name: "k" }))).toEqual([
    422,
    "invalid_input",
  ]);
  const off = await guardedServer({ auth: { enabled: false, api_keys: { enabled: false } } });
  const asNobody = asking(off);
  await asNobody("POST", PRINCIPALS, service_account("bot"));
  expect(await code(asNobody("POST", `${PRINCIPALS}/bot/keys`, { name: "k" }))).toEqual([
    409,
    "provider_disabled",
  ]);
});

test("AUTH-19 a subject of several issuers is told apart, whatever characters it has", async () => {
  const { ask } = await administered();
  const user = (subject: string, issuer: string) =>
    ask("POST", PRINCIPALS, { subject, type: "user", issuer });
  const odd = "auth0|a/b?c#d e%2F ü";
  const path = `${PRINCIPALS}/${encodeURIComponent(odd)}`;
  expect((await user(odd, "https://one.example")).status).toBe(201);
  expect((await ask("GET", path)).body.subject).toBe(odd);
  expect((await ask("POST", `${path}/disable`)).body.enabled).toBe(false);

  await user(odd, "https://two.example");
  const refused = await ask("GET", path);
  expect([refused.status, refused.body.error]).toMatchObject([
    409,
    {
      code: "ambiguous_subject",
      details: { issuers: ["https://one.example", "https://two.example"] },
    },
  ]);
  const two = `?issuer=${encodeURIComponent("https://two.example")}`;
  expect((await ask("GET", path + two)).body.issuer).toBe("https://two.example");
  expect(await code(ask("GET", `${path}?issuer=https://three.example`))).toEqual([
    404,
    "not_found",
  ]);
  expect(await code(ask("DELETE", path))).toEqual([409, "ambiguous_subject"]);
  expect((await ask("DELETE", path + two)).status).toBe(204);
  expect((await ask("GET", path)).body.issuer).toBe("https://one.example");

  // The engine's own is preferred.
  await user("bot", "https://one.example");
  await user("bot", "https://two.example");
  await ask("POST", PRINCIPALS, service_account("bot"));
  expect((await ask("GET", `${PRINCIPALS}/bot`)).body.issuer).toBe("engine");
});

test("AUTH-21 nobody confers more than they hold, by whatever way", async () => {
  const { ask, server } = await administered();
  await ask("POST", ROLES, {
    name: "manager",
    permissions: ["admin:roles:manage", "admin:principals:manage", "hook:*", "worker:*:connect"],
  });
  await ask("POST", ROLES, { name: "hooks", permissions: ["hook:*:read"] });
  for (const subject of ["strong", "banned"]) {
    await ask("POST", PRINCIPALS, service_account(subject, ["viewer"]));
  }
  await ask("POST", `${PRINCIPALS}/strong/disable`);
  await ask("POST", `${PRINCIPALS}/banned/ban`);
  await ask("POST", PRINCIPALS, service_account("weak", ["hooks"]));
  const asManager = asking({ server }, await accountOf(ask, "manager", ["manager"]));

  const viewer = (await ask("GET", `${ROLES}/viewer`)).body.permissions;
  const beyond = viewer.filter((permission: string) => !permission.startsWith("hook:"));
  for (const [method, path, body, missing] of [
    ["POST", ROLES, { name: "x", permissions: ["hook:a:read", "*"] }, ["*"]],
    ["POST", `${ROLES}/viewer/clone`, { new_name: "x" }, beyond],
    ["PUT", `${ROLES}/hooks`, { add_permissions: ["hook:*", "config:*"] }, ["config:*"]],
    ["POST", PRINCIPALS, service_account("x", ["viewer"]), beyond],
    ["POST", `${PRINCIPALS}/weak/roles`, { role: "admin" }, ["*"]],
    ["POST", `${PRINCIPALS}/strong/enable`, undefined, beyond],
    ["PUT", `${PRINCIPALS}/strong`, { enabled: true }, beyond],
    ["POST", `${PRINCIPALS}/banned/unban`, undefined, beyond],
    ["POST", `${PRINCIPALS}/strong/keys`, { name: "mine" }, beyond],
    ["POST", `${PRINCIPALS}/admin/keys`, { name: "mine", permissions: ["config:*"] }, ["config:*"]],
  ] as const) {
    const refused = await asManager(method, path, body);
    expect([path, refused.status, refused.body.error.code]).toEqual([
      ...[path, 403, "privilege_escalation"],
    ]);
    expect(refused.body.error.details.missing_permissions).toEqual(missing);
  }
  // What it holds it may give, and take what it does not hold.
  for (const [method, path, body, status] of [
    ["POST", ROLES, { name: "x", permissions: ["hook:a:*"] }, 201],
    ["PUT", `${ROLES}/hooks`, { add_permissions: ["hook:*"] }, 200],
    ["POST", `${PRINCIPALS}/weak/keys`, { name: "k" }, 201],
    ["POST", `${PRINCIPALS}/admin/keys`, { name: "k", permissions: ["hook:a:read"] }, 201],
    ["DELETE", `${PRINCIPALS}/strong/roles/viewer`, undefined, 204],
  ] as const) {
    expect([path, (await asManager(method, path, body)).status]).toEqual([path, status]);
  }
  // A narrower key confers no more than itself.
  const narrowed = { name: "narrow", permissions: ["admin:roles:manage", "hook:a:read"] };
  const { key } = (await ask("POST", `${PRINCIPALS}/manager/keys`, narrowed)).body;
  const narrow = asking({ server }, key);
  expect(await code(narrow("POST", ROLES, { name: "y", permissions: ["hook:*"] }))).toEqual([
    403,
    "privilege_escalation",
  ]);
  expect((await narrow("POST", ROLES, { name: "y", permissions: ["hook:a:read"] })).status).toBe(
    201,
  );
});

test("AUTH-20 the last admin stays, on every way, until there is another one", async () => {
  const { ask } = await administered();
  const admin = `${PRINCIPALS}/admin`;
  for (const [method, path, body] of [
    ["POST", `${admin}/disable`, undefined],
    ["PUT", admin, { enabled: false }],
    ["POST", `${admin}/ban`, undefined],
    ["DELETE", `${admin}?force=true`, undefined],
    ["DELETE", `${admin}/roles/admin`, undefined],
    ["DELETE", `${admin}/keys/bootstrap`, undefined],
  ] as const) {
    expect([path, ...(await code(ask(method, path, body)))]).toEqual([path, 409, "last_admin"]);
  }
  await accountOf(ask, "second", ["admin"]);
  expect((await ask("POST", `${PRINCIPALS}/second/disable`)).status).toBe(200);
  expect(await code(ask("POST", `${admin}/disable`))).toEqual([409, "last_admin"]);
  await ask("POST", `${PRINCIPALS}/second/enable`);
  expect((await ask("DELETE", `${admin}?force=true`)).status).toBe(204);
});

test("AUTH-23 a principal in use is deleted by force alone, and a later one of its name is another", async () => {
  const { ask } = await administered();
  const key = await accountOf(ask, "bot", ["viewer"]);
  const { id } = (await ask("GET", `${PRINCIPALS}/bot`)).body;
  const refused = await ask("DELETE", `${PRINCIPALS}/bot`);
  expect([refused.status, refused.body.error]).toMatchObject([
    409,
    { code: "principal_in_use", details: { keys: 1, executions: 0, schedules: 0, hooks: 0 } },
  ]);
  expect(key).toBeDefined();
  expect((await ask("DELETE", `${PRINCIPALS}/bot?force=true`)).status).toBe(204);
  const later = await ask("POST", PRINCIPALS, service_account("bot"));
  expect(later.body.roles).toEqual([]);
  expect(later.body.id).not.toBe(id);
});

test("AUD-1 AUD-2 AUD-3 every change is in the audit log, with who and what, and no key", async () => {
  const { ask } = await administered();
  const key = await accountOf(ask, "bot", ["viewer"]);
  await ask("POST", `${PRINCIPALS}/bot/ban`, { reason: "left" });
  await ask("POST", ROLES, { name: "r", permissions: ["hook:*"] });
  await ask("PUT", `${ROLES}/r`, { description: "Hooks" });
  const { body } = await ask("GET", "/admin/audit?decision=allow&actor=admin");
  const seen = body.items.map((row: Record<string, unknown>) => [row["action"], row["target"]]);
  expect(seen).toEqual([
    ["roles.update", "r"],
    ["roles.create", "r"],
    ["principals.ban", "bot"],
    ["principals.createKey", "bot"],
    ["principals.create", "bot"],
  ]);
  expect(body).toMatchObject({ total: 5, limit: 100, offset: 0 });
  expect(body.items[2]).toEqual({
    ...{ id: expect.any(String), at: expect.any(String), action: "principals.ban" },
    actor: { subject: "admin", issuer: "engine", type: "service_account" },
    credential: { kind: "api_key", id: expect.stringMatching(/^[a-z0-9]{12}$/) },
    ...{ via_execution: null, target: "bot", decision: "allow", permissions: [], reason: "left" },
    ...{ client_address: expect.any(String), request_id: expect.any(String), count: 1 },
    changes: {
      enabled: { before: true, after: false },
      banned: { before: false, after: true },
      ban_reason: { before: null, after: "left" },
    },
  });
  expect(JSON.stringify(body)).not.toContain(key);
  const filtered = await ask("GET", "/admin/audit?action=roles.create&target=r&limit=1");
  expect(filtered.body.total).toBe(1);
  const [row] = filtered.body.items;
  const since = await ask("GET", `/admin/audit?action=roles.create&since=${row.at}`);
  expect(since.body.total).toBe(1);
  const until = await ask("GET", `/admin/audit?action=roles.create&until=${row.at}`);
  expect(until.body.total).toBe(0);
});

test("AUTH-2 AUD-1 with authorization off everybody manages, and nobody is named", async () => {
  const ask = asking(await guardedServer({ auth: {} }));
  expect((await ask("POST", ROLES, { name: "all", permissions: ["*"] })).status).toBe(201);
  const { body } = await ask("GET", "/admin/audit");
  expect(body.items).toMatchObject([{ action: "roles.create", actor: null, credential: null }]);
});

test("AUTH-59 managing takes another permission than reading, and neither is the other's", async () => {
  const { ask, server } = await administered();
  await ask("POST", ROLES, {
    name: "reader",
    permissions: ["admin:roles:read", "admin:principals:read"],
  });
  const asReader = asking({ server }, await accountOf(ask, "reader", ["reader"]));
  for (const path of [ROLES, `${ROLES}/viewer`, PRINCIPALS, `${PRINCIPALS}/admin`]) {
    expect([path, (await asReader("GET", path)).status]).toEqual([path, 200]);
  }
  expect((await asReader("GET", `${PRINCIPALS}/admin/keys`)).status).toBe(200);
  for (const [method, path, missing] of [
    ["DELETE", `${ROLES}/none`, "admin:roles:manage"],
    ["DELETE", `${PRINCIPALS}/none`, "admin:principals:manage"],
    ["GET", "/admin/audit", "admin:audit:read"],
  ] as const) {
    const refused = await asReader(method, path);
    expect([path, refused.status, refused.body.error.details]).toEqual([
      path,
      403,
      { missing_permissions: [missing] },
    ]);
  }
});
