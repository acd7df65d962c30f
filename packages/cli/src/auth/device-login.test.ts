import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { CredentialsFile } from "./credentials-file.ts";
import { type DeviceLoginOptions, deviceLogin } from "./device-login.ts";
import { CLIENT_ID, startDeviceProvider } from "./testing/device-provider.ts";
import { WaitingTime } from "./testing/waiting-time.ts";

const SERVER = "http://127.0.0.1:8000";
const ISSUER = "https://id.example";
const USER_CODE = /^ {2}([A-Z]{4}-[A-Z]{4})$/m;

/** Somebody at a terminal who logs in. */
function person(
  parts: Partial<DeviceLoginOptions> & Pick<DeviceLoginOptions, "issuer">,
  during: (waits: number, code: string) => unknown = () => {},
) {
  const { path: home, remove } = temporaryFolder({});
  onTestFinished(remove);
  const told: string[] = [];
  const opened: string[] = [];
  const code = () => USER_CODE.exec(told.join(""))?.[1] ?? "";
  const time = new WaitingTime((waits) => during(waits, code()));
  const credentials = new CredentialsFile({ home, ...time });
  const login = () =>
    deviceLogin({
      server_url: SERVER,
      client_id: CLIENT_ID,
      credentials,
      fetch,
      err: { write: (text) => void told.push(text) },
      openBrowser: (url) => void opened.push(url),
      clock: time.clock,
      setTimer: time.setTimer,
      ...parts,
    });
  return { login, told: () => told.join(""), opened, time, credentials, home };
}

test("AUTH-61 a user who enters the code at a real provider is logged in, and the tokens are kept for the server", async () => {
  await using provider = await startDeviceProvider();
  const { issuer } = provider;
  const ada = person({ issuer }, (waits, code) => waits === 3 && provider.approve(code));
  const login = await ada.login();
  expect(login).toMatchObject({ kind: "oidc", issuer, client_id: CLIENT_ID });
  expect(login.refresh_token).toEqual(expect.any(String));
  expect(claimsOf(login.access_token)).toMatchObject({ iss: issuer, sub: "ada" });
  expect(login.expires_at).toBe(claimsOf(login.access_token)["exp"] * 1000);
  expect(await ada.credentials.read(SERVER)).toEqual(login);
  expect(ada.time.waits).toEqual([5000, 5000, 5000]);
  expect(provider.grants).toEqual(["urn:ietf:params:oauth:grant-type:device_code"]);
});

test("AUTH-61 address and code are said on stderr, and the browser gets the address with the code in it", async () => {
  await using provider = await startDeviceProvider();
  const ada = person({ issuer: provider.issuer }, (_, code) => provider.approve(code));
  const { access_token, refresh_token } = await ada.login();
  const code = USER_CODE.exec(ada.told())?.[1];
  expect(ada.told()).toBe(
    `To log in to ${SERVER}, open\n\n  ${provider.issuer}/device\n\nand enter the code\n\n  ${code}\n\n`,
  );
  expect(ada.opened).toEqual([`${provider.issuer}/device?user_code=${code}`]);
  expect(ada.told()).not.toContain(access_token);
  expect(ada.told()).not.toContain(refresh_token);
});

test("AUTH-61 a user who declines at a real provider is told so, and nothing is kept", async () => {
  await using provider = await startDeviceProvider();
  const ada = person(
    { issuer: provider.issuer },
    (waits, code) => waits === 2 && provider.deny(code),
  );
  await expect(ada.login()).rejects.toMatchObject({
    code: "unauthenticated",
    message: "the login was denied",
  });
  expect(await ada.credentials.read(SERVER)).toBeUndefined();
});

test("AUTH-61 a code that nobody enters in time ends the login", async () => {
  await using provider = await startDeviceProvider();
  const ada = person({ issuer: provider.issuer });
  await expect(ada.login()).rejects.toMatchObject({
    code: "unauthenticated",
    message: expect.stringContaining("not entered in time"),
  });
  expect(ada.time.waits).toHaveLength(600 / 5);
});

test("AUTH-61 without a refresh token a warning says until when the login lasts", async () => {
  await using provider = await startDeviceProvider({ refreshes: false });
  const ada = person({ issuer: provider.issuer }, (_, code) => provider.approve(code));
  const { expires_at, refresh_token } = await ada.login();
  expect(refresh_token).toBeNull();
  const end = new Date(expires_at ?? Number.NaN).toISOString();
  expect(ada.told()).toContain(
    `warning: the provider gave no refresh token: this login ends at ${end}\n`,
  );
});

