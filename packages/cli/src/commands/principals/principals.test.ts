import { expect, test } from "vitest";
import { guardedHost } from "../../testing/guarded-host.ts";

const ISSUER = "https://id.example";
const GAPS = / {2,}/g;
const MANAGER = ["admin:principals:manage", "admin:principals:read", "workflow:shop:*"];

const cells = (out: string) => out.split("\n").map((line) => line.replace(GAPS, " | "));

test("AUTH-18 AUTH-60 principals are made, listed by what they are, shown and renamed", async () => {
  const { engine } = await guardedHost();
  const create = (...args: string[]) => engine(["principals", "create", ...args]);
  const made = await create("reports", "--type", "service_account", "--role", "viewer");
  expect(made).toMatchObject({
    code: 0,
    err: "make a key for it with: npx engine principals create-key reports --key-name <name>\n",
  });
  expect(made.out).toMatch(
    /^● enabled {2}reports\n {2}type +service_account\n {2}issuer +engine\n {2}roles +viewer\n/,
  );
  const user = await create(
    ...["ada", "--type", "user", "--issuer", ISSUER],
    ...["--role", "viewer", "--role", "operator", "--display-name", "Ada L."],
  );
  expect(user).toMatchObject({ code: 0, err: "" });
  expect(cells((await engine(["principals", "list"])).out)).toEqual([
    "STATE | SUBJECT | TYPE | ROLES | LAST SEEN | ISSUER",
    `● enabled | ada | user | operator, viewer | never | ${ISSUER}`,
    expect.stringMatching(/^● enabled \| admin \| service_account \| admin \| .* \| engine$/),
    "● enabled | reports | service_account | viewer | never | engine",
    "",
  ]);
  const subjects = async (...args: string[]) => {
    const { out } = await engine(["principals", "list", ...args, "--format", "json"]);
    return JSON.parse(out).items.map(({ subject }: { subject: string }) => subject);
  };
  expect(await subjects("--type", "user")).toEqual(["ada"]);
  expect(await subjects("--role", "viewer", "--limit", "1")).toEqual(["ada"]);
  expect(await subjects("--issuer", "engine")).toEqual(["admin", "reports"]);
  expect(await subjects("--issuer", "engine", "--limit", "1", "--offset", "1")).toEqual([
    "reports",
  ]);
  await engine(["principals", "disable", "reports"]);
  expect(await subjects("--disabled")).toEqual(["reports"]);
  expect(await subjects("--banned")).toEqual([]);
  expect((await engine(["principals", "list", "--banned"])).out).toBe(
    "No principals match. See them all: npx engine principals list\n",
  );
  expect((await engine(["principals", "list", "--limit", "1"])).out).toMatch(
    /\n2 more; continue with --offset 1\n$/,
  );
  const named = await engine(["principals", "update", "ada", "--display-name", "Countess"]);
  expect(named.out).toMatch(/ {2}name +Countess\n/);
  expect((await engine(["principals", "update", "ada", "--display-name", ""])).out).not.toMatch(
    / {2}name /,
  );
});

test("AUTH-19 --issuer tells principals of one subject apart, in every command", async () => {
  const { engine, client } = await guardedHost();
  const other = "https://other.example";
  for (const issuer of [ISSUER, other]) {
    await client.principals.create({ body: { subject: "ada", type: "user", issuer } });
  }
  expect(await engine(["principals", "show", "ada"])).toMatchObject({
    code: 1,
    err: `error: several principals have subject ada: pass --issuer, one of ${ISSUER}, ${other}\n`,
  });
  for (const [command, ...more] of [
    ["grant", "--role", "viewer"],
    ["update", "--display-name", "Ada"],
    ["disable"],
    ["ban"],
    ["unban"],
    ["enable"],
    ["show"],
    ["list-keys"],
    ["revoke", "--role", "viewer"],
    ["delete", "--yes"],
  ]) {
    const args = ["principals", command ?? "", "ada", ...more, "--issuer", other];
    expect(await engine(args), args.join(" ")).toMatchObject({ code: 0 });
  }
  const { items } = await client.principals.list({ query: { type: "user" } });
  expect(items.map(({ issuer, roles }) => [issuer, roles])).toEqual([[ISSUER, []]]);
  const key = ["--key-name", "k", "--issuer", ISSUER];
  expect((await engine(["principals", "create-key", "ada", ...key])).err).toMatch(
    /ada is a user; API keys belong to service accounts/,
  );
  expect((await engine(["principals", "revoke-key", "ada", ...key])).err).toBe(
    `error: ada has no key k; see all with: npx engine principals list-keys ada --issuer ${ISSUER}\n`,
  );
});

