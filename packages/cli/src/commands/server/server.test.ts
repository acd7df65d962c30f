import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { guardedHost } from "../../testing/guarded-host.ts";

/** A host without a server that runs. */
function host(env: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder({});
  onTestFinished(() => folder.remove());
  const home = join(folder.path, "home");
  const engine = async (...args: string[]) => {
    const io = capturedIo({ cwd: folder.path, env: { ENGINE_HOME: home, ...env } });
    const code = await runCli(args, io);
    return { code, out: io.printed(), err: io.complained() };
  };
  return { engine, home };
}

async function audited(home: string) {
  const path = join(home, "engine.db");
  const store = await openSqliteStore({ path, synchronous: "normal", clock: Date.now });
  try {
    return (await store.audit.list({ limit: 10, offset: 0 })).items;
  } finally {
    await store.close();
  }
}

test("AUTH-53 AUTH-60 the bootstrap token is made, printed and rotated on the host, with its row in the audit log", async () => {
  const { engine, home } = host();
  const none = await engine("server", "bootstrap-token");
  expect(none).toMatchObject({ code: 1, out: "" });
  expect(none.err).toContain("--rotate");
  const first = await engine("server", "bootstrap-token", "--rotate");
  expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/^engine_bt_\S+\n$/) });
  expect((await engine("server", "bootstrap-token")).out).toBe(first.out);
  const path = join(home, "bootstrap-token");
  expect(readFileSync(path, "utf8")).toBe(first.out);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const second = await engine("server", "bootstrap-token", "--rotate");
  expect(second.out).not.toBe(first.out);
  const rows = await audited(home);
  expect(rows).toHaveLength(2);
  expect(rows[0]).toMatchObject({
    action: "server.bootstrap_token.rotate",
    actor: { type: "local", subject: expect.stringMatching(/^local:/) },
  });
  expect(JSON.stringify(rows)).not.toContain("engine_bt_");
});

test("AUTH-53 a configured bootstrap token is printed, and not rotated here", async () => {
  const configured = "a-token-of-the-configuration-32-characters";
  const { engine } = host({ ENGINE_WORKERS__BOOTSTRAP_TOKEN: configured });
  expect((await engine("server", "bootstrap-token")).out).toBe(`${configured}\n`);
  expect(await engine("server", "bootstrap-token", "--rotate")).toMatchObject({ code: 1, out: "" });
});

test("AUTH-54 AUTH-60 join tokens are made, listed and revoked on the host: token on stdout, end on stderr", async () => {
  const { engine, home } = host();
  const made = await engine("server", "join-token", "--ttl", "600", "--subject", "gpu-1");
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^engine_jt_\S+\n$/) });
  expect(made.err).toMatch(/^expires at \d{4}-/);
  const list = await engine("server", "join-tokens", "--format", "json");
  expect(JSON.parse(list.out)).toMatchObject({
    total: 1,
    items: [{ subject: "gpu-1", created_by: expect.stringMatching(/^local:/) }],
  });
  expect(list.out).not.toContain("engine_jt_");
  const [{ id }] = JSON.parse(list.out).items;
  expect((await engine("server", "revoke-join-token", "--id", id)).code).toBe(0);
  expect((await engine("server", "revoke-join-token", "--id", id)).code).toBe(1);
  expect((await engine("server", "revoke-join-token", "--subject", "gpu-1")).code).toBe(0);
  expect((await audited(home)).map(({ action }) => action)).toEqual([
    "server.join_token.revoke",
    "server.join_token.create",
  ]);
});

test("AUTH-60 AUTH-57 the admin's key is printed and rotated beside the server that runs, which hears of it", async () => {
  const { engine, key, home, client } = await guardedHost();
  const rotate = ["server", "admin-key", "--rotate"];
  expect(await engine(["server", "admin-key"])).toEqual({ code: 0, out: `${key}\n`, err: "" });
  const made = await engine(rotate);
  const path = join(home, "admin-key");
  expect(made).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^engine_sk_\S+\n$/),
    err: `new key of admin, also in ${path}; the old one counts no more\n`,
  });
  const token = made.out.trim();
  expect(token).not.toBe(key);
  expect(readFileSync(path, "utf8")).toBe(made.out);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(home).filter((name) => name.startsWith("admin-key"))).toEqual(["admin-key"]);
  expect((await engine(["server", "admin-key"])).out).toBe(made.out);
  await vi.waitFor(() => expect(client.auth.whoami()).rejects.toThrow("not valid"), 5_000);
  const whoami = await engine(["auth", "whoami", "--format", "json"], { token });
  expect(JSON.parse(whoami.out)).toMatchObject({ subject: "admin", permissions: ["*"] });
  const audit = ["server", "audit", "--action", "server.admin_key.rotate", "--format", "json"];
  const rows = JSON.parse((await engine(audit, { token })).out);
  expect(rows).toMatchObject({
    total: 1,
    items: [
      { actor: { type: "local", subject: expect.stringMatching(/^local:/) }, target: "admin" },
    ],
  });
  expect(JSON.stringify(rows)).not.toContain(token.slice(23));
});

