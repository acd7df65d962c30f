import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { EngineError } from "@engine/contract";
import { openPostgresStore, openSqliteStore, type Store } from "@engine/store";
import { startTestPostgres } from "@engine/store/test-postgres";
import { expect, onTestFinished, test } from "vitest";
import { homeFolder } from "../auth/testing/guarded-server.ts";
import { keyId, keyText, refused, secretServer } from "./testing/secret-server.ts";

async function emptyStore(): Promise<Store> {
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  onTestFinished(() => store.close());
  return store;
}

/** Starts and stops a server with keys, which keeps a secret where it is asked to. */
async function served(
  store: Store,
  encryption: object,
  { keeps, auth = { enabled: true } }: { keeps?: string; auth?: object } = {},
): Promise<readonly string[]> {
  try {
    const { server, send } = await secretServer({ store, auth, security: { encryption } });
    if (keeps) {
      const put = await send("PUT", `/admin/secrets/${keeps}`, { value: "long enough" });
      expect(put.status).toBe(201);
    }
    await server.close();
    return [];
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.message.split("\n");
  }
}

const named = (keys: Readonly<Record<string, number>>, primary: string) => ({
  keys: Object.fromEntries(Object.entries(keys).map(([id, fill]) => [id, keyText(fill)])),
  primary,
});

test("AUTH-3 all that is wrong with keys is told at once, before anybody is served", async () => {
  const store = await emptyStore();
  const found = await served(store, { key: "c2hvcnQ=", key_file: "/nowhere", primary: "a" });
  expect(found).toEqual([
    expect.stringMatching(/encryption\.key and .*encryption\.key_file: only one/),
    expect.stringMatching(/encryption\.primary: names a key of/),
    expect.stringMatching(/encryption\.key: expected base64 of 32 bytes/),
    expect.stringMatching(/encryption\.key_file: \/nowhere cannot be read/),
  ]);
  expect(await served(store, named({ a: 1 }, "b"))).toEqual([
    expect.stringMatching(/encryption\.primary: .* has no key b, only a/),
  ]);
});

test("SEC-1 AUTH-3 another key under an id that is known is refused, whatever is stored under it", async () => {
  const store = await emptyStore();
  expect(await served(store, named({ a: 1, b: 2 }, "a"))).toEqual([]);
  expect(await served(store, named({ a: 1, b: 2 }, "b"))).toEqual([]);
  expect(await served(store, named({ a: 3, c: 4 }, "c"))).toEqual([
    expect.stringMatching(/encryption\.keys\.a: is another key than the one that the database/),
  ]);
  expect(await served(store, named({ c: 4 }, "c"))).toEqual([]);
  expect(await served(store, named({ a: 1, c: 4 }, "c"))).toEqual([]);
});

test.each([{ enabled: true }, {}])(
  "AUTH-3 a key that something is sealed with cannot be left out (authorization: %j)",
  async (auth) => {
    const store = await emptyStore();
    expect(await served(store, { key: keyText(1) }, { keeps: "db", auth })).toEqual([]);
    const missing = new RegExp(
      `1 data key is wrapped with key ${keyId(1)}, and the configuration has only b: add it to keys`,
    );
    expect(await served(store, named({ b: 2 }, "b"), { auth })).toEqual([
      expect.stringMatching(missing),
    ]);
    const both = named({ [keyId(1)]: 1, b: 2 }, "b");
    expect(await served(store, both, { auth })).toEqual([]);
  },
);

test("SEC-1 on SQLite the key beside the database is made when it is needed, and found again", async () => {
  const home = homeFolder();
  const store = await emptyStore();
  const path = join(home, "encryption-key");
  const first = await secretServer({ store, home, auth: {}, security: { encryption: {} } });
  await first.send("PUT", "/admin/configs/a", { value: 1 });
  expect(existsSync(path)).toBe(false);
  await first.send("PUT", "/admin/secrets/a", { value: "long enough" });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await first.server.close();
  const second = await secretServer({ store, home, security: { encryption: {} } });
  const read = await second.send("GET", "/admin/secrets/a");
  expect(read).toMatchObject({ status: 200, body: { value: "long enough" } });
});

test("SEC-1 with authorization on it is needed from the start", async () => {
  const home = homeFolder();
  await secretServer({ home, security: { encryption: {} } });
  expect(existsSync(join(home, "encryption-key"))).toBe(true);
});

test("SEC-1 no key is ever logged", async () => {
  const lines: string[] = [];
  const note = (fields: object, message: string) => {
    lines.push(JSON.stringify([fields, message]));
  };
  const log = { debug: note, info: note, warn: note, error: note };
  const { send } = await secretServer({ log });
  await send("PUT", "/admin/secrets/a", { value: "long enough" });
  await send("POST", "/admin/encryption/rotate");
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.join("\n")).not.toContain(keyText(1));
  expect(lines.join("\n")).not.toContain("long enough");
});

test("SEC-1 AUTH-3 servers that share a database need a key with authorization on, and without it for what is secret", async () => {
  const postgres = await startTestPostgres();
  onTestFinished(() => postgres.stop());
  const store = await openPostgresStore({ url: await postgres.createDatabase(), clock: Date.now });
  onTestFinished(() => store.close());
  expect(await served(store, {})).toEqual([
    expect.stringMatching(/with authorization on, servers that share a database need a key/),
  ]);
  const { send, server } = await secretServer({ store, auth: {}, security: { encryption: {} } });
  expect(await send("PUT", "/admin/secrets/a", { value: "long enough" })).toMatchObject(
    refused(503, "encryption_unavailable"),
  );
  for (const [method, path] of [
    ["GET", "/admin/encryption"],
    ["POST", "/admin/encryption/rotate"],
  ] as const) {
    expect(await send(method, path)).toMatchObject(refused(503, "encryption_unavailable"));
  }
  expect((await send("PUT", "/admin/configs/a", { value: 1 })).status).toBe(201);
  await server.close();
  expect(await served(store, { key: keyText(1) }, { keeps: "a" })).toEqual([]);
  expect(await served(store, {}, { auth: {} })).toEqual([
    expect.stringMatching(/1 data key is wrapped with key .* the configuration has none at all/),
  ]);
}, 60_000);
