import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { guardedHost } from "../../testing/guarded-host.ts";

const NOBODY = { token: null } as const;

test("AUTH-60 a key from standard input is kept for the server, sent by every command, and forgotten", async () => {
  const { engine, key, cwd, url } = await guardedHost();
  expect(await engine(["execution", "list"], NOBODY)).toMatchObject({
    code: 1,
    err: `error: ${url} wants to know who you are; log in with: npx engine auth login\n`,
  });
  expect((await engine(["auth", "status"], NOBODY)).out).toBe(`Not logged in to ${url}.\n`);

  for (const args of [["--api-key"], ["--api-key", "--stdin"]]) {
    expect(
      await engine(["auth", "login", ...args], { ...NOBODY, stdin: `${key}\n` }),
    ).toMatchObject({ code: 0, out: `Logged in to ${url}.\n` });
  }
  expect(statSync(join(cwd, ".engine", "credentials.json")).mode & 0o777).toBe(0o600);
  expect((await engine(["execution", "list"], NOBODY)).code).toBe(0);
  expect((await engine(["auth", "whoami"], NOBODY)).out).toBe(
    "admin (service_account, admin) may\n  *\n",
  );
  expect((await engine(["auth", "status"], NOBODY)).out).toBe(`Logged in to ${url} by api_key.\n`);

  expect((await engine(["auth", "logout"], NOBODY)).code).toBe(0);
  expect((await engine(["execution", "list"], NOBODY)).code).toBe(1);
});

test("AUTH-60 at a terminal the key is asked for, and --stdin reads it from standard input all the same", async () => {
  const { engine, key } = await guardedHost();
  const asked: string[] = [];
  const askHidden = async (question: string) => {
    asked.push(question);
    return key;
  };
  expect(await engine(["auth", "login", "--api-key"], { ...NOBODY, askHidden })).toMatchObject({
    code: 0,
  });
  expect(asked).toEqual(["API key (not shown as you type): "]);
  const piped = { ...NOBODY, askHidden, stdin: "engine_sk_abcdefghijkl_x" };
  expect((await engine(["auth", "login", "--api-key", "--stdin"], piped)).code).toBe(1);
  expect(asked).toHaveLength(1);
  const nothing = { ...NOBODY, askHidden: async () => "" };
  expect(await engine(["auth", "login", "--api-key"], nothing)).toMatchObject({
    code: 2,
    err: "error: no API key was entered\n",
  });
});

test("AUTH-60 a key that the server refuses is not kept, and neither is none", async () => {
  const { engine, key, url } = await guardedHost();
  const stdin = `${key.slice(0, -2)}xx`;
  expect(await engine(["auth", "login", "--api-key"], { ...NOBODY, stdin })).toMatchObject({
    code: 1,
    err: `error: ${url} does not let this key in: the token is not valid here\n`,
  });
  expect(await engine(["auth", "login", "--api-key"], NOBODY)).toMatchObject({
    code: 2,
    err: expect.stringContaining("no API key came on standard input"),
  });
  expect((await engine(["auth", "login", "--stdin"], NOBODY)).code).toBe(2);
  const status = await engine(["auth", "status", "--format", "json"], NOBODY);
  expect(JSON.parse(status.out)).toMatchObject({ auth_method: "none", logged_in: false });
});

test.each([
  ["auth", "login"],
  ["auth", "login", "--api-key"],
  ["auth", "test-token"],
])(
  "AUTH-60 a token behind `%s %s` is a usage error that says so, and is not repeated",
  async (...args) => {
    const { engine, key } = await guardedHost();
    const { code, out, err } = await engine([...args.filter(Boolean), key]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/is never an argument, .*standard input/);
    expect(err).not.toContain(key.slice(10));
  },
);

test("AUTH-60 a token where another command has no place for it is not repeated either", async () => {
  const { engine, key } = await guardedHost();
  const tried = [
    ["auth", "whoami", key],
    ["auth", key],
    [key],
    ["auth", "login", `--token=${key}`],
    ["auth", "login", "--password=hunter2"],
    ["auth", "check", "--format", key],
  ];
  for (const args of tried) {
    const { code, err } = await engine(args);
    expect(code, args.join(" ")).toBe(2);
    expect(err).not.toMatch(new RegExp(`${key.slice(10)}|hunter2`));
  }
});

