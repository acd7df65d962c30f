/** Every cell of the table of AUTH-50, asked over HTTP. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asking } from "./testing/asking.ts";
import { type GuardedServer, guardedServer } from "./testing/guarded-server.ts";
import { joining } from "./testing/joining-worker.ts";

const STATES = ["new", "existing", "disabled", "banned"] as const;
type State = (typeof STATES)[number];

/** A status, and why; what is refused leaves the token as it was. */
type Cell = readonly [status: number, reason?: string];

const REFUSED = { disabled: [403, "disabled"], banned: [403, "banned"] } as const;
const BY_TOKEN = { new: [201], existing: [200], ...REFUSED } as const;
const TAKEN = [409, "worker_name_unavailable"] as const;
const UNKNOWN = [401, "invalid"] as const;
const NOT_FOR_IT = { new: UNKNOWN, existing: UNKNOWN, disabled: UNKNOWN, banned: UNKNOWN } as const;

const TABLE: Readonly<Record<string, Readonly<Record<State, Cell>>>> = {
  "the bootstrap token": BY_TOKEN,
  "a join token bound to the name": BY_TOKEN,
  "an unbound join token": { new: [201], existing: TAKEN, disabled: TAKEN, banned: TAKEN },
  "a join token bound to another name": NOT_FOR_IT,
  // A new name has none of its own: this is what is left of a worker that was deleted.
  "its own credential": { ...NOT_FOR_IT, existing: [200] },
  "the credential of another worker": NOT_FOR_IT,
};

const cells = Object.entries(TABLE).flatMap(([shown, row]) =>
  STATES.map((state) => ({ shown, state, cell: row[state] })),
);

test.each(cells)("AUTH-50 $shown for a $state worker", async ({ shown, state, cell }) => {
  const t = await scene();
  const isOwn = shown === "its own credential";
  const own = state !== "new" || isOwn ? await t.credential("w1") : "";
  await t.worker("w1", state);
  const token = isOwn ? own : await t.token(shown);
  const before = await t.principal("w1");
  const answer = await joining(t.server, "w1", token);
  const { code, details } = answer.body.error ?? {};
  const told = code === "worker_name_unavailable" ? code : details?.reason;
  expect([answer.status, told]).toEqual([cell[0], cell[1]]);

  const after = await t.principal("w1");
  if (answer.status >= 300) {
    expect(answer.body.credential).toBeUndefined();
    expect(after).toEqual(before);
  } else {
    // No registration gives roles to a worker, or lets one in again that was not.
    expect(after).toMatchObject({ enabled: true, banned: false, roles: before?.roles ?? [] });
    expect((await t.renew("w1", answer.body.credential.token)).status).toBe(200);
  }
  expect(await t.isUsable(shown, token)).toBe(
    answer.status >= 300 ? !shown.includes("credential") : shown === "the bootstrap token",
  );
});

test("AUTH-50 AUTH-22 a worker that was disabled or banned comes in again once somebody lets it, by the same token", async () => {
  const t = await scene();
  for (const state of ["disabled", "banned"] as const) {
    await t.worker(state, "existing");
    const own = await t.credential(state);
    await t.worker(state, state);
    const bound = await t.joinToken({ subject: state });
    for (const token of [bound, t.bootstrap]) {
      const refused = await joining(t.server, state, token);
      const { code, details } = refused.body.error;
      expect([refused.status, code, details.reason]).toEqual([403, "permission_denied", state]);
    }
    // Nobody is let in by an engine process on its own.
    expect(await t.principal(state)).toMatchObject({ enabled: false, banned: state === "banned" });
    if (state === "banned") {
      expect((await t.admin("POST", `/admin/principals/${state}/enable`)).status).toBe(409);
      await t.admin("POST", `/admin/principals/${state}/unban`);
      const still = await joining(t.server, state, bound);
      expect(still.body.error.details).toMatchObject({ reason: "disabled" });
    }
    await t.admin("POST", `/admin/principals/${state}/enable`);
    // What it had before stays revoked.
    expect((await joining(t.server, state, own)).status).toBe(401);
    expect((await joining(t.server, state, bound)).status).toBe(200);
    expect((await joining(t.server, state, bound)).status).toBe(401);
  }
});