test("AUTH-60 roles are given and taken, and whoever takes one that was not there is told", async () => {
  const { engine, client } = await guardedHost();
  const body = { subject: "ada", type: "service_account" as const, roles: ["viewer"] };
  await client.principals.create({ body });
  const granted = await engine(["principals", "grant", "ada", "--role", "operator"]);
  expect(granted.out).toMatch(/ {2}roles +operator\n +viewer\n/);
  expect(await engine(["principals", "revoke", "ada", "--role", "operator"])).toEqual({
    code: 0,
    out: "Took role operator from ada.\n",
    err: "",
  });
  expect(await engine(["principals", "revoke", "ada", "--role", "operater"])).toEqual({
    code: 0,
    out: "ada did not have role operater.\n",
    err: "note: ada has viewer\n",
  });
  expect((await engine(["principals", "grant", "ada", "--role", "operater"])).err).toBe(
    "error: no role operater; see all of them with: npx engine roles list\n",
  );
});

test("AUTH-60 whoever may change principals and not read them takes roles all the same", async () => {
  const { engine, account } = await guardedHost();
  await account("ada", ["workflow:shop:pay:run"]);
  const token = await account("boss", ["admin:principals:manage"]);
  expect(await engine(["principals", "revoke", "ada", "--role", "role-1"], { token })).toEqual({
    code: 0,
    out: "Took role role-1 from ada.\n",
    err: "",
  });
});

test("AUTH-22 AUTH-60 somebody is kept out and let in again", async () => {
  const { engine, account } = await guardedHost();
  const token = await account("ada", MANAGER);
  const isIn = async () => (await engine(["principals", "list"], { token })).code === 0;
  expect(await isIn()).toBe(true);
  expect((await engine(["principals", "disable", "ada"])).out).toMatch(/^○ disabled {2}ada\n/);
  expect(await isIn()).toBe(false);
  expect((await engine(["principals", "enable", "ada"])).out).toMatch(/^● enabled {2}ada\n/);
  expect(await isIn()).toBe(true);
  const banned = await engine(["principals", "ban", "ada", "--reason", "leaked"]);
  expect(banned.out).toMatch(/^⊘ banned {2}ada\n {2}why +leaked\n/);
  expect(await engine(["principals", "enable", "ada"])).toMatchObject({
    code: 1,
    err: "error: principal ada is banned; unban it first\n",
  });
  expect(await engine(["principals", "unban", "ada"])).toMatchObject({
    code: 0,
    err: "it stays disabled; let it in with: npx engine principals enable ada\n",
  });
  expect((await engine(["principals", "enable", "ada"])).code).toBe(0);
  // Its key was revoked for good.
  expect(await isIn()).toBe(false);
});