test("AUTH-60 a host without an admin's key says what to do, and --rotate makes the first admin", async () => {
  const { engine, home } = host();
  const none = await engine("server", "admin-key");
  expect(none).toMatchObject({ code: 1, out: "" });
  expect(none.err).toMatch(/no server with authorization has started .* --rotate\n$/);
  const made = await engine("server", "admin-key", "--rotate");
  expect(made).toMatchObject({ code: 0, err: expect.stringContaining("key of admin") });
  const path = join(home, "admin-key");
  rmSync(path);
  expect((await engine("server", "admin-key")).err).toMatch(/it was taken away, .* --rotate\n$/);
  const again = await engine("server", "admin-key", "--rotate");
  expect(again.out).not.toBe(made.out);
  // One that a rotation elsewhere has revoked.
  writeFileSync(path, made.out);
  expect((await engine("server", "admin-key")).err).toMatch(/counts no more: .* --rotate\n$/);
  expect((await audited(home)).map(({ action }) => action)).toEqual([
    "server.admin_key.rotate",
    "server.admin_key.rotate",
  ]);
});

test("AUTH-60 a rotation that died before the key was at its place is made good by the next look", async () => {
  const { engine, home } = host();
  const made = await engine("server", "admin-key", "--rotate");
  const path = join(home, "admin-key");
  const id = made.out.slice(10, 22);
  renameSync(path, `${path}.${id}.new`);
  // Of a server that is about to make its admin.
  const other = `${path}.abcdefghijkl.new`;
  writeFileSync(other, "engine_sk_abcdefghijkl_x\n");
  expect((await engine("server", "admin-key")).out).toBe(made.out);
  expect(readFileSync(path, "utf8")).toBe(made.out);
  expect(readFileSync(other, "utf8")).toMatch(/^engine_sk_/);
});

test("AUTH-60 a key is not rotated where it would not count, or for an account that is no admin any more", async () => {
  const off = host({ ENGINE_SECURITY__AUTH__API_KEYS__ENABLED: "false" });
  expect(await off.engine("server", "admin-key", "--rotate")).toMatchObject({
    code: 1,
    err: expect.stringContaining("API keys are turned off"),
  });
  const { engine, key, home, client } = await guardedHost();
  const subject = "ops";
  await client.principals.create({
    body: { subject, type: "service_account", roles: ["admin"] },
  });
  const ops = await client.principals.createKey({ params: { subject }, body: { name: "k" } });
  const disabled = await engine(["principals", "disable", "admin"], { token: ops.key });
  expect(disabled.code).toBe(0);
  expect(await engine(["server", "admin-key", "--rotate"])).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringMatching(/no admin any more, and others are: .*create-key/),
  });
  expect(readFileSync(join(home, "admin-key"), "utf8")).toBe(`${key}\n`);
  expect(readdirSync(home).filter((name) => name.startsWith("admin-key"))).toEqual(["admin-key"]);
});

test("AUTH-60 what is wrong on the command line is a usage error", async () => {
  const { engine } = host();
  const wrong = [
    ["server", "join-token", "--ttl", "59"],
    ["server", "join-token", "--subject", "local"],
    ["server", "revoke-join-token"],
    ["server", "revoke-join-token", "--subject", " "],
    ["server", "revoke-join-token", "--id", "x", "--subject", "y"],
  ];
  for (const args of wrong) expect((await engine(...args)).code, args.join(" ")).toBe(2);
});

test("AUTH-52 AUTH-60 no command takes a token as an argument", async () => {
  const { engine } = host();
  const token = "engine_jt_abcdefghijkl_secret";
  const tried = [
    ["start", "worker", token],
    ["start", "worker", "w1", token],
    ["start", "worker", "--join-token", token],
    ["server", "join-token", token],
    ["server", "revoke-join-token", token],
    ["server", "bootstrap-token", token],
    ["server", "admin-key", token],
  ];
  for (const args of tried) {
    const { code, err } = await engine(...args);
    expect(code, args.join(" ")).toBe(2);
    expect(err, args.join(" ")).not.toContain("abcdefghijkl_secret");
  }
});