test("AUTH-61 a token that is no JWT serves for as long as the provider said", async () => {
  await using provider = await startDeviceProvider({ isOpaque: true });
  const ada = person({ issuer: provider.issuer }, (_, code) => provider.approve(code));
  const { expires_at } = await ada.login();
  expect(expires_at).toBe(ada.time.now + 600_000);
});

type Body = Readonly<Record<string, unknown>>;
interface Script {
  readonly discovery?: Body;
  readonly device?: Body;
  /** Answers to the polls, in order; the last one again and again. */
  readonly polls?: readonly (() => Response)[];
}

const pending = () => Response.json({ error: "authorization_pending" }, { status: 400 });
const refused = (error: string) => () => Response.json({ error }, { status: 400 });
const tokens =
  (more: Body = {}) =>
  () =>
    Response.json({ access_token: "opaque", token_type: "Bearer", refresh_token: "r", ...more });

/** A provider behind a `fetch` without a network, and what it was sent. */
function scripted({ discovery, device, polls = [tokens()] }: Script) {
  const sent: URLSearchParams[] = [];
  let poll = 0;
  const answers: Readonly<Record<string, () => Response>> = {
    [`${ISSUER}/.well-known/openid-configuration`]: () =>
      Response.json({
        issuer: ISSUER,
        token_endpoint: `${ISSUER}/token`,
        device_authorization_endpoint: `${ISSUER}/device/code`,
        ...discovery,
      }),
    [`${ISSUER}/device/code`]: () =>
      Response.json({
        device_code: "d3v1c3",
        user_code: "ABCD-EFGH",
        verification_uri: `${ISSUER}/device`,
        expires_in: 60,
        ...device,
      }),
    [`${ISSUER}/token`]: () => (polls[poll++] ?? polls.at(-1) ?? pending)(),
  };
  return {
    sent,
    fetch: async (url: string, request: RequestInit) => {
      sent.push(new URLSearchParams(String(request.body ?? "")));
      return answers[url]?.() ?? new Response(null, { status: 404 });
    },
  };
}

function personAt(script: Script, parts: Partial<DeviceLoginOptions> = {}) {
  const { fetch, sent } = scripted(script);
  return { sent, ...person({ issuer: ISSUER, fetch, ...parts }) };
}

test.each([
  [undefined, "openid profile offline_access"],
  [[], "openid profile offline_access"],
  [["openid", "engine"], "openid engine"],
])("AUTH-61 with scopes %j the provider is asked for %s", async (scopes, scope) => {
  const ada = personAt({}, scopes && { scopes });
  await ada.login();
  expect(Object.fromEntries(ada.sent[1] ?? [])).toEqual({ scope, client_id: CLIENT_ID });
  expect(Object.fromEntries(ada.sent[2] ?? [])).toEqual({
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: "d3v1c3",
    client_id: CLIENT_ID,
  });
});

test("AUTH-61 polls come at the interval of the provider, 5 seconds later for each slow_down", async () => {
  const polls = [pending, refused("slow_down"), pending, refused("slow_down"), tokens()];
  const ada = personAt({ device: { interval: 2, expires_in: 100 }, polls });
  await ada.login();
  expect(ada.time.waits).toEqual([2000, 2000, 7000, 7000, 12_000]);
});

test.each([{}, { expires_in: undefined }, { expires_in: null }])(
  "AUTH-61 a provider that does not say how long its code holds has 600 seconds: %j",
  async (device) => {
    const all = { interval: undefined, expires_in: undefined, ...device };
    const ada = personAt({ device: all, polls: [pending] });
    await expect(ada.login()).rejects.toThrow("not entered in time");
    expect(ada.time.waits).toEqual(Array.from({ length: 120 }, () => 5000));
  },
);

test("AUTH-61 a code ends when its time is over, not an interval later", async () => {
  const ada = personAt({ device: { interval: 45, expires_in: 60 }, polls: [pending] });
  await expect(ada.login()).rejects.toThrow("not entered in time");
  expect(ada.time.waits).toEqual([45_000, 15_000]);
});

