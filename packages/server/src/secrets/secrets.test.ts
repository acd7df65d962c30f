import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { TestEngine } from "../testing/start-engine.ts";
import { CALL, testRing } from "./testing/rings.ts";
import { keyId, refused, secretServer } from "./testing/secret-server.ts";

const SECRETS = "/admin/secrets";
const CONFIGS = "/admin/configs";
const RING = testRing("k1");
const VALUE = { user: "engine", password: "correct horse battery" };

test("SEC-4 a secret from its first value to its end", async () => {
  const { send } = await secretServer();
  const path = `${SECRETS}/db.main@eu`;
  const created = await send("PUT", path, { value: VALUE, description: "of the shop" });
  expect(created.status).toBe(201);
  const record = {
    ...{ name: "db.main@eu", version: 1, description: "of the shop", unmasked: false },
    ...{ masked_values: 1, key_id: keyId(1), updated_by: "admin" },
    ...{ created_at: expect.any(String), updated_at: expect.any(String) },
  };
  expect(created.body).toEqual(record);
  const listed = await send("GET", SECRETS);
  expect(listed.body).toEqual({
    ...{ items: [record], total: 1, limit: 100, offset: 0, auth_filtered: false },
  });
  expect((await send("GET", path)).body).toEqual({ ...record, value: VALUE });

  const changed = await send("PUT", path, { value: "another password" });
  expect(changed).toMatchObject({ status: 200, body: { version: 2, description: "of the shop" } });
  const cleared = await send("PUT", path, { value: "another password", description: null });
  expect(cleared).toMatchObject({ status: 200, body: { version: 3, description: null } });
  expect((await send("GET", path)).body.value).toBe("another password");

  expect((await send("DELETE", path)).status).toBe(204);
  for (const method of ["GET", "DELETE"] as const) {
    expect(await send(method, path)).toMatchObject(refused(404, "not_found"));
  }
  expect((await send("GET", SECRETS)).body).toMatchObject({ items: [], total: 0 });
});

test.each([SECRETS, CONFIGS])("SEC-4 %s: who knows an old version changes nothing", async (at) => {
  const { send } = await secretServer();
  const put = (if_version: number) =>
    send("PUT", `${at}/a`, { value: `value number ${if_version}`, if_version });
  expect(await put(1)).toMatchObject(refused(409, "conflict", { version: null }));
  expect((await put(0)).status).toBe(201);
  expect(await put(0)).toMatchObject(refused(409, "conflict", { version: 1 }));
  expect((await put(1)).status).toBe(200);
  expect(await put(1)).toMatchObject(refused(409, "conflict", { version: 2 }));
  expect((await send("GET", `${at}/a`)).body).toMatchObject({ value: "value number 1" });
});

test.each([SECRETS, CONFIGS])("SEC-4 %s: of those that write at once all do", async (at) => {
  const { send } = await secretServer();
  const puts = ["one", "two", "three", "four", "five"].map((word) =>
    send("PUT", `${at}/a`, { value: `the word is ${word}` }),
  );
  const answers = await Promise.all(puts);
  expect(answers.map(({ body }) => body.version).toSorted()).toEqual([1, 2, 3, 4, 5]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 201]);
  const last = answers.findIndex(({ body }) => body.version === 5);
  const { value } = (await send("GET", `${at}/a`)).body;
  expect(value).toBe(`the word is ${["one", "two", "three", "four", "five"][last]}`);
});

