import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { guardedHost } from "../../testing/guarded-host.ts";

const GAPS = / {2,}/g;

test("SEC-4 AUTH-60 configuration values are kept as JSON or text, listed, printed and removed", async () => {
  const { engine, cwd, client } = await guardedHost();
  const config = (...args: string[]) => engine(["config", ...args]);
  expect((await config("list")).out).toMatch(/^No values yet\. .*config set <name> <value>\n$/);
  const made = await config("set", "shop_url", "https://shop.example", "--description", "the shop");
  expect(made.out).toMatch(/^shop_url\n {2}about +the shop\n {2}version +1\n/);
  await config("set", "limits", '{"per_day":100}');
  writeFileSync(join(cwd, "mail.html"), "<p>hello</p>\n");
  await config("set", "mail", "@mail.html");
  await config("set", "retries", "5");
  const kept = async (name: string) => (await client.configs.get({ params: { name } })).value;
  expect(await Promise.all(["shop_url", "limits", "mail", "retries"].map(kept))).toEqual([
    "https://shop.example",
    { per_day: 100 },
    "<p>hello</p>",
    5,
  ]);
  const { out } = await config("list");
  expect(
    out
      .split("\n")
      .map((line) => line.replace(GAPS, " | "))
      .slice(0, 2),
  ).toEqual([
    "NAME | VERSION | CHANGED | BY | ABOUT",
    expect.stringMatching(/^limits \| 1 \| .* \| admin$/),
  ]);
  expect((await config("list", "--limit", "1")).out).toMatch(
    /\n3 more; continue with --offset 1\n$/,
  );
  expect((await config("get", "shop_url")).out).toBe("https://shop.example\n");
  expect((await config("get", "limits")).out).toBe('{\n  "per_day": 100\n}\n');
  const whole = JSON.parse((await config("get", "retries", "--format", "json")).out);
  expect(whole).toMatchObject({ name: "retries", value: 5, version: 1, updated_by: "admin" });

  expect((await config("remove", "retries")).code).toBe(2);
  expect((await config("remove", "retries", "--yes")).out).toBe("Deleted value retries.\n");
  expect(await config("get", "retries")).toMatchObject({
    code: 1,
    err: "error: no config retries; see all of them with: npx engine config list\n",
  });
});

test("SEC-4 a configuration value changes only where it is still of the version that was read", async () => {
  const { engine, account } = await guardedHost();
  const set = ["config", "set", "retries"];
  expect((await engine([...set, "5", "--if-version", "0"])).code).toBe(0);
  expect((await engine([...set, "6", "--if-version", "0"])).code).toBe(1);
  expect((await engine([...set, "6", "--if-version", "1"])).out).toMatch(/ {2}version +2\n/);
  expect((await engine([...set, "null"])).err).toMatch(/^error: value: must not be null/);
  const token = await account("ada", ["config:other:read"]);
  expect((await engine(["config", "list"], { token })).out).toBe(
    "There is no value that you may read.\n",
  );
  expect((await engine(["config", "get", "retries"], { token })).err).toContain(
    "config:retries:read",
  );
});
