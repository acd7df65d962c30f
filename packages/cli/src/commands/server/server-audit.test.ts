import { expect, test } from "vitest";
import { guardedHost } from "../../testing/guarded-host.ts";

const GAPS = / {2,}/g;
const AUDIT = ["server", "audit"];

test("AUD-3 AUTH-60 audit lists what was changed and who was refused, newest first, by what is asked for", async () => {
  const { engine, account, url } = await guardedHost();
  const token = await account("ada", ["admin:principals:manage", "admin:principals:read"]);
  await engine(["principals", "create-key", "ada", "--key-name", "ci", "--expires", "90d"]);
  await engine(["principals", "ban", "ada", "--reason", "leaked"]);
  await engine(["roles", "list"], { token });
  await fetch(`${url}/workflows`);
  const rows = async (...args: string[]) => {
    const { out, code } = await engine([...AUDIT, ...args]);
    expect(code).toBe(0);
    const [head, ...others] = out.trimEnd().split("\n");
    expect(head).toMatch(/^TIME \(UTC\) +DONE +BY +ACTION +TO +MORE$/);
    return others.map((line) => line.replace(GAPS, " | ").replace(/^\S+Z/, "AT"));
  };
  expect(await rows("--action", "principals.ban")).toEqual([
    "AT | ✓ done | admin | principals.ban | ada | leaked; enabled: true → false; banned: false → true; ban_reason: leaked",
  ]);
  const [made = ""] = await rows("--target", "ada", "--action", "principals.createKey");
  expect(made).toMatch(/ \| key: ci; id: [a-z0-9]{12}; expires_at: 2\S+Z$/);
  const refused = await rows("--decision", "deny");
  expect(refused).toHaveLength(2);
  expect(refused.join("\n")).toMatch(
    /✗ refused \| nobody known, 127\.0\.0\.1 \| catalog\.list \| credential missing/,
  );
  expect(refused.join("\n")).toMatch(/✗ refused \| nobody known.* roles\.list \| credential /);
  const all = await rows();
  expect(all.length).toBeGreaterThan(4);
  expect(await rows("--since", "1h")).toEqual(all);
  expect(await rows("--actor", "admin", "--until", "2999-01-01T00:00:00Z")).toHaveLength(
    all.length - 2,
  );
  const none = "Nothing in the log matches.\n";
  expect((await engine([...AUDIT, "--since", "2999-01-01"])).out).toBe(none);
  expect((await engine([...AUDIT, "--until", "1d"])).out).toBe(none);
  expect((await engine([...AUDIT, "--actor", "nobody"])).out).toBe(none);
  // At a terminal a row is one line.
  const narrow = (await engine(AUDIT, { columns: 100 })).out.split("\n");
  expect(narrow).toHaveLength(all.length + 2);
});

test("AUD-3 AUTH-60 audit says how it goes on, and reads on where more are asked for than a server gives at once", async () => {
  const {
    engine,
    store: { audit },
    client,
  } = await guardedHost();
  for (let i = 0; i < 3; i++) {
    await client.roles.create({ body: { name: `role-${i}`, permissions: ["a:b"] } });
  }
  expect((await engine([...AUDIT, "--limit", "2"])).out).toMatch(
    /role-2 .*\n.*role-1 .*\n1 more; continue with --offset 2\n$/,
  );
  expect((await engine([...AUDIT, "--offset", "9"])).out).toBe("No more: 3 match in all.\n");
  const [first] = (await audit.list({ limit: 1, offset: 0 })).items;
  if (!first) expect.unreachable("the roles are in the log");
  const { count: _, ...entry } = first;
  for (let i = 0; i < 500; i++) await audit.add({ ...entry, id: `more-${i}`, at: i });
  const page = JSON.parse((await engine([...AUDIT, "--limit", "502", "--format", "json"])).out);
  expect(page).toMatchObject({ total: 503, limit: 502, offset: 0 });
  expect(page.items).toHaveLength(502);
});

test("AUTH-60 reading the log takes a permission, which a refusal names", async () => {
  const { engine, account } = await guardedHost();
  const token = await account("ada", ["admin:roles:read"]);
  expect(await engine(AUDIT, { token })).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("admin:audit:read"),
  });
});
