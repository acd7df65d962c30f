import { expect, test } from "vitest";
import { guardedHost } from "../../testing/guarded-host.ts";

const GAPS = / {2,}/g;

test("AUTH-24 AUTH-60 roles are made, listed, shown and cloned", async () => {
  const { engine } = await guardedHost();
  const made = await engine([
    ...["roles", "create", "refunds", "--description", "refunds of the shop"],
    ...["--permission", "workflow:shop:refund:run", "--permission", "workflow:shop:refund:read"],
  ]);
  expect(made).toMatchObject({ code: 0, err: "" });
  expect(made.out).toMatch(
    /^refunds\n {2}about +refunds of the shop\n {2}gives +workflow:shop:refund:read\n +workflow:shop:refund:run\n {2}created +\S.* \(\S+Z\)\n$/,
  );
  expect((await engine(["roles", "clone", "viewer", "--new-name", "auditors"])).code).toBe(0);
  const { out } = await engine(["roles", "list"]);
  expect(out.split("\n").map((line) => line.replace(GAPS, " | "))).toEqual([
    "ROLE | KIND | ABOUT | GIVES",
    "admin | built in | Everything. | *",
    expect.stringMatching(/^auditors \| own \| Reads\. \| .*workflow:\*:\*:read$/),
    expect.stringMatching(/^operator \| built in \| Runs, /),
    "refunds | own | refunds of the shop | workflow:shop:refund:read, workflow:shop:refund:run",
    expect.stringMatching(/^viewer \| built in/),
    expect.stringMatching(/^worker \| built in/),
    "",
  ]);
  // At a terminal a role is one line, however much it gives.
  const narrow = (await engine(["roles", "list"], { columns: 80 })).out.split("\n");
  expect(narrow).toHaveLength(8);
  expect(narrow.join("")).toContain("…");
  const json = JSON.parse((await engine(["roles", "show", "refunds", "--format", "json"])).out);
  expect(json).toMatchObject({ name: "refunds", built_in: false, warnings: [] });
});

test("AUTH-24 AUTH-60 a list of roles is the whole of it, or a part that says how it goes on", async () => {
  const { engine } = await guardedHost();
  const list = ["roles", "list"];
  const page = JSON.parse((await engine([...list, "--format", "json"])).out);
  expect(page).toMatchObject({ total: 4, limit: 4, offset: 0 });
  expect((await engine([...list, "--limit", "1", "--offset", "1"])).out).toMatch(
    /\noperator .*\n2 more; continue with --offset 2\n$/,
  );
  expect((await engine([...list, "--offset", "9"])).out).toBe("No more: there are 4 in all.\n");
});

test("AUTH-24 AUTH-60 update adds and removes, and says what a role still gives", async () => {
  const { engine, client } = await guardedHost();
  const read = "workflow:shop:*:read";
  await client.roles.create({ body: { name: "shop", permissions: [read, "workflow:a:b:run"] } });
  const update = ["roles", "update", "shop"];
  const changed = await engine([
    ...[...update, "--add", "workflow:shop:pay:run", "--remove", "workflow:a:b:run"],
    ...["--remove", "workflow:shop:pay:read", "--description", "the shop"],
  ]);
  expect(changed).toMatchObject({
    code: 0,
    err: `note: shop still gives workflow:shop:pay:read, by ${read}\n`,
  });
  expect(await client.roles.get({ params: { name: "shop" } })).toMatchObject({
    permissions: [read, "workflow:shop:pay:run"],
    description: "the shop",
  });
  await engine([...update, "--description", ""]);
  expect(await client.roles.get({ params: { name: "shop" } })).toMatchObject({ description: null });
  const typo = await engine([...update, "--add", "workflw:shop:pay:run"]);
  expect(typo.out).toMatch(/ {2}warning +no known permission is given by workflw:shop:pay:run\n/);
  expect(await engine(update)).toMatchObject({ code: 2 });
});

test("AUTH-60 a role is deleted after a question, and with --force while somebody has it", async () => {
  const { engine, account, client } = await guardedHost();
  await account("ada", ["workflow:shop:*:read"]);
  const remove = ["roles", "delete", "role-1"];
  expect(await engine(remove)).toMatchObject({
    code: 2,
    err: "error: This deletes role role-1. Add --yes to do so: there is no terminal to ask on\n",
  });
  expect(await engine(remove, { confirm: async () => false })).toMatchObject({
    code: 1,
    err: "Nothing was deleted.\n",
  });
  expect(await engine([...remove, "--yes"])).toMatchObject({
    code: 1,
    err: "error: 1 principal has role role-1; revoke it there, or pass --force\n",
  });
  const asked: string[] = [];
  const confirm = async (question: string) => {
    asked.push(question);
    return true;
  };
  expect(await engine([...remove, "--force"], { confirm })).toEqual({
    code: 0,
    out: "Deleted role role-1.\n",
    err: "",
  });
  expect(asked).toEqual([
    "This deletes role role-1, and takes it from everybody who has it.\nDelete it?",
  ]);
  expect(await client.principals.get({ params: { subject: "ada" } })).toMatchObject({ roles: [] });
  expect(await engine([...remove, "--yes"])).toMatchObject({
    code: 1,
    err: "error: no role role-1; see all of them with: npx engine roles list\n",
  });
});

test("AUTH-24 what cannot be done with a role is refused without a question", async () => {
  const { engine, account } = await guardedHost();
  const token = await account("ada", ["admin:roles:read", "admin:roles:manage"]);
  const confirm = async () => expect.unreachable("there is nothing to ask");
  const refused = async (...args: string[]) =>
    (await engine(["roles", ...args], { token, confirm })).err;
  expect(await refused("delete", "viewer")).toMatch(/the engine's own and cannot be deleted/);
  expect(await refused("update", "viewer", "--add", "a:b")).toMatch(/clone it under another name/);
  expect(await refused("create", "role-1", "--permission", "admin:roles:read")).toMatch(/exists/);
  expect(await refused("create", "more", "--permission", "*")).toMatch(/cannot give .* lacks: \*/);
  expect(await refused("create", "More", "--permission", "admin:roles:read")).toMatch(
    /^error: name: must be 1 to 64 small letters/,
  );
});