test("AUTH-61 an interval that no timer knows, or of next to nothing, does no harm", async () => {
  const long = personAt({ device: { interval: 1e12, expires_in: 1e9 }, polls: [tokens()] });
  await long.login();
  expect(long.time.waits).toEqual([2 ** 31 - 1]);
  const short = personAt({ device: { interval: 0.001, expires_in: 2 }, polls: [pending] });
  await expect(short.login()).rejects.toThrow("not entered in time");
  expect(short.time.waits).toEqual([1000, 1000]);
});

test.each([
  ["access_denied", "the login was denied"],
  ["expired_token", "the code was not entered in time; run the command again for another"],
  ["invalid_client", `${ISSUER} refuses the login (invalid_client)`],
])("AUTH-61 the provider's %s ends the login with a sentence", async (error, message) => {
  const ada = personAt({ polls: [pending, refused(error)] });
  await expect(ada.login()).rejects.toMatchObject({ code: "unauthenticated", message });
  expect(await ada.credentials.read(SERVER)).toBeUndefined();
});

test("AUTH-61 a provider that does not answer for a while is asked on, more slowly", async () => {
  const away = () => {
    throw new TypeError("fetch failed", { cause: new Error("ECONNRESET") });
  };
  const busy = () => new Response("<html>", { status: 502 });
  const polls = [away, busy, refused("server_error"), tokens()];
  const ada = personAt({ device: { expires_in: 100 }, polls });
  await ada.login();
  expect(ada.time.waits).toEqual([5000, 10_000, 20_000, 40_000]);
});

test.each([
  ["names another issuer", { issuer: "https://other.example" }],
  ["has its tokens on plain http", { token_endpoint: "http://id.example/token" }],
  ["has its codes on plain http", { device_authorization_endpoint: "http://id.example/code" }],
  ["offers no device flow", { device_authorization_endpoint: undefined }],
])("AUTH-61 nothing is sent to a provider whose discovery %s", async (_, discovery) => {
  const ada = personAt({ discovery });
  await expect(ada.login()).rejects.toMatchObject({ code: "auth_unavailable" });
  expect(ada.sent).toHaveLength(1);
});

test.each(["http://id.example", "ftp://id.example", "id.example", ""])(
  "AUTH-61 an issuer has TLS or is on this machine; %j is refused before anything is sent",
  async (issuer) => {
    const ada = personAt({}, { issuer });
    await expect(ada.login()).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/^issuer: expected/),
    });
    expect(ada.sent).toEqual([]);
  },
);

test.each(["javascript:alert(1)", "http://id.example/device", "file:///etc/passwd"])(
  "AUTH-61 no user is sent to %s",
  async (verification_uri) => {
    const ada = personAt({ device: { verification_uri } });
    await expect(ada.login()).rejects.toMatchObject({ code: "auth_unavailable" });
    expect([ada.told(), ada.opened]).toEqual(["", []]);
    const complete = personAt({ device: { verification_uri_complete: verification_uri } });
    await complete.login();
    expect(complete.opened).toEqual([`${ISSUER}/device`]);
  },
);

test.each([
  ["its answer to the code has none", { device: { user_code: 7 } }],
  ["its tokens are none", { polls: [tokens({ access_token: 7 })] }],
  ["its tokens are no JSON", { polls: [() => new Response("s3cret")] }],
])(
  "AUTH-61 a provider that cannot be meant ends the login, without what it said: %s",
  async (_, script) => {
    const ada = personAt(script);
    const error = await ada.login().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "auth_unavailable" });
    expect(String(error)).not.toContain("s3cret");
  },
);

test("AUTH-61 a credentials file that cannot be used is told before anybody is asked to do anything", async () => {
  const { path: home, remove } = temporaryFolder({ ".engine/credentials.json": "{" });
  onTestFinished(remove);
  const credentials = new CredentialsFile({ home, ...new WaitingTime() });
  const ada = personAt({}, { credentials });
  await expect(ada.login()).rejects.toMatchObject({ code: "invalid_input" });
  expect([ada.told(), ada.sent]).toEqual(["", []]);
  expect(readFileSync(join(home, ".engine/credentials.json"), "utf8")).toBe("{");
});

test.each([{ expires_in: 1e300 }, { expires_in: undefined }])(
  "AUTH-61 a token that says no date to end at serves until the server refuses it: %j",
  async (more) => {
    const ada = personAt({ polls: [tokens({ refresh_token: undefined, ...more })] });
    expect(await ada.login()).toMatchObject({ expires_at: null, refresh_token: null });
    expect(ada.told()).toContain("this login ends with its token");
  },
);

function claimsOf(token: string) {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}
