/** As whom hooks start their targets: account and rights are those of the moment of the start. */
import type { DeliveryRecord } from "@engine/contract";
import { expect, test, vi } from "vitest";
import type { Ask } from "../auth/testing/asking.ts";
import { changeByNobody } from "../auth/testing/change-by-nobody.ts";
import { CHARGE, type HookedServer, hookedServer, RUN } from "./testing/hooked-server.ts";

vi.setConfig({ testTimeout: 60_000 });

/** `plain` has begun: then `pay` runs as `bot`. */
async function drained(): Promise<HookedServer> {
  const t = await hookedServer({ config: { hooks: { enabled: true } } });
  await t.rewrite({ selectors: ["execution:default:plain:created"] });
  return t;
}

/** Fires the hook once more, and what became of its newest delivery. */
async function fired({ admin }: HookedServer): Promise<DeliveryRecord> {
  await admin("POST", "/workflows/default/plain/run/async", null);
  return vi.waitFor(
    async () => {
      const { body } = await admin("GET", "/hooks/page/deliveries?limit=1");
      const [newest] = body.items as DeliveryRecord[];
      if (!newest || newest.status === "pending") throw new Error("it waits");
      return newest;
    },
    { timeout: 20_000 },
  );
}

/** Of the runs of `pay`, the account of each. */
async function accounts({ admin }: HookedServer): Promise<readonly unknown[]> {
  const { items } = (await admin("GET", "/executions?workflow=pay&limit=10")).body;
  return items.map(({ run_as }: { run_as: unknown }) => run_as);
}

test.each<[string, (ask: Ask) => Promise<unknown>, string]>([
  ["disabled", (ask) => ask("POST", "/admin/principals/bot/disable"), "principal_disabled"],
  ["banned", (ask) => ask("POST", "/admin/principals/bot/ban"), "principal_banned"],
  ["deleted", (ask) => ask("DELETE", "/admin/principals/bot?force=true"), "principal_not_found"],
])(
  "AUTH-48 AUTH-22 HOOK-29 an account that is %s starts nothing from the next event on",
  async (...row) => {
    const [, lose, reason] = row;
    const t = await drained();
    expect(await fired(t)).toMatchObject({ status: "delivered" });
    await lose(t.admin);
    expect(await fired(t)).toMatchObject({ status: "dead", dead_reason: reason });
    expect(await accounts(t)).toHaveLength(1);
  },
);

test("AUTH-48 the account's right to run the target is asked for at each start, all of it", async () => {
  const t = await drained();
  await t.admin("POST", "/admin/roles", { name: "payer", permissions: [RUN, CHARGE] });
  await t.admin("POST", "/admin/principals/bot/roles", { role: "payer" });
  await t.admin("DELETE", "/admin/principals/bot/roles/operator");
  expect(await fired(t)).toMatchObject({ status: "delivered" });
  await t.admin("PUT", "/admin/roles/payer", { permissions: [RUN] });
  expect(await fired(t)).toMatchObject({
    ...{ status: "dead", dead_reason: "principal_not_permitted" },
    error: expect.stringContaining(CHARGE),
  });
  await t.admin("PUT", "/admin/roles/payer", { permissions: [RUN, CHARGE] });
  expect(await fired(t)).toMatchObject({ status: "delivered" });
});

test("AUTH-48 HOOK-44 account and rights are read from the store, also where no server heard of their change", async () => {
  const t = await drained();
  expect(await fired(t)).toMatchObject({ status: "delivered" });
  const bot = await t.store.identities.findBySubject("bot", "engine");
  await t.store.principals.change(bot?.id ?? "", () => ({ enabled: false }), changeByNobody());
  expect(await fired(t)).toMatchObject({ status: "dead", dead_reason: "principal_disabled" });
});

test("AUTH-48 HOOK-44 revoking the grant, or disabling who made the hook, stops no start", async () => {
  const t = await drained();
  await t.admin("DELETE", "/hooks/page");
  const selectors = ["execution:default:plain:created"];
  expect((await t.create(t.trusted, { selectors })).status).toBe(201);
  await t.admin("PUT", "/admin/roles/trusted", { permissions: [] });
  await t.admin("POST", "/admin/principals/trusted/disable");
  expect(await fired(t)).toMatchObject({ status: "delivered" });
});

test("AUTH-45 HOOK-45 AUTH-48 whoever may run the source fires the hook, and what it starts is the account's", async () => {
  const t = await drained();
  const runner = await t.may("runner", ["workflow:default:plain:run"]);
  const { status } = await runner("POST", "/workflows/default/plain/run/async", null);
  expect(status).toBe(202);
  const { id } = (await t.admin("GET", "/admin/principals/bot")).body;
  await vi.waitFor(async () => expect(await accounts(t)).toHaveLength(1), { timeout: 20_000 });
  const [{ execution_id }] = (await t.admin("GET", "/executions?workflow=pay")).body.items;
  expect((await t.store.executions.find(execution_id))?.run_as).toBe(id);
  // And theirs alone: who fired it may not read it.
  expect((await runner("GET", `/executions/${execution_id}`)).status).toBe(403);
});
