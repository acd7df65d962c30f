import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { type GuardedServer, guardedServer, homeFolder } from "./testing/guarded-server.ts";
import { joining } from "./testing/joining-worker.ts";

const TOKENS = "/admin/workers/join-tokens";
const BEAT = { running: [], slots_free: 1 };

function bootstrapIn(home: string): string {
  return readFileSync(join(home, "bootstrap-token"), "utf8").trim();
}

async function joinToken(server: GuardedServer, body: object = {}): Promise<string> {
  return (await server.ask(TOKENS, server.adminKey, body)).body.token;
}

async function joined(server: GuardedServer, name = "w1"): Promise<string> {
  const { body } = await joining(server, name, bootstrapIn(server.home));
  return body.credential.token;
}

/** The worker's own call, with the session that a registration gave. */
function beat({ server }: GuardedServer, name: string, token: string, session: string) {
  return fetch(`${server.url}/workers/${name}/heartbeat`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${token}`,
      "x-engine-worker-session": session,
    },
    body: JSON.stringify(BEAT),
  });
}

async function actions({ store }: GuardedServer): Promise<readonly string[]> {
  const { items } = await store.audit.list({ limit: 100, offset: 0 });
  return items.map(({ action }) => action).reverse();
}

/** A clock that the test moves. */
function movedClock() {
  let ahead = 0;
  const pass = (ms: number) => {
    ahead += ms;
  };
  return { clock: () => Date.now() + ahead, pass };
}

test("AUTH-53 a server with authorization makes a bootstrap token, which only its owner reads", async () => {
  const server = await guardedServer();
  const path = join(server.home, "bootstrap-token");
  expect(bootstrapIn(server.home)).toMatch(/^engine_bt_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await server.store.joinTokens.bootstrap()).toMatch(/^[0-9a-f]{64}$/);
});

test("AUTH-50 AUTH-51 by the bootstrap token a worker gets its name, a session and a credential", async () => {
  const server = await guardedServer();
  const { status, body } = await joining(server, "w1", bootstrapIn(server.home));
  expect(status).toBe(201);
  expect(body.credential.token).toMatch(/^engine_wk_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/);
  const life = Date.parse(body.credential.expires_at) - Date.now();
  expect(life).toBeGreaterThan(86_000_000);
  expect(life).toBeLessThanOrEqual(86_400_000);
  const answer = await beat(server, "w1", body.credential.token, body.session);
  expect(answer.status).toBe(200);
  expect(await actions(server)).toContain("workers.register");
});

test("AUTH-50 nobody registers without a credential, and none of callers counts there", async () => {
  const server = await guardedServer();
  expect((await joining(server, "w1")).body.error).toMatchObject({
    code: "unauthenticated",
    details: { reason: "missing" },
  });
  expect((await joining(server, "w1", server.adminKey)).body.error).toMatchObject({
    code: "permission_denied",
    details: { reason: "credential_kind" },
  });
  const made_up = `${bootstrapIn(server.home)}x`;
  expect((await joining(server, "w1", made_up)).body.error.details).toEqual({ reason: "invalid" });
});

test("AUTH-50 a join token lets one worker in; the second one with it gets a 401", async () => {
  const server = await guardedServer();
  const token = await joinToken(server);
  const both = await Promise.all(["a", "b"].map((name) => joining(server, name, token)));
  expect(both.map(({ status }) => status).sort()).toEqual([201, 401]);
  expect((await joining(server, "c", token)).status).toBe(401);
});

test("AUTH-50 a name that breaks a rule consumes no token", async () => {
  const server = await guardedServer();
  const token = await joinToken(server);
  expect((await joining(server, "local", token)).status).toBe(422);
  expect((await joining(server, "w1", token, { labels: { "engine.x": "1" } })).status).toBe(422);
  expect((await joining(server, "w1", token)).status).toBe(201);
});

test("AUTH-50 AUTH-54 a bound token lets its worker in, also a known one, and nobody else", async () => {
  const server = await guardedServer();
  await joined(server, "w1");
  const bound = () => joinToken(server, { subject: "w1" });
  const token = await bound();
  expect((await joining(server, "w2", token)).status).toBe(401);
  expect((await joining(server, "w1", token)).status).toBe(200);
  const unbound = await joinToken(server);
  for (let n = 0; n < 5; n++) {
    expect((await joining(server, "w1", unbound)).body.error.code).toBe("worker_name_unavailable");
  }
  expect((await joining(server, "new", unbound)).status).toBe(401);
});

test("AUTH-50 a worker named admin is a new, powerless principal", async () => {
  const server = await guardedServer();
  const token = await joined(server, "admin");
  for (const path of ["/executions", "/admin/workers/join-tokens"]) {
    expect((await server.ask(path, token)).body.error).toMatchObject({
      code: "permission_denied",
      details: { reason: "credential_kind" },
    });
  }
});

test("AUTH-50 who takes a name by a token revokes its earlier credential, and that is audited", async () => {
  const server = await guardedServer();
  const first = await joined(server);
  const second = await joined(server);
  expect((await renew(server, "w1", first)).status).toBe(401);
  expect((await renew(server, "w1", second)).status).toBe(200);
  expect(await actions(server)).toEqual(
    expect.arrayContaining(["workers.register", "worker.credential_revoked", "workers.credential"]),
  );
});

test("AUTH-49 worker routes take only the credential of the worker that they name", async () => {
  const server = await guardedServer();
  const { body: w1 } = await joining(server, "w1", bootstrapIn(server.home));
  const other = await joined(server, "w2");
  const refused = await beat(server, "w1", other, w1.session);
  expect(await refused.json()).toMatchObject({
    error: { code: "permission_denied", details: { reason: "credential_kind" } },
  });
  expect((await beat(server, "w1", server.adminKey ?? "", w1.session)).status).toBe(403);
  expect((await beat(server, "w1", bootstrapIn(server.home), w1.session)).status).toBe(403);
});

test("AUTH-49 a checkpoint that names another worker than the caller is refused", async () => {
  const server = await guardedServer();
  const token = await joined(server);
  const post = (headers: Record<string, string>) =>
    fetch(`${server.server.url}/checkpoint/x`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${token}`,
        "x-engine-worker-session": "none",
        ...headers,
      },
      body: JSON.stringify({ generation: 1, base_seq: 0, state: "RUNNING", events: [] }),
    });
  expect((await post({ "x-engine-worker": "w2" })).status).toBe(403);
  // The session decides next.
  expect(await (await post({})).json()).toMatchObject({ error: { code: "session_unknown" } });
});