test("AUTH-50 an unbound token dies after five names that are taken, disabled and banned ones among them", async () => {
  const t = await scene();
  const names = ["existing", "disabled", "banned"] as const;
  for (const name of names) await t.worker(name, name);
  const token = await t.joinToken({});
  for (const name of [...names, "existing"]) {
    expect((await joining(t.server, name, token)).status).toBe(409);
  }
  const kept = await t.joinToken({});
  expect((await t.admin("GET", TOKENS)).body.total).toBe(2);
  expect((await joining(t.server, "disabled", token)).status).toBe(409);
  expect((await t.admin("GET", TOKENS)).body.total).toBe(1);
  expect((await joining(t.server, "fresh", token)).status).toBe(401);
  expect((await joining(t.server, "fresh", kept)).status).toBe(201);
});

test("AUTH-50 WRK-4 who takes a name by a token ends the session and the credential of before", async () => {
  const t = await scene();
  for (const token of [t.bootstrap, await t.joinToken({ subject: "w1" })]) {
    const before = await joining(t.server, "w1", t.bootstrap);
    const after = await joining(t.server, "w1", token);
    const beat = (by: typeof before.body, session: string) =>
      t.beat("w1", by.credential.token, session);
    expect((await beat(before.body, before.body.session)).status).toBe(401);
    const old = await beat(after.body, before.body.session);
    expect([old.status, old.body.error.code]).toEqual([409, "session_superseded"]);
    expect((await beat(after.body, after.body.session)).status).toBe(200);
  }
  const { items } = (await t.admin("GET", "/admin/audit?action=worker.credential_revoked")).body;
  expect(items).toHaveLength(3);
  expect(items[0]).toMatchObject({ target: "w1", decision: "allow" });
});

test("AUTH-50 a name that breaks a rule is told before the state of its worker, once the token is proven", async () => {
  const t = await scene();
  await t.worker("w1", "disabled");
  const wrong = { labels: { "engine.x": "1" } };
  const bound = await t.joinToken({ subject: "w1" });
  expect((await joining(t.server, "w1", "engine_jt_x", wrong)).status).toBe(401);
  expect((await joining(t.server, "w1", bound, wrong)).status).toBe(422);
  expect((await joining(t.server, "w1", bound)).status).toBe(403);
});

const TOKENS = "/admin/workers/join-tokens";

async function scene() {
  const server = await guardedServer();
  const admin = asking(server, server.adminKey);
  const bootstrap = readFileSync(join(server.home, "bootstrap-token"), "utf8").trim();
  return {
    server,
    admin,
    bootstrap,
    worker,
    principal,
    token,
    joinToken,
    credential,
    ...calls(server),
    isUsable,
  };

  async function worker(name: string, state: State): Promise<void> {
    if (state !== "new" && !(await principal(name))) await joining(server, name, bootstrap);
    if (state === "new") await admin("DELETE", `/admin/principals/${name}?force=true`);
    if (state === "disabled") await admin("POST", `/admin/principals/${name}/disable`);
    if (state === "banned") await admin("POST", `/admin/principals/${name}/ban`);
  }

  async function principal(name: string) {
    const { status, body } = await admin("GET", `/admin/principals/${name}`);
    if (status === 404) return undefined;
    const { id, enabled, banned, roles } = body;
    return { id, enabled, banned, roles };
  }

  async function joinToken(body: object): Promise<string> {
    return (await admin("POST", TOKENS, body)).body.token;
  }

  async function credential(name: string): Promise<string> {
    return (await joining(server, name, bootstrap)).body.credential.token;
  }

  async function token(shown: string): Promise<string> {
    if (shown === "the bootstrap token") return bootstrap;
    if (shown === "the credential of another worker") return credential("w2");
    if (shown === "an unbound join token") return joinToken({});
    const subject = shown === "a join token bound to the name" ? "w1" : "w9";
    return joinToken({ subject });
  }

  /** Whether a token still lets somebody in whom it is for. */
  async function isUsable(shown: string, shownToken: string): Promise<boolean> {
    if (shown === "a join token bound to the name") {
      for (const path of ["unban", "enable"]) await admin("POST", `/admin/principals/w1/${path}`);
      return (await joining(server, "w1", shownToken)).status < 300;
    }
    return (await joining(server, "w9", shownToken)).status < 300;
  }
}

function calls({ server }: GuardedServer) {
  const post = async (path: string, token: string, more: object = {}, body?: object) => {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${token}`,
        ...more,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  return {
    renew: (name: string, token: string) => post(`/workers/${name}/credential`, token),
    beat: (name: string, token: string, session: string) =>
      post(
        `/workers/${name}/heartbeat`,
        token,
        { "x-engine-worker-session": session },
        { running: [], slots_free: 1 },
      ) as Promise<{ status: number; body: { error: { code: string } } }>,
  };
}