test("AUTH-60 the token of the environment wins, and a check exits 1 for what is not held", async () => {
  const { engine, account } = await guardedHost();
  const token = await account("ada", ["admin:roles:read"]);
  const status = await engine(["auth", "status", "--format", "json"], { token });
  expect(JSON.parse(status.out)).toMatchObject({ logged_in: true, auth_method: "env_token" });
  expect(await engine(["auth", "check", "admin:roles:read"], { token })).toMatchObject({
    code: 0,
    out: "yes  admin:roles:read\n",
  });
  expect(
    await engine(["auth", "check", "admin:roles:read", "admin:roles:manage"], { token }),
  ).toMatchObject({ code: 1, out: "yes  admin:roles:read\nno   admin:roles:manage\n" });
  expect(await engine(["auth", "whoami"], { token: `${token}x` })).toMatchObject({
    code: 1,
    err: "error: the token is not valid here; it is that of ENGINE_AUTH_TOKEN, which wins over a login\n",
  });
});

test("AUTH-61 a server without a provider is told to be logged in to with a key", async () => {
  const { engine } = await guardedHost();
  const { code, err } = await engine(["auth", "login"], NOBODY);
  expect(code).toBe(1);
  expect(err).toContain("--api-key");
});

const SHOP = `import { task, workflow } from "@engine/sdk";
const charge = task({ name: "charge" }, async () => null);
export const pay = workflow({ name: "pay", namespace: "shop" }, async () => charge());
export const hello = workflow({ name: "hello" }, async (input) => input);
`;

test("AUTH-60 permissions lists what reading and running takes, and whether it is held", async () => {
  const { engine, account, client } = await guardedHost();
  const list = ["auth", "permissions"];
  expect((await engine(list)).out).toMatch(/^There is no workflow that you may read\. .*whoami\n$/);
  await client.catalog.register({ body: { source: SHOP } });
  expect((await engine(list)).out).toBe(`hello
  yes  workflow:default:hello:read
  yes  workflow:default:hello:run

shop/pay
  yes  workflow:shop:pay:read
  yes  workflow:shop:pay:run
  yes  workflow:shop:pay:task:charge:execute
`);
  const token = await account("ada", ["workflow:shop:*:read", "workflow:shop:pay:run"]);
  const one = [...list, "--workflow", "shop/pay"];
  expect(await engine(one, { token })).toMatchObject({
    code: 0,
    out: `yes  workflow:shop:pay:read
yes  workflow:shop:pay:run
no   workflow:shop:pay:task:charge:execute
`,
  });
  const json = JSON.parse((await engine([...one, "--format", "json"], { token })).out);
  expect(json.permissions).toHaveLength(3);
  const all = JSON.parse((await engine([...list, "--format", "json"], { token })).out);
  expect(Object.keys(all.items)).toEqual(["shop/pay"]);
  expect(await engine([...list, "--workflow", "hello"], { token })).toMatchObject({
    code: 1,
    err: expect.stringContaining("workflow:default:hello:read"),
  });
  expect((await engine([...list, "--workflow", "a/b/c"])).code).toBe(2);
});

test("AUTH-60 test-token says whose a token is, and exits 1 for one that is refused", async () => {
  const { engine, account, client } = await guardedHost();
  const token = await account("ada", ["workflow:shop:*:read"]);
  const tested = ["auth", "test-token", "--stdin"];
  expect(await engine(tested, { stdin: `${token}\n` })).toEqual({
    code: 0,
    out: `✓ valid  ada
  issuer    engine
  roles     role-1
  may       workflow:shop:*:read
  expires   never
`,
    err: "",
  });
  const asked = await engine(["auth", "test-token", "--format", "json"], {
    askHidden: async () => token,
  });
  expect(JSON.parse(asked.out)).toMatchObject({ valid: true, subject: "ada" });
  expect(await engine(tested, { stdin: "nonsense" })).toEqual({
    code: 1,
    out: "✗ not valid  it has the shape of no token\n",
    err: "",
  });
  await client.principals.disable({ params: { subject: "ada" } });
  expect((await engine(tested, { stdin: token })).out).toBe(
    "✗ not valid  its principal is disabled\n",
  );
  const invalid = await engine([...tested, "--format", "json"], { stdin: token });
  expect(invalid.code).toBe(1);
  expect(JSON.parse(invalid.out)).toEqual({ valid: false, reason: "disabled" });
  expect((await engine(tested)).code).toBe(2);
});