test("AUTH-13 AUTH-60 create-key prints the key alone on stdout, and everything else on stderr", async () => {
  const { engine, client, account } = await guardedHost();
  await account("ada", MANAGER);
  const create = ["principals", "create-key", "ada", "--key-name"];
  const made = await engine([...create, "ci", "--expires", "90d"]);
  expect(made.code).toBe(0);
  expect(made.out).toMatch(/^engine_sk_[a-z0-9]{12}_\S+\n$/);
  expect(made.err).toMatch(/^key ci of ada expires at \d{4}-\S+Z; it is not shown again\n$/);
  const token = made.out.trim();
  expect((await engine(["principals", "list"], { token })).code).toBe(0);
  const narrow = await engine([...create, "narrow", "--permission", "workflow:shop:pay:run"]);
  expect(narrow.err).toMatch(/never expires/);
  expect(await engine(["principals", "list"], { token: narrow.out.trim() })).toMatchObject({
    code: 1,
    err: expect.stringContaining("admin:principals:read"),
  });
  const json = await engine([...create, "more", "--format", "json"]);
  expect(JSON.parse(json.out)).toMatchObject({ name: "more", key: expect.any(String) });

  const { items } = await client.principals.listKeys({ params: { subject: "ada" } });
  const end = Date.parse(items.find(({ name }) => name === "ci")?.expires_at ?? "");
  expect(Math.abs(end - Date.now() - 90 * 86_400_000)).toBeLessThan(60_000);
  const list = (await engine(["principals", "list-keys", "ada"])).out;
  expect(cells(list)).toEqual([
    "NAME | BEGINS WITH | EXPIRES | LAST USED | MAY",
    expect.stringMatching(/^ci \| engine_sk_[a-z0-9]{12}_ \| in 89 d 23 h \|/),
    expect.stringMatching(/^laptop \| .* \| never \| never \| all that its account may$/),
    expect.stringMatching(/^more \|/),
    expect.stringMatching(/^narrow \| .* \| workflow:shop:pay:run$/),
    "",
  ]);
  expect(list).not.toContain(token);
  expect((await engine(["principals", "list-keys", "ada", "--limit", "1"])).out).toMatch(
    /\n3 more; continue with --offset 1\n$/,
  );
  // Seen from a day on which it has ended.
  const now = () => end + 86_400_000;
  expect((await engine(["principals", "list-keys", "ada"], { now })).out).toMatch(
    /ci .* expired 1 d ago/,
  );

  expect(await engine(["principals", "revoke-key", "ada", "--key-name", "ci"])).toMatchObject({
    code: 0,
    out: "Revoked key ci of ada.\n",
  });
  expect((await engine(["principals", "list"], { token })).code).toBe(1);
  const again = await engine(["principals", "revoke-key", "ada", "--key-name", "ci"]);
  expect(again).toMatchObject({
    code: 1,
    err: "error: ada has no key ci; see all with: npx engine principals list-keys ada\n",
  });
});

test.each([
  ["create-key", /a key is never an argument/],
  ["revoke-key", /a key is never an argument/],
])("AUTH-60 a key behind `principals %s` is refused and not repeated", async (command, message) => {
  const { engine, key } = await guardedHost();
  const { code, err } = await engine(["principals", command, "ada", key, "--key-name", "k"]);
  expect(code).toBe(2);
  expect(err).toMatch(message);
  expect(err).not.toContain(key.slice(10));
});

test("AUTH-23 AUTH-60 a principal is deleted after a question that says what becomes of its work", async () => {
  const { engine, account, client } = await guardedHost();
  await account("ada", MANAGER);
  const remove = ["principals", "delete", "ada"];
  expect(await engine(remove)).toMatchObject({
    code: 2,
    err: expect.stringContaining("Add --yes"),
  });
  expect(await engine(remove, { confirm: async () => false })).toMatchObject({
    code: 1,
    err: "Nothing was deleted.\n",
  });
  expect(await engine([...remove, "--yes"])).toMatchObject({
    code: 1,
    err: "error: principal ada has live keys (1); end those, or pass --force\n",
  });
  const asked: string[] = [];
  const confirm = async (question: string) => {
    asked.push(question);
    return true;
  };
  expect(await engine([...remove, "--force"], { confirm })).toMatchObject({
    code: 0,
    out: "Deleted service account ada.\n",
  });
  expect(asked.join()).toMatch(/deletes service account ada .*\nIts executions .* wait until/);
  await expect(client.principals.get({ params: { subject: "ada" } })).rejects.toThrow(
    "no principal",
  );
  expect((await engine([...remove, "--yes"])).err).toMatch(/see all .*principals list/);
});

test("AUTH-20 AUTH-21 AUTH-60 what the server refuses is told with what helps", async () => {
  const { engine, account } = await guardedHost();
  const token = await account("ada", MANAGER);
  const refused = async (...args: string[]) =>
    (await engine(["principals", ...args], { token })).err;
  expect(await refused("disable", "admin")).toMatch(/leave nobody who could .* administer/);
  expect(await refused("grant", "ada", "--role", "admin")).toMatch(/cannot give .* lacks: \*/);
  expect(await refused("create", "bob", "--type", "user")).toBe(
    "error: the issuer of a user is needed, since no provider is configured under [engine.security.auth.oidc]\n",
  );
  expect(await refused("create", "a b", "--type", "service_account")).toMatch(
    /^error: subject: of a service account must be 1 to 128 letters/,
  );
  expect(await refused("create", "ada", "--type", "service_account")).toMatch(/ada .* exists/);
});
