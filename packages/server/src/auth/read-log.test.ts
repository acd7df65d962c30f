import type { AuditRecord } from "@engine/contract";
import { interposed, openSqliteStore, type Store } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { ManualTime, settled } from "../testing/manual-time.ts";
import { accountOf, asking } from "./testing/asking.ts";
import { guardedServer } from "./testing/guarded-server.ts";

const SOURCE = `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async (input) => input);
`;

/** A server whose clock stands, and what its audit log says of reads that were allowed. */
async function reading(reads: boolean, wrap = (store: Store): Store => store) {
  const time = new ManualTime();
  const { clock, monotonic, setTimer } = time;
  const opened = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  onTestFinished(() => opened.close());
  const guarded = await guardedServer({
    ...{ store: wrap(opened), clock, monotonic, setTimer },
    config: { security: { auth: { enabled: true }, audit: { reads } } },
  });
  const admin = asking(guarded, guarded.adminKey);
  await admin("POST", "/workflows", { source: SOURCE });
  const key = await accountOf(admin, "bot", ["viewer"]);
  const rows = async (actor = "bot"): Promise<readonly AuditRecord[]> => {
    await settled();
    return (await opened.audit.list({ actor, limit: 500, offset: 0 })).items;
  };
  const told = async (actor?: string) =>
    (await rows(actor))
      .filter(({ decision, changes }) => decision === "allow" && changes === null)
      .map(({ action, target, count }) => [action, target, count]);
  return { ...guarded, time, admin, bot: asking(guarded, key), key, rows, told };
}

test("AUD-2 with reads on, a read that was allowed is in the audit log: who, what, from where", async () => {
  const { bot, time, rows, told } = await reading(true);
  await bot("GET", "/workflows/default/hello");
  await bot("GET", "/executions");
  await bot("POST", "/auth/check", { permissions: [] });
  // Written together a moment later: no read waits for it.
  expect(await told()).toEqual([]);
  await time.advance(5_000);
  expect((await told()).toSorted()).toEqual([
    ["auth.check", null, 1],
    ["catalog.get", "default/hello", 1],
    ["executions.list", null, 1],
  ]);
  const row = (await rows()).find(({ action }) => action === "catalog.get");
  expect(row).toMatchObject({
    actor: { subject: "bot", issuer: "engine", type: "service_account" },
    credential: { kind: "api_key", id: expect.any(String) },
    ...{ decision: "allow", via_execution: null, permissions: [], reason: null, changes: null },
    ...{ client_address: "127.0.0.1", request_id: expect.any(String) },
    at: new Date(time.now - 5_000).toISOString(),
  });
});

test("AUD-2 AUD-3 equal reads of a minute are one row that counts them, over and over", async () => {
  const { bot, time, told } = await reading(true);
  const read = (path: string, times: number) =>
    Promise.all(Array.from({ length: times }, () => bot("GET", path)));
  await read("/executions", 30);
  await read("/workflows/default/hello", 2);
  await time.advance(5_000);
  await read("/executions", 12);
  await time.advance(5_000);
  expect((await told()).toSorted()).toEqual([
    ["catalog.get", "default/hello", 2],
    ["executions.list", null, 42],
  ]);
  await time.advance(60_000);
  await read("/executions", 1);
  await time.advance(5_000);
  expect((await told()).filter(([action]) => action === "executions.list")).toHaveLength(2);
});

test("AUD-2 what is refused, missing, open to anybody or a write is no allowed read", async () => {
  const t = await reading(true);
  await t.bot("GET", "/admin/roles");
  await t.bot("GET", "/workflows/default/none");
  await t.ask("/health", t.key);
  await t.ask("/auth/config", t.key);
  await t.admin("POST", "/workflows/default/hello/run/async", 1);
  await t.time.advance(5_000);
  expect(await t.told()).toEqual([]);
  expect((await t.rows()).map(({ decision, action }) => [decision, action])).toEqual([
    ["deny", "roles.list"],
  ]);
  // What changes something has its row by itself.
  const actions = (await t.told("admin")).map(([action]) => action);
  expect(actions.filter((action) => String(action).startsWith("executions."))).toEqual([]);
});

test("AUD-2 a secret that was read in plain text has its own row, and no second one", async () => {
  const t = await reading(true);
  const put = await t.admin("PUT", "/admin/secrets/token", { value: "correct horse" });
  expect(put.status).toBe(201);
  expect((await t.admin("GET", "/admin/secrets/token")).status).toBe(200);
  await t.time.advance(5_000);
  const reads = (await t.rows("admin")).filter(({ action }) => action === "secrets.get");
  expect(reads).toMatchObject([{ target: "token", count: 1 }]);
});

test("AUD-2 without the switch no read is written, and what a server still has is written when it ends", async () => {
  const off = await reading(false);
  await off.bot("GET", "/executions");
  await off.time.advance(60_000);
  expect(await off.told()).toEqual([]);

  const on = await reading(true);
  await on.bot("GET", "/executions");
  const closed = on.server.close();
  await on.time.advance(10_000);
  await closed;
  expect(await on.told()).toEqual([["executions.list", null, 1]]);
});

test("AUD-3 whoever reads ever new things gets rows that say less, and each read is counted", async () => {
  const { bot, time, admin, told } = await reading(true);
  const source = (n: number) => SOURCE.replace('"hello"', `"hello${n}"`);
  for (let n = 0; n < 70; n++) await admin("POST", "/workflows", { source: source(n) });
  for (let n = 0; n < 70; n++) await bot("GET", `/workflows/default/hello${n}`);
  await time.advance(5_000);
  const rows = await told();
  expect(rows).toHaveLength(51);
  expect(rows.reduce((sum, [, , count]) => sum + Number(count), 0)).toBe(70);
  expect(rows.filter(([, target]) => target === null)).toEqual([["catalog.get", null, 20]]);
});

test("AUD-2 a store that does not take the rows keeps no read from being answered", async () => {
  const { bot, time, told } = await reading(true, (store) =>
    interposed(store, ({ name }, call) => {
      if (name !== "audit.add" || !call) return call;
      return () => Promise.reject(new Error("the disk is full"));
    }),
  );
  for (let n = 0; n < 3; n++) {
    expect((await bot("GET", "/executions")).status).toBe(200);
    await time.advance(5_000);
  }
  expect(await told()).toEqual([]);
});