test.each([
  ["is read anew each time", 0],
  ["is kept", 30],
])(
  "AUTH-51 a predecessor serves for a minute after its successor's first use; after that the line is dead, where what is known %s",
  async (_, cache_ttl) => {
    const { clock, pass } = movedClock();
    const server = await guardedServer({ clock, auth: { enabled: true, cache_ttl } });
    const { body } = await joining(server, "w1", bootstrapIn(server.home));
    const [first, session] = [body.credential.token, body.session];
    const second = (await renewed(server, first)).token;
    pass(120_000);
    // Nobody has used the second one yet.
    expect((await beat(server, "w1", first, session)).status).toBe(200);
    expect((await beat(server, "w1", second, session)).status).toBe(200);
    pass(59_000);
    expect((await beat(server, "w1", first, session)).status).toBe(200);
    pass(1_000);
    expect((await beat(server, "w1", first, session)).status).toBe(401);
    expect((await beat(server, "w1", second, session)).status).toBe(401);
    expect((await joining(server, "w1", second)).status).toBe(401);
    const used = (await actions(server)).filter((action) => action === "worker.credential_reuse");
    expect(used).toHaveLength(1);
  },
);

test("AUTH-51 an expired credential serves its renewal and a registration for some time, nothing else", async () => {
  const { clock, pass } = movedClock();
  const server = await guardedServer({ clock });
  const { body } = await joining(server, "w1", bootstrapIn(server.home));
  const first = body.credential.token;
  pass(86_400_000);
  const refused = await beat(server, "w1", first, body.session);
  expect(await refused.json()).toMatchObject({ error: { details: { reason: "expired" } } });
  expect((await joining(server, "w1", first)).status).toBe(200);
  const second = (await renewed(server, first)).token;
  expect((await beat(server, "w1", second, body.session)).status).not.toBe(401);
  pass(86_400_000 + 604_800_000);
  expect((await joining(server, "w1", second)).body.error.details).toEqual({ reason: "expired" });
});

test("AUTH-54 join tokens are shown once, listed while they can be used, and revoked", async () => {
  const server = await guardedServer();
  const ask = (body: object) => server.ask(TOKENS, server.adminKey, body);
  const made = await ask({ ttl_seconds: 60, subject: "w1", services: ["inference"] });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ subject: "w1", services: ["inference"] });
  expect(made.body.token).toMatch(/^engine_jt_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/);
  const other = (await ask({})).body;
  expect(Date.parse(other.expires_at) - Date.now()).toBeGreaterThan(3_500_000);
  const list = (await server.ask(TOKENS, server.adminKey)).body;
  expect(list.items.map(({ id }: { id: string }) => id).sort()).toEqual(
    [made.body.id, other.id].sort(),
  );
  expect(JSON.stringify(list)).not.toContain("engine_jt_");
  expect(list.items[0]).toMatchObject({ created_by: "admin" });
  for (const bad of [
    { ttl_seconds: 59 },
    { ttl_seconds: 2_592_001 },
    { subject: "local" },
    { x: 1 },
  ]) {
    expect((await ask(bad)).status, JSON.stringify(bad)).toBe(422);
  }
  const remove = (rest: string) =>
    fetch(`${server.server.url}${TOKENS}${rest}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${server.adminKey}` },
    });
  expect((await remove(`/${other.id}`)).status).toBe(204);
  expect((await remove(`/${other.id}`)).status).toBe(404);
  expect((await remove("/nothing")).status).toBe(404);
  expect((await remove("?subject=%20")).status).toBe(422);
  expect((await remove("")).status).toBe(422);
  expect((await remove("?subject=w9")).status).toBe(204);
  expect((await remove("?subject=w1")).status).toBe(204);
  expect((await server.ask(TOKENS, server.adminKey)).body.items).toEqual([]);
  expect((await joining(server, "w1", made.body.token)).status).toBe(401);
});