test.each([SECRETS, CONFIGS])("SEC-4 %s: names and values have bounds", async (at) => {
  const { send } = await secretServer();
  for (const name of ["-a", ".a", "a b", "a%2Fb", "a:b", "a".repeat(129), "%C3%BC"]) {
    expect(await send("PUT", `${at}/${name}`, { value: "long enough" })).toMatchObject(
      refused(422, "invalid_input", {
        issues: [{ path: "params.name", message: expect.stringContaining("must be a name") }],
      }),
    );
  }
  for (const body of [{ value: null }, {}, { value: "long enough", extra: 1 }, "long enough"]) {
    expect(await send("PUT", `${at}/a`, body)).toMatchObject(refused(422, "invalid_input"));
  }
  const quotes = 2;
  const limit_bytes = 65_536;
  const most = "ü".repeat((limit_bytes - quotes) / 2);
  expect((await send("PUT", `${at}/a`, { value: most })).status).toBe(201);
  expect(await send("PUT", `${at}/a`, { value: `${most}a` })).toMatchObject(
    refused(413, "payload_too_large", { limit_bytes }),
  );
  expect((await send("GET", `${at}/a`)).body).toMatchObject({ version: 1, value: most });
  for (const value of [false, 0, "", [], {}, [null, { a: [1.5, null] }]]) {
    expect((await send("PUT", `${at}/a`, { value, ...(at === SECRETS && UNMASKED) })).status).toBe(
      200,
    );
    expect((await send("GET", `${at}/a`)).body.value).toEqual(value);
  }
});

const UNMASKED = { unmasked: true };

test.each(["short", 1_234_567, true, {}, ["a", { b: "seven77" }]])(
  "SEC-5 %j cannot be masked, and is kept only by whoever says that it need not be",
  async (value) => {
    const { send } = await secretServer();
    const path = `${SECRETS}/pin`;
    expect(await send("PUT", path, { value })).toMatchObject(refused(422, "secret_too_short"));
    expect((await send("GET", path)).status).toBe(404);
    const kept = await send("PUT", path, { value, unmasked: true });
    expect(kept).toMatchObject({ status: 201, body: { unmasked: true, masked_values: 0 } });
    // What is said once does not hold for the next value.
    expect(await send("PUT", path, { value })).toMatchObject(refused(422, "secret_too_short"));
  },
);

test("SEC-5 a secret says how many of its values are masked", async () => {
  const { send } = await secretServer();
  const value = { a: "12345678", b: [12_345_678, "short", "87654321"], c: "12345678" };
  expect((await send("PUT", `${SECRETS}/a`, { value })).body).toMatchObject({ masked_values: 2 });
});

test("SEC-2 nothing that is stored of a secret has its value in it", async () => {
  const { send, store } = await secretServer();
  await send("PUT", `${SECRETS}/a`, { value: "first password", description: "d" });
  await send("PUT", `${SECRETS}/a`, { value: "second password" });
  const audit = await store.audit.list({ limit: 100, offset: 0 });
  const stored = [await store.secrets.find("a"), await store.masks.list(), audit];
  const text = JSON.stringify(stored);
  expect(text).not.toContain("password");
  expect(text).not.toContain(Buffer.from("password").toString("base64").slice(0, 8));
  expect(await store.masks.list()).toHaveLength(2);
});

test("SEC-2 a row that somebody moves to another name, or another version, does not open", async () => {
  const { send, store } = await secretServer();
  await send("PUT", `${SECRETS}/a`, { value: "the password of a" });
  const row = (await store.secrets.find("a")) ?? expect.unreachable("it was put");
  const { created_at: _, updated_at: __, ...moved } = row;
  await store.secrets.put({ ...moved, name: "b", unmasked: true }, { current_version: null });
  const read = await send("GET", `${SECRETS}/b`);
  expect(read).toMatchObject(refused(503, "encryption_unavailable"));
  expect(read.text).not.toContain("password");
  expect((await send("GET", `${SECRETS}/a`)).status).toBe(200);
});

