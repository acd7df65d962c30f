import { Config } from "@engine/contract";
import { startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";
import { guardedHost } from "../../testing/guarded-host.ts";

vi.setConfig({ testTimeout: 60_000 });

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const NOON = Date.parse("2026-01-05T12:00:00.000Z");
const SOURCE = `import { workflow } from "@engine/sdk";
export const page = workflow({ name: "page", namespace: "ops" }, async (input) => input);
export const charge = workflow({ name: "charge", namespace: "billing" }, async (input) => input);
`;
/** What a command needs to make the hook of these tests. */
const MADE = ["--on", "execution:billing:*:created", "--workflow", "ops/page"];
const AS_BOT = ["--principal", "ops-bot"];
const SHOWN = `✓ page-on-failure → ops/page as ops-bot max 5
  on execution:billing:*:created
`;

/** A server that leaves deliveries where they are, whose clock stands at noon, and a user's command line. */
async function start() {
  let now = NOON;
  const clock = () => now;
  const store = await openSqliteStore({
    ...{ path: ":memory:", synchronous: "normal", clock },
    hooks: {
      ...{ enabled: true, max_value_bytes: 65_536, snapshot_ttl_seconds: 0 },
      redact: (json) => json,
    },
  });
  const config = Config.parse({ server: { port: 0 }, hooks: { enabled: false } });
  const options = { config, store, log: silent, version: "1.2.3", clock };
  const server = await startServer(options);
  onTestFinished(async () => {
    await server.close();
    await store.close();
  });
  await server.engine.catalog.register({ source: SOURCE }, { by: null });
  return { hook, fire, die, store };

  async function hook(args: readonly string[], answer?: boolean) {
    const asked: string[] = [];
    const io = capturedIo({
      env: { ENGINE_SERVER_URL: server.url },
      confirm: async (text) => {
        asked.push(text);
        return answer;
      },
      now: clock,
    });
    const code = await runCli(["hook", ...args], io);
    return { code, out: io.printed(), err: io.complained(), asked: asked.join() };
  }

  async function fire(): Promise<void> {
    const start = { namespace: "billing", workflow: "charge", input: 1, by: null } as const;
    await server.engine.executions.start({ ...start, trigger: { kind: "api" } });
  }

  /** The newest delivery dies, and time goes on. */
  async function die(): Promise<string> {
    const { id: hook_id, revision } =
      (await store.hooks.find("page-on-failure")) ?? expect.unreachable();
    const { items } = await store.deliveries.list(hook_id, { limit: 1, offset: 0 });
    const [{ id, attempts } = expect.unreachable()] = items;
    await store.deliveries.fail(
      { delivery_id: id, attempts, hook_id, revision },
      {
        ...{ attempts: 1, dead_reason: "target_not_found", next_attempt_at: null },
        error: "no workflow ops/page is registered",
      },
    );
    now += 1000;
    return id;
  }
}

test("HOOK-52 HOOK-53 a hook is made, shown, changed, tested and deleted", async () => {
  const { hook, fire } = await start();
  const created = await hook(["create", "page-on-failure", ...MADE, ...AS_BOT]);
  expect(created).toMatchObject({ code: 0, err: "", out: SHOWN });

  const more = ["--on", "task:*", "--on", "execution:*", "--max-attempts", "9", "--disable"];
  const updated = await hook(["update", "page-on-failure", ...more]);
  expect(updated.out).toBe(`⏸ page-on-failure → ops/page as ops-bot max 9
  on task:*
  on execution:*
`);
  const back = ["--on", "execution:billing:*:created", "--max-attempts", "5", "--enable"];
  expect((await hook(["update", "page-on-failure", ...back])).out).toBe(SHOWN);

  await fire();
  expect((await hook(["get", "page-on-failure"])).out).toBe(`${SHOWN}  pending          1
  dead             0
  last delivered   never
  problems         hooks_disabled
`);

  const tested = await hook(["test", "page-on-failure", "--value", '{"n":1}']);
  expect(tested.out).toMatch(
    /^✓ page-on-failure started execution [0-9a-f-]{36}\n {2}envelope {3}\{\n/,
  );
  expect(tested.out).toMatch(/"value": \{\n +"n": 1\n/);

  const kept = await hook(["delete", "page-on-failure"], false);
  expect(kept).toMatchObject({ code: 1, err: "Nothing was deleted.\n" });
  expect(kept.asked).toBe(
    "This deletes hook page-on-failure, and 1 delivery that waits.\nExecutions that it has started stay and go on.\nDelete it?",
  );
  expect(await hook(["delete", "page-on-failure"])).toMatchObject({ code: 2, out: "" });
  const deleted = await hook(["delete", "page-on-failure", "--yes"]);
  expect(deleted).toMatchObject({ code: 0, asked: "" });
  expect(deleted.out).toBe(
    "Deleted hook page-on-failure, and 1 delivery that waits. Executions that it has started stay and go on.\n",
  );
  expect((await hook(["list"])).out).toMatch(/^No hooks here\. Make one: npx engine hook create/);
});

test("HOOK-53 json prints what the API answers", async () => {
  const { hook } = await start();
  const json = async (...args: readonly string[]) =>
    JSON.parse((await hook([...args, "--format", "json"])).out);
  const record = {
    ...{ id: expect.any(String), name: "page-on-failure", enabled: true, workflow: "ops/page" },
    ...{ selectors: ["execution:billing:*:created"], principal: "ops-bot", max_attempts: 5 },
    ...{ owner_type: "user", owner_ref: null, created_by: null, updated_by: null },
    created_at: "2026-01-05T12:00:00.000Z",
    updated_at: "2026-01-05T12:00:00.000Z",
  };
  expect(await json("create", "page-on-failure", ...MADE, ...AS_BOT)).toEqual(record);
  expect(await json("get", "page-on-failure")).toEqual({
    ...record,
    status: { pending: 0, dead: 0, last_delivered_at: null, problems: ["hooks_disabled"] },
  });
  expect(await json("update", "page-on-failure", "--enable")).toEqual(record);
  expect(await json("test", "page-on-failure")).toMatchObject({
    ...{ hook: "page-on-failure", execution_id: expect.any(String) },
    envelope: { selector: "execution:billing:*:created", attempt: 1, hop: 0 },
  });
  const empty = { items: [], total: 0, limit: 50, offset: 0 };
  expect(await json("deliveries", "page-on-failure")).toEqual(empty);
  expect(await json("delete", "page-on-failure", "--yes")).toEqual({
    ...{ name: "page-on-failure", deleted: true, pending_dropped: 0 },
  });
});

test("HOOK-52 HOOK-53 a list is one of all hooks, however many pages the server has of them", async () => {
  const { hook, store } = await start();
  const rest = { workflow: "ops/page", principal: "bot", max_attempts: 5, created_by: null };
  const owner = { owner_type: "user", owner_ref: null } as const;
  for (let n = 0; n < 1001; n++) {
    const name = `h${String(n).padStart(4, "0")}`;
    const enabled = n % 2 === 0;
    await store.hooks.create({ id: name, name, enabled, selectors: ["task:*"], ...rest, ...owner });
  }
  const { out } = await hook(["list", "--format", "json"]);
  const list = JSON.parse(out);
  expect([list.total, list.items.length, list.offset]).toEqual([1001, 1001, 0]);
  const simple = await hook(["list", "--enabled-only"]);
  expect(simple.out.match(/^✓ h\d+ → ops\/page as bot max 5$/gm)).toHaveLength(501);
  expect(simple.out).not.toContain("⏸");
});

test("HOOK-52 HOOK-53 deliveries are listed, shown and tried anew, one or all", async () => {
  const { hook, fire, die } = await start();
  await hook(["create", "page-on-failure", ...MADE, ...AS_BOT]);
  expect((await hook(["deliveries", "page-on-failure"])).out).toBe("No deliveries.\n");
  await fire();
  const id = await die();
  await fire();
  const listed = await hook(["deliveries", "page-on-failure"]);
  const [waits = "", dead = "", error = ""] = listed.out.split("\n");
  expect(waits).toMatch(/^… [0-9a-f-]{36} pending [0-9a-f-]{36}:1 attempts 0$/);
  expect(dead).toMatch(new RegExp(`^✗ ${id} dead [0-9a-f-]{36}:1 attempts 1$`));
  expect(error).toBe("  error target_not_found: no workflow ops/page is registered");
  const page = await hook(["deliveries", "page-on-failure", "--limit", "1"]);
  expect(page.out).toBe(`${waits}\n1 more; continue with --offset 1\n`);
  const next = await hook(["deliveries", "page-on-failure", "--limit", "1", "--offset", "1"]);
  expect(next.out).toBe(`${dead}\n${error}\n`);
  const died = await hook(["deliveries", "page-on-failure", "--status", "dead"]);
  expect(died.out).toBe(`${dead}\n${error}\n`);

  const shown = await hook(["delivery", "page-on-failure", id]);
  expect(shown.out).toContain(`${dead}\n${error}\n  event      created of billing/charge\n`);
  expect(shown.out).toMatch(/^ {2}selector {3}execution:billing:\*:created\n {2}hop {8}0$/m);
  expect(shown.out).toMatch(/^ {2}envelope {3}\{\n +"hook": "page-on-failure",$/m);
  const json = await hook(["delivery", "page-on-failure", id, "--format", "json"]);
  expect(JSON.parse(json.out)).toMatchObject({ id, status: "dead", envelope: { hop: 0 } });

  const retried = await hook(["retry", "page-on-failure", id]);
  expect(retried.out).toMatch(new RegExp(`^… ${id} pending [0-9a-f-]{36}:1 attempts 0\n$`));
  const again = await hook(["retry", "page-on-failure", id]);
  expect(again).toMatchObject({
    ...{ code: 1, out: "" },
    err: `error: delivery ${id} is pending; only one that was given up is tried anew\n`,
  });
  await die();
  const other = await hook(["retry", "page-on-failure", "--all", "--reason", "malformed"]);
  expect(other.out).toBe("Handed back 0 deliveries.\n");
  const all = await hook(["retry", "page-on-failure", "--all", "--format", "json"]);
  expect(JSON.parse(all.out)).toEqual({ retried: 1, remaining: 0 });
});

test("HOOK-53 a refusal is followed by what helps: the hint, or the permissions that are missing", async () => {
  const { hook } = await start();
  const other = ["--on", "execution:a:b:started", "--workflow", "ops/page"];
  const refused = await hook(["create", "h", ...other, ...AS_BOT]);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toBe(
    'error: selector "execution:a:b:started" can never fire\n  did you mean running? It is the state after a start and after every resume\n',
  );
  const host = await guardedHost();
  const token = await host.account("ann", ["hook:*"]);
  await host.account("ops-bot", []);
  const typed = ["hook", "create", "h", ...MADE, ...AS_BOT];
  expect(await host.engine(typed, { token })).toMatchObject({
    ...{ code: 1, out: "" },
    err: "error: the caller lacks principal:ops-bot:impersonate\n",
  });
  expect((await host.engine(typed)).err).toBe("error: ops-bot lacks workflow:ops:page:run\n");
});