test("AUTH-53 a configured bootstrap token takes the place of a generated one", async () => {
  const bootstrap_token = "correct horse battery staple, twice";
  const server = await guardedServer({ config: { workers: { bootstrap_token } } });
  expect(() => bootstrapIn(server.home)).toThrow();
  const joins = (token: string) => joining(server, "w1", token);
  // A token has no spaces: this one can only be refused.
  expect((await joins(bootstrap_token)).status).toBe(401);
  const word = "correct-horse-battery-staple-twice";
  const other = await guardedServer({ config: { workers: { bootstrap_token: word } } });
  expect((await joining(other, "w1", word)).status).toBe(201);
  expect((await joining(other, "w2", `${word}x`)).status).toBe(401);
});

test("AUTH-53 without bootstrap tokens join tokens are left", async () => {
  const server = await guardedServer({ config: { workers: { bootstrap_token_enabled: false } } });
  expect(() => bootstrapIn(server.home)).toThrow();
  const token = await joinToken(server);
  expect((await joining(server, "w1", token)).status).toBe(201);
});

test("AUTH-53 of two servers on one store the first makes the token, and it counts at both", async () => {
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  onTestFinished(() => store.close());
  const [one, other] = [homeFolder(), homeFolder()];
  const first = await guardedServer({ store, home: one });
  const second = await guardedServer({ store, home: other });
  expect(() => bootstrapIn(other)).toThrow();
  expect((await joining(second, "w1", bootstrapIn(one))).status).toBe(201);
  expect((await joining(first, "w2", bootstrapIn(one))).status).toBe(201);
});

test("AUTH-2 with authorization off a worker gets no credential, and needs none", async () => {
  const server = await guardedServer({ auth: {} });
  const { status, body } = await joining(server, "w1", "whatever");
  expect(status).toBe(201);
  expect(body.credential).toBeNull();
  expect((await renew(server, "w1", "whatever")).status).toBe(409);
});

test("AUTH-63 the worker in the server's process needs no credential, and nobody takes its name", async () => {
  const server = await guardedServer();
  const registered = await server.server.workers.register({
    name: "dev",
    instance_id: "0190f5b0-7e5c-7aaa-8bbb-123456789abc",
    protocol: 2,
    engine_version: "0.1.0",
    host: "here",
    pid: 1,
    runtime: { os: "linux", arch: "x64", node: "24" },
    labels: {},
    slots: 1,
    runners: ["thread"],
    default_runner: "thread",
    resources: null,
    packages: [],
    services: [],
  });
  expect(registered.credential).toBeNull();
  const taken = await joining(server, "dev", bootstrapIn(server.home));
  expect(taken.body.error.code).toBe("worker_name_unavailable");
  await server.server.workers.disconnect({ worker: "dev", session: registered.session });
  expect((await joining(server, "dev", bootstrapIn(server.home))).status).toBe(200);
});

test("AUTH-63 the process itself reads and registers everything, and starts nothing", async () => {
  const ownToken = "engine_in_made-up-for-this-test";
  const server = await guardedServer({ ownToken });
  expect((await server.ask("/workflows", ownToken)).status).toBe(200);
  const source = `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async (input) => input);
`;
  expect((await server.ask("/workflows", ownToken, { source })).status).toBe(201);
  const { body } = await server.ask("/workflows/default/hello", ownToken);
  expect(body.created_by).toBeNull();
  const started = await server.ask("/workflows/default/hello/run/async", ownToken, {});
  expect(started.body.error).toMatchObject({
    code: "permission_denied",
    details: { reason: "credential_kind" },
  });
  expect((await server.ask("/workflows", "engine_in_guessed")).status).toBe(401);
});

function renew({ server }: GuardedServer, name: string, token: string) {
  return fetch(`${server.url}/workers/${name}/credential`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
}

async function renewed(server: GuardedServer, token: string): Promise<{ token: string }> {
  const answer = await renew(server, "w1", token);
  expect(answer.status).toBe(200);
  return (await answer.json()) as { token: string };
}
