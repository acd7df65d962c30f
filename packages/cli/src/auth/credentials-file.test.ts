import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import type { Credential } from "./credential.ts";
import { CredentialsFile } from "./credentials-file.ts";
import type { LockTime } from "./file-lock.ts";
import { WaitingTime } from "./testing/waiting-time.ts";

const SERVER = "http://127.0.0.1:8000";
const key: Credential = { kind: "api_key", api_key: "engine_sk_abc_def" };
const login: Credential = {
  kind: "oidc",
  issuer: "https://id.example",
  client_id: "engine-cli",
  access_token: "a.b.c",
  refresh_token: "r",
  expires_at: 1_800_000_000_000,
};

const REAL_TIME: LockTime = {
  clock: Date.now,
  setTimer(run, ms) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

function credentialsIn(
  files: Readonly<Record<string, string>> = {},
  time: LockTime = new WaitingTime(),
) {
  const { path: home, remove } = temporaryFolder(files);
  onTestFinished(remove);
  const credentials = new CredentialsFile({ home, ...time });
  return { home, credentials, folder: join(home, ".engine") };
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("AUTH-60 what was stored for a server is found again, by its address however that is written", async () => {
  const { credentials } = credentialsIn();
  expect(await credentials.read(SERVER)).toBeUndefined();
  await credentials.save(`${SERVER}/`, key);
  await credentials.save("https://Engine.Example:443/base/", login);
  expect(await credentials.read(SERVER)).toEqual(key);
  expect(await credentials.read("HTTPS://engine.example/base")).toEqual(login);
  expect(await credentials.read("https://engine.example")).toBeUndefined();
  expect(await credentials.read("http://127.0.0.1:8001")).toBeUndefined();
  expect(Object.keys(JSON.parse(readFileSync(credentials.path, "utf8")))).toEqual([
    SERVER,
    "https://engine.example/base",
  ]);
});

test("AUTH-60 the file is ~/.engine/credentials.json, for its owner alone, and nothing lies beside it", async () => {
  const { home, credentials, folder } = credentialsIn();
  await credentials.save(SERVER, key);
  expect(credentials.path).toBe(join(home, ".engine", "credentials.json"));
  expect(modeOf(credentials.path)).toBe("600");
  expect(modeOf(folder)).toBe("700");
  expect(readdirSync(folder)).toEqual(["credentials.json"]);
});

test("AUTH-60 a file or folder that others may read is closed to them", async () => {
  const { credentials, folder } = credentialsIn();
  mkdirSync(folder);
  writeFileSync(credentials.path, JSON.stringify({ [SERVER]: key }));
  chmodSync(folder, 0o755);
  chmodSync(credentials.path, 0o644);
  expect(await credentials.read(SERVER)).toEqual(key);
  expect(modeOf(credentials.path)).toBe("600");
  await credentials.save(SERVER, login);
  expect(modeOf(folder)).toBe("700");
});

test("AUTH-60 a server that is forgotten leaves the others, and those that a later version wrote", async () => {
  const other = { kind: "passkey", id: 7 };
  const { credentials } = credentialsIn({
    ".engine/credentials.json": JSON.stringify({ [SERVER]: key, "http://b": other }),
  });
  await credentials.save("http://c", login);
  expect(await credentials.remove(SERVER)).toBe(true);
  expect(await credentials.remove(SERVER)).toBe(false);
  expect(JSON.parse(readFileSync(credentials.path, "utf8"))).toEqual({
    "http://b": other,
    "http://c": login,
  });
});

test("AUTH-60 many that store at once all keep what they stored", async () => {
  // By the real clock: time that only waiting moves on would call a lock old whose holder waits for the disk.
  const { credentials } = credentialsIn({}, REAL_TIME);
  const servers = Array.from({ length: 20 }, (_, n) => `http://127.0.0.1:${8000 + n}`);
  await Promise.all(servers.map((server) => credentials.save(server, key)));
  expect(Object.keys(JSON.parse(readFileSync(credentials.path, "utf8"))).sort()).toEqual(servers);
});

test.each(["", "{", "[]", "null", '"engine_sk_s3cret"', "\0"])(
  "AUTH-60 a file that is no JSON object is told by its path, without what it holds, and is not overwritten: %j",
  async (text) => {
    const { credentials } = credentialsIn({ ".engine/credentials.json": text });
    const refused = expect.objectContaining({
      code: "invalid_input",
      message: `${credentials.path} cannot be used: it is not a JSON object; remove the file and log in again`,
    });
    await expect(credentials.read(SERVER)).rejects.toEqual(refused);
    await expect(credentials.save(SERVER, key)).rejects.toEqual(refused);
    expect(readFileSync(credentials.path, "utf8")).toBe(text);
  },
);

test.each([
  null,
  "engine_sk_s3cret",
  {},
  { kind: "api_key" },
  { kind: "api_key", api_key: "" },
  { ...login, refresh_token: 7 },
  { ...login, refresh_token: undefined },
  { ...login, expires_at: "2026" },
  { ...login, issuer: undefined },
])(
  "AUTH-60 an entry that is no credential is an error, not somebody who has not logged in: %j",
  async (entry) => {
    const { credentials } = credentialsIn({
      ".engine/credentials.json": JSON.stringify({ [SERVER]: entry }),
    });
    await expect(credentials.read(SERVER)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.not.stringContaining("s3cret"),
    });
    await credentials.save(SERVER, login);
    expect(await credentials.read(SERVER)).toEqual(login);
  },
);

test("AUTH-60 a login without a refresh token and without an end is one", async () => {
  const { credentials } = credentialsIn();
  const lasting = { ...login, refresh_token: null, expires_at: null };
  await credentials.save(SERVER, lasting);
  expect(await credentials.read(SERVER)).toEqual(lasting);
});
