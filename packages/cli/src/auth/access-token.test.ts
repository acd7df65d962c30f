import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { type AccessTokenOptions, accessToken } from "./access-token.ts";
import type { StoredLogin } from "./credential.ts";
import { CredentialsFile } from "./credentials-file.ts";
import { deviceLogin } from "./device-login.ts";
import { CLIENT_ID, type DeviceProvider, startDeviceProvider } from "./testing/device-provider.ts";
import { WaitingTime } from "./testing/waiting-time.ts";

const SERVER = "http://127.0.0.1:8000";
const SECOND = 1000;

type Send = AccessTokenOptions["fetch"];

function somebody() {
  const { path: home, remove } = temporaryFolder({});
  onTestFinished(remove);
  const time = new WaitingTime();
  // Who waits for the lock asks again and again; that moves no clock here.
  const setTimer = (run: () => void) => {
    setImmediate(run);
    return () => {};
  };
  const credentials = new CredentialsFile({ home, clock: time.clock, setTimer });
  const token = (send: Send = fetch) =>
    accessToken(SERVER, { credentials, fetch: send, clock: time.clock });
  return { home, time, credentials, token };
}

/** Somebody who is logged in at the provider, for 600 seconds. */
async function loggedIn(provider: DeviceProvider) {
  const ada = somebody();
  const told: string[] = [];
  const during = new WaitingTime(() => {
    return provider.approve(/[A-Z]{4}-[A-Z]{4}/.exec(told.join(""))?.[0] ?? "");
  });
  const login = await deviceLogin({
    server_url: SERVER,
    issuer: provider.issuer,
    client_id: CLIENT_ID,
    credentials: ada.credentials,
    fetch,
    err: { write: (line) => void told.push(line) },
    clock: during.clock,
    setTimer: during.setTimer,
  });
  return { ...ada, login, expires_at: login.expires_at ?? expect.unreachable("it has an end") };
}

const nowhere: Send = () => expect.unreachable("nothing has to be asked");

test("AUTH-60 who has not logged in sends nothing, and a stored key is sent as it is", async () => {
  const { credentials, token } = somebody();
  expect(await token(nowhere)).toBeUndefined();
  await credentials.save(SERVER, { kind: "api_key", api_key: "engine_sk_abc_def" });
  expect(await token(nowhere)).toBe("engine_sk_abc_def");
  await credentials.save("http://127.0.0.1:8001", { kind: "api_key", api_key: "other" });
  expect(await token(nowhere)).toBe("engine_sk_abc_def");
});

test("AUTH-61 the access token serves until 30 seconds before it expires, then is refreshed, and the new refresh token is kept", async () => {
  await using provider = await startDeviceProvider();
  const { login, expires_at, time, token, credentials } = await loggedIn(provider);
  time.now = expires_at - 30 * SECOND - 1;
  expect(await token(nowhere)).toBe(login.access_token);
  time.now += 1;
  const second = await token();
  expect(second).not.toBe(login.access_token);
  const kept = (await credentials.read(SERVER)) as StoredLogin;
  expect(kept).toMatchObject({ access_token: second, issuer: provider.issuer });
  expect(kept.refresh_token).not.toBe(login.refresh_token);
  // Each refresh token serves once: a second refresh only works with the one that was kept.
  time.now = (kept.expires_at ?? 0) + 3600 * SECOND;
  expect(await token()).toEqual(expect.any(String));
  expect(provider.grants.filter((grant) => grant === "refresh_token")).toHaveLength(2);
});

test("AUTH-61 the new refresh token is on disk before the new access token is used", async () => {
  await using provider = await startDeviceProvider();
  const { login, expires_at, time, credentials, token } = await loggedIn(provider);
  time.now = expires_at;
  const order: string[] = [];
  const kept = token().then(async (fresh) => {
    const stored = (await credentials.read(SERVER)) as StoredLogin;
    order.push(stored.access_token === fresh ? "kept" : "lost");
    return stored.refresh_token;
  });
  expect(await kept).not.toBe(login.refresh_token);
  expect(order).toEqual(["kept"]);
});

test("AUTH-61 calls that refresh at once refresh once", async () => {
  await using provider = await startDeviceProvider();
  const { expires_at, time, token } = await loggedIn(provider);
  time.now = expires_at;
  const tokens = await Promise.all(Array.from({ length: 8 }, () => token()));
  expect(new Set(tokens).size).toBe(1);
  expect(provider.grants.filter((grant) => grant === "refresh_token")).toHaveLength(1);
});