test("AUD-2 the audit log says who wrote, read and deleted a secret, and never what it is", async () => {
  const { send, store } = await secretServer();
  const path = `${SECRETS}/a`;
  await send("PUT", path, { value: "the password" });
  await send("GET", SECRETS);
  await send("GET", path);
  await send("GET", `${SECRETS}/other`);
  await send("PUT", path, { value: "the password", if_version: 9 });
  await send("DELETE", path);
  await send("PUT", `${CONFIGS}/c`, { value: "plain" });
  await send("GET", `${CONFIGS}/c`);
  await send("DELETE", `${CONFIGS}/c`);
  await send("POST", "/admin/encryption/rotate");
  const { items } = await store.audit.list({ limit: 100, offset: 0 });
  const said = items.map(({ action, actor, target, decision }) => {
    return `${action} ${target} ${actor?.subject} ${decision}`;
  });
  expect(said.toReversed()).toEqual([
    "secrets.put a admin allow",
    "secrets.get a admin allow",
    "secrets.delete a admin allow",
    "configs.put c admin allow",
    "configs.delete c admin allow",
    `encryption.rotate ${keyId(1)} admin allow`,
  ]);
  expect(JSON.stringify(items)).not.toMatch(/the password|plain/);
});

test("AUD-3 a secret whose reading cannot be written down is not read", async () => {
  await using engine = await TestEngine.start({}, { ports: { ring: RING } });
  const { secrets } = engine.engine;
  await secrets.put("a", { value: "long enough", unmasked: false }, CALL);
  engine.failing.add("audit.add");
  await expect(secrets.get("a", CALL)).rejects.toMatchObject({ code: "unavailable" });
  engine.failing.delete("audit.add");
  expect(await secrets.get("a", CALL)).toMatchObject({ value: "long enough" });
});

test("SEC-1 without a key nothing secret is kept, read or rotated, and what is plain is", async () => {
  await using engine = await TestEngine.start({}, { ports: { ring: undefined } });
  const { secrets, configs, keyRotation } = engine.engine;
  const asked = [
    () => secrets.put("a", { value: "long enough", unmasked: false }, CALL),
    () => keyRotation.status(),
    () => keyRotation.rotate(CALL),
  ];
  for (const ask of asked) {
    await expect(ask()).rejects.toSatisfy(
      (error) => error instanceof EngineError && error.code === "encryption_unavailable",
    );
  }
  expect(await configs.put("a", { value: "x" }, CALL)).toMatchObject({ isNew: true });
  await expect(secrets.get("a", CALL)).rejects.toMatchObject({ code: "not_found" });
});

test("SEC-6 tasks get the values of those that there are", async () => {
  await using engine = await TestEngine.start({}, { ports: { ring: RING } });
  const { secrets, configs } = engine.engine;
  await secrets.put("a", { value: { deep: ["long enough"] }, unmasked: false }, CALL);
  await secrets.put("b", { value: 7, unmasked: true }, CALL);
  await configs.put("a", { value: "plain" }, CALL);
  expect(await secrets.values(["b", "a", "c"])).toEqual(
    new Map<string, unknown>([
      ["a", { deep: ["long enough"] }],
      ["b", 7],
    ]),
  );
  expect(await configs.values(["a", "b"])).toEqual(new Map([["a", "plain"]]));
  expect(await engine.store.audit.list({ limit: 10, offset: 0 })).toMatchObject({ total: 3 });
});

test("SEC-4 a configuration value from its first to its last", async () => {
  const { send } = await secretServer();
  const path = `${CONFIGS}/region`;
  const created = await send("PUT", path, { value: { eu: true }, description: "where" });
  const record = {
    ...{ name: "region", version: 1, description: "where", updated_by: "admin" },
    ...{ created_at: expect.any(String), updated_at: expect.any(String) },
  };
  expect([created.status, created.body]).toEqual([201, record]);
  expect((await send("GET", CONFIGS)).body).toEqual({
    ...{ items: [record], total: 1, limit: 100, offset: 0, auth_filtered: false },
  });
  expect((await send("GET", path)).body).toEqual({ ...record, value: { eu: true } });
  expect(await send("PUT", path, { value: 1 })).toMatchObject({
    ...{ status: 200, body: { version: 2, description: "where" } },
  });
  expect((await send("DELETE", path)).status).toBe(204);
  expect(await send("GET", path)).toMatchObject(refused(404, "not_found"));
  expect(await send("DELETE", path)).toMatchObject(refused(404, "not_found"));
});
