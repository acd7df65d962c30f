/* What operators say of workers over HTTP: metadata and granted services. */
import { Config, type InputIssue } from "@engine/contract";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { asking } from "../auth/testing/asking.ts";
import { guardedServer } from "../auth/testing/guarded-server.ts";
import { joining } from "../auth/testing/joining-worker.ts";
import { startServer } from "../server.ts";
import { ScriptedWorker } from "../testing/scripted-worker.ts";
import { silent } from "../testing/start-engine.ts";

/** A server without authorization, with a worker `w` that offers two services. */
async function scene() {
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  const config = Config.parse({ server: { port: 0 } });
  const server = await startServer({ config, store, log: silent, version: "0" });
  onTestFinished(async () => {
    await server.close();
    await store.close();
  });
  const worker = new ScriptedWorker("w", server.workers, Date.now);
  await worker.register({ services: ["inference", "cache"], labels: { zone: "eu" } });
  await worker.connect();

  /** @param body JSON text as it stands, or what becomes one. */
  async function ask(method: string, path: string, body?: unknown) {
    const response = await fetch(server.url + path, {
      method,
      ...(body !== undefined && {
        headers: { "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : undefined };
  }
  const metadata = async () => (await ask("GET", METADATA)).body.metadata;
  const audited = async () =>
    (await store.audit.list({ limit: 100, offset: 0 })).items.map(({ action, target }) => {
      return `${action} ${target}`;
    });
  return { server, store, worker, ask, metadata, audited };
}

const METADATA = "/admin/workers/w/metadata";
const SERVICES = "/admin/workers/w/services";

test("WMD-1 metadata is merged, replaced, read, and removed key by key or altogether", async () => {
  const { ask, metadata, audited } = await scene();
  expect(await ask("GET", METADATA)).toEqual({ status: 200, body: { metadata: {} } });
  const put = (body: object) => ask("PUT", METADATA, body);
  const first = { zone: "a b", tier: 2, "cost.hour": 0.25 };
  expect(await put({ metadata: first })).toEqual({ status: 200, body: { metadata: first } });
  const merged = { ...first, tier: "gold" };
  expect(await put({ metadata: { tier: "gold" }, replace: false })).toMatchObject({
    body: { metadata: merged },
  });
  expect(await metadata()).toEqual(merged);
  expect(await ask("DELETE", `${METADATA}/cost.hour`)).toEqual({ status: 204, body: undefined });
  expect((await ask("DELETE", `${METADATA}/cost.hour`)).status).toBe(204);
  expect(await metadata()).toEqual({ zone: "a b", tier: "gold" });
  expect(await put({ metadata: { only: -1 }, replace: true })).toMatchObject({
    body: { metadata: { only: -1 } },
  });
  expect((await ask("DELETE", METADATA)).status).toBe(204);
  expect((await ask("DELETE", METADATA)).status).toBe(204);
  expect(await metadata()).toEqual({});
  expect(await audited()).toEqual([
    "workerAttributes.clearMetadata w",
    "workerAttributes.putMetadata w",
    "workerAttributes.removeMetadata w",
    "workerAttributes.putMetadata w",
    "workerAttributes.putMetadata w",
  ]);
});

const many = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, i]));

test.each<readonly [string, unknown, string]>([
  ["a key with a space", { metadata: { "a b": 1 } }, "body.metadata.a b"],
  ["a key that ends with a dot", { metadata: { "a.": 1 } }, "body.metadata.a."],
  ["an empty key", { metadata: { "": 1 } }, "body.metadata."],
  ["a long key", { metadata: { ["k".repeat(65)]: 1 } }, `body.metadata.${"k".repeat(65)}`],
  ["a key of every object", '{"metadata":{"__proto__":1}}', "body.metadata.__proto__"],
  ["a boolean", { metadata: { ok: true } }, "body.metadata.ok"],
  ["null", { metadata: { ok: null } }, "body.metadata.ok"],
  ["an object", { metadata: { ok: {} } }, "body.metadata.ok"],
  ["a list", { metadata: { ok: [] } }, "body.metadata.ok"],
  ["a number that is not finite", '{"metadata":{"ok":1e999}}', "body.metadata.ok"],
  ["long text", { metadata: { ok: "x".repeat(257) } }, "body.metadata.ok"],
  ["a control character", { metadata: { ok: "a\nb" } }, "body.metadata.ok"],
  ["too many keys", { metadata: many(65) }, "body.metadata"],
  ["too many keys with those there are", { metadata: many(64) }, "body.metadata"],
  ["no metadata", {}, "body.metadata"],
  ["a list of metadata", { metadata: [] }, "body.metadata"],
  ["another field", { metadata: {}, merge: true }, "body.merge"],
  ["text for replace", { metadata: {}, replace: "true" }, "body.replace"],
])("WMD-1 %s is refused with its path, and nothing changes", async (_, body, path) => {
  const { ask, metadata, audited } = await scene();
  await ask("PUT", METADATA, { metadata: { kept: "yes" } });
  const refused = await ask("PUT", METADATA, body);
  expect(refused).toMatchObject({ status: 422, body: { error: { code: "invalid_input" } } });
  const issues: readonly InputIssue[] = refused.body.error.details.issues;
  expect(issues.map((issue) => issue.path)).toEqual([path]);
  expect(await metadata()).toEqual({ kept: "yes" });
  expect(await audited()).toHaveLength(1);
});

test("WMD-1 as much metadata as may be is taken", async () => {
  const { ask, metadata } = await scene();
  const most = { ...many(63), ["k".repeat(64)]: "ü".repeat(256) };
  expect((await ask("PUT", METADATA, { metadata: most })).status).toBe(200);
  expect(await metadata()).toEqual(most);
  expect((await ask("PUT", METADATA, { metadata: { k0: "" } })).status).toBe(200);
  expect((await ask("PUT", METADATA, { metadata: { one: "more" } })).status).toBe(422);
  const others = Object.fromEntries(Object.entries(most).map(([key, value]) => [`${key}x`, value]));
  delete others[`${"k".repeat(64)}x`];
  expect((await ask("PUT", METADATA, { metadata: others, replace: true })).status).toBe(200);
});

test("WMD-3 services are granted and taken back, offered or not; the label exists while both hold", async () => {
  const { ask, audited, worker } = await scene();
  const labels = async () => (await ask("GET", "/workers/w")).body.labels;
  expect(await ask("GET", SERVICES)).toEqual({
    ...{ status: 200, body: { offered: ["inference", "cache"], granted: [] } },
  });
  for (const service of ["inference", "inference", "search"]) {
    expect((await ask("PUT", `${SERVICES}/${service}`)).status).toBe(204);
  }
  expect((await ask("GET", SERVICES)).body.granted).toEqual(["inference", "search"]);
  const made = { zone: "eu", "engine.service.inference": "true" };
  expect(await labels()).toEqual(made);
  const listed = await ask("GET", "/workers?label=engine.service.inference%3Dtrue&label=zone%3Deu");
  expect(listed.body.items).toMatchObject([
    {
      ...{ name: "w", labels: made, metadata: {} },
      services: { offered: ["inference", "cache"], granted: ["inference", "search"] },
    },
  ]);
  for (const service of ["inference", "inference", "search"]) {
    expect((await ask("DELETE", `${SERVICES}/${service}`)).status).toBe(204);
  }
  expect(await labels()).toEqual({ zone: "eu" });
  expect(await audited()).toEqual([
    "workerAttributes.revokeService w",
    "workerAttributes.revokeService w",
    "workerAttributes.grantService w",
    "workerAttributes.grantService w",
  ]);
  expect(worker.heard).toEqual(["welcome", "services", "services"]);
});

test("WMD-2 of a worker that never registered nothing is said", async () => {
  const { ask, audited } = await scene();
  const asked = [
    ["PUT", "/metadata", { metadata: { a: 1 } }],
    ["GET", "/metadata"],
    ["DELETE", "/metadata"],
    ["DELETE", "/metadata/a"],
    ["GET", "/services"],
    ["PUT", "/services/inference"],
    ["DELETE", "/services/inference"],
  ] as const;
  for (const [method, rest, body] of asked) {
    const answered = await ask(method, `/admin/workers/nobody${rest}`, body);
    expect(answered, `${method} ${rest}`).toMatchObject({
      status: 404,
      body: { error: { code: "not_found", details: { resource: "worker" } } },
    });
  }
  expect(await audited()).toEqual([]);
});

test.each([
  ["PUT", `${SERVICES}/No`, "path.service"],
  ["PUT", `${SERVICES}/${"s".repeat(33)}`, "path.service"],
  ["DELETE", `${SERVICES}/a--b`, "path.service"],
  ["DELETE", `${METADATA}/a%20b`, "path.key"],
])("WMD-3 a name that none can have is refused: %s %s", async (method, url, path) => {
  const { ask } = await scene();
  const refused = await ask(method, url);
  expect(refused).toMatchObject({
    status: 422,
    body: { error: { code: "invalid_input", details: { issues: [{ path }] } } },
  });
});

test("WMD-1 a connected worker is not forgotten; with the name goes what was said of it", async () => {
  const { ask, worker, server } = await scene();
  await ask("PUT", METADATA, { metadata: { tier: "gold" } });
  await ask("PUT", `${SERVICES}/inference`);
  const refused = await ask("DELETE", "/admin/workers/w");
  expect(refused).toMatchObject({ status: 409, body: { error: { code: "worker_connected" } } });
  expect((await ask("GET", METADATA)).body).toEqual({ metadata: { tier: "gold" } });
  await server.workers.disconnect(worker.ref);
  expect((await ask("DELETE", "/admin/workers/w")).status).toBe(204);
  expect((await ask("GET", METADATA)).status).toBe(404);
  const again = new ScriptedWorker("w", server.workers, Date.now);
  await again.register({ services: ["inference"] });
  expect(await again.connect()).toMatchObject({ services: [] });
  expect((await ask("GET", METADATA)).body).toEqual({ metadata: {} });
});

test("WMD-3 WRK-5 no process makes a label of the engine's by itself, with authorization off or on", async () => {
  const { server } = await scene();
  const guarded = await guardedServer();
  const admin = asking(guarded, guarded.adminKey);
  const { token } = (await admin("POST", "/admin/workers/join-tokens", {})).body;
  const off = { ask: askOf(server.url) };
  const labels = { "engine.service.inference": "true" };
  for (const refused of [
    await joining(off, "fake", undefined, { labels }),
    await joining(guarded, "fake", token, { labels }),
  ]) {
    expect(refused).toMatchObject({ status: 422, body: { error: { code: "reserved_label" } } });
  }
  expect((await fetch(`${server.url}/workers/fake`)).status).toBe(404);
  expect((await admin("GET", "/workers/fake")).status).toBe(404);
});

test("WMD-3 AUTH-54 what a join token carries is granted when a worker comes with it", async () => {
  const server = await guardedServer();
  const admin = asking(server, server.adminKey);
  const made = { services: ["inference", "search"] };
  const { token, ...shown } = (await admin("POST", "/admin/workers/join-tokens", made)).body;
  expect(shown.services).toEqual(made.services);
  const joined = await joining(server, "w", token, { services: ["inference"] });
  expect(joined.status).toBe(201);
  expect((await admin("GET", "/admin/workers/w/services")).body).toEqual({
    ...{ offered: ["inference"], granted: ["inference", "search"] },
  });
  expect((await admin("GET", "/workers/w")).body.labels).toEqual({
    "engine.service.inference": "true",
  });
});

function askOf(url: string): Parameters<typeof joining>[0]["ask"] {
  return async (path, _, body) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url + path, {
      ...{ method: "POST", headers, body: JSON.stringify(body) },
    });
    return { status: response.status, body: await response.json(), headers: response.headers };
  };
}