test("AUTH-61 processes that refresh at once refresh once", async () => {
  await using provider = await startDeviceProvider();
  const { expires_at, home, login } = await loggedIn(provider);
  const program = `
    import { accessToken } from ${JSON.stringify(fileUrl("./access-token.ts"))};
    import { CredentialsFile } from ${JSON.stringify(fileUrl("./credentials-file.ts"))};
    const [home, server, now] = process.argv.slice(1);
    const clock = () => Number(now);
    const setTimer = (run, ms) => { const timer = setTimeout(run, ms); return () => clearTimeout(timer); };
    const credentials = new CredentialsFile({ home, clock, setTimer });
    process.stdout.write(await accessToken(server, { credentials, fetch, clock }));
  `;
  const print = async () => {
    const words = ["--conditions=@engine/source", "--input-type=module", "-e", program];
    const child = spawn(process.execPath, [...words, home, SERVER, String(expires_at)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    return text(child.stdout);
  };
  const tokens = await Promise.all([print(), print(), print()]);
  expect(new Set(tokens).size).toBe(1);
  expect(tokens[0]).not.toBe(login.access_token);
  expect(tokens[0]?.split(".")).toHaveLength(3);
  expect(provider.grants.filter((grant) => grant === "refresh_token")).toHaveLength(1);
});

test("AUTH-61 a refresh that the provider refuses forgets the login and asks to log in", async () => {
  await using provider = await startDeviceProvider();
  const { expires_at, time, token, credentials, login } = await loggedIn(provider);
  await credentials.save("http://other", { kind: "api_key", api_key: "k" });
  await provider.revokeAll();
  time.now = expires_at - 10 * SECOND;
  const error = await token().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: "unauthenticated",
    message: expect.stringMatching(
      /^the login for http:\/\/127\.0\.0\.1:8000 has ended \(invalid_grant.*\); log in again: npx engine auth login$/,
    ),
  });
  expect(String(error)).not.toContain(login.refresh_token);
  expect(await credentials.read(SERVER)).toBeUndefined();
  expect(await credentials.read("http://other")).toBeDefined();
  expect(await token(nowhere)).toBeUndefined();
});

test("AUTH-61 while the provider is away a token serves to its end, then an error says so and the login is kept", async () => {
  await using provider = await startDeviceProvider();
  const { expires_at, time, token, credentials, login } = await loggedIn(provider);
  const away: Send = async () => {
    throw new TypeError("fetch failed", {
      cause: Object.assign(new Error(), { code: "ECONNREFUSED" }),
    });
  };
  time.now = expires_at - 1;
  expect(await token(away)).toBe(login.access_token);
  time.now = expires_at;
  await expect(token(away)).rejects.toMatchObject({
    code: "auth_unavailable",
    message: `the OpenID provider ${provider.issuer} cannot be reached (ECONNREFUSED)`,
  });
  expect(await credentials.read(SERVER)).toEqual(login);
  expect(await token()).not.toBe(login.access_token);
});

test("AUTH-61 without a refresh token the access token serves until it expires, then asks to log in", async () => {
  await using provider = await startDeviceProvider({ refreshes: false });
  const { expires_at, time, token, credentials, login } = await loggedIn(provider);
  time.now = expires_at - 1;
  expect(await token(nowhere)).toBe(login.access_token);
  time.now = expires_at;
  await expect(token(nowhere)).rejects.toMatchObject({
    code: "unauthenticated",
    message: expect.stringContaining("has ended (it has expired); log in again"),
  });
  expect(await credentials.read(SERVER)).toBeUndefined();
});

test.each([
  ["502", () => new Response("<html>", { status: 502 })],
  [
    "an error that passes",
    () => Response.json({ error: "temporarily_unavailable" }, { status: 503 }),
  ],
  ["what is no token", () => Response.json({ access_token: 7 })],
])(
  "AUTH-61 a provider that answers a refresh with %s has ended nothing: the login is kept",
  async (_, tokens) => {
    const { time, token, credentials } = somebody();
    const login: StoredLogin = {
      kind: "oidc",
      issuer: "https://id.example",
      client_id: CLIENT_ID,
      access_token: "first",
      refresh_token: "r1",
      expires_at: time.now,
    };
    await credentials.save(SERVER, login);
    const answer: Send = async (url) =>
      url.endsWith("openid-configuration")
        ? Response.json({ issuer: login.issuer, token_endpoint: `${login.issuer}/token` })
        : tokens();
    await expect(token(answer)).rejects.toMatchObject({ code: "auth_unavailable" });
    expect(await credentials.read(SERVER)).toEqual(login);
  },
);

test("AUTH-61 a provider that gives no other refresh token with the new access token has the old one kept", async () => {
  const { time, token, credentials } = somebody();
  const login: StoredLogin = {
    kind: "oidc",
    issuer: "https://id.example",
    client_id: CLIENT_ID,
    access_token: "first",
    refresh_token: "r1",
    expires_at: time.now,
  };
  await credentials.save(SERVER, login);
  const answer: Send = async (url) =>
    url.endsWith("openid-configuration")
      ? Response.json({ issuer: login.issuer, token_endpoint: `${login.issuer}/token` })
      : Response.json({ access_token: "second", token_type: "Bearer", expires_in: 60 });
  expect(await token(answer)).toBe("second");
  expect(await credentials.read(SERVER)).toEqual({
    ...login,
    access_token: "second",
    expires_at: time.now + 60 * SECOND,
  });
});

test("AUTH-61 who logs out while a refresh waits for its turn stays logged out", async () => {
  const { time, token, credentials } = somebody();
  await credentials.save(SERVER, {
    kind: "oidc",
    issuer: "https://id.example",
    client_id: CLIENT_ID,
    access_token: "first",
    refresh_token: "r1",
    expires_at: time.now,
  });
  const waiting = await credentials.exclusively(async (held) => {
    const result = token(nowhere);
    await held.remove(SERVER);
    return { result };
  });
  expect(await waiting.result).toBeUndefined();
});

function fileUrl(path: string): string {
  return pathToFileURL(`${import.meta.dirname}/${path}`).href;
}
