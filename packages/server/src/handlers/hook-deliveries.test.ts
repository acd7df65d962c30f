import { expect, test, vi } from "vitest";
import type { Ask } from "../auth/testing/asking.ts";
import { hookedServer, refusalOf } from "./testing/hooked-server.ts";

vi.setConfig({ testTimeout: 60_000 });

/** A server whose hook `page` has been fired some times. */
async function fired(times: number) {
  const t = await hookedServer();
  await t.rewrite({ selectors: ["execution:default:pay:created"] });
  for (let n = 1; n <= times; n++) await t.fire({ n });
  return t;
}

async function idsOf(ask: Ask, query = ""): Promise<string[]> {
  const { items } = (await ask("GET", `/hooks/page/deliveries${query}`)).body;
  return items.map(({ id }: { id: string }) => id);
}

test("HOOK-3 HOOK-36 deliveries are listed newest first, without what their targets are started with", async () => {
  const { admin } = await fired(3);
  const { body } = await admin("GET", "/hooks/page/deliveries");
  expect(body).toMatchObject({ total: 3, limit: 50, offset: 0 });
  const { items: runs } = (await admin("GET", "/executions?order=created_desc")).body;
  const ids = runs.map(({ execution_id }: { execution_id: string }) => execution_id);
  expect(body.items).toEqual(
    ids.map((id: string) => ({
      ...{ id: expect.any(String), hook: "page", event_key: `${id}:1`, status: "pending" },
      ...{ attempts: 0, hop: 0, selector: "execution:default:pay:created", event_type: "created" },
      ...{ source_workflow: "default/pay", execution_id: null, error: null, dead_reason: null },
      ...{ next_attempt_at: null, created_at: expect.any(String), settled_at: null },
    })),
  );
});

test("HOOK-36 a list of deliveries may be of one status, one reason, one execution, and go on behind one", async () => {
  const t = await fired(3);
  const dead = await t.die("target_not_found");
  const [first = "", second = "", third = ""] = await idsOf(t.admin);
  expect(first).toBe(dead);
  expect(await idsOf(t.admin, "?status=dead")).toEqual([first]);
  expect(await idsOf(t.admin, "?status=pending")).toEqual([second, third]);
  expect(await idsOf(t.admin, "?dead_reason=target_not_found")).toEqual([first]);
  expect(await idsOf(t.admin, "?dead_reason=malformed")).toEqual([]);
  expect(await idsOf(t.admin, `?before=${first}&limit=1`)).toEqual([second]);
  expect(await idsOf(t.admin, "?offset=2")).toEqual([third]);
  const { items } = (await t.admin("GET", "/hooks/page/deliveries?limit=1")).body;
  const [source] = items[0].event_key.split(":");
  expect(await idsOf(t.admin, `?source_execution_id=${source}`)).toEqual([first]);
});

test("HOOK-3 what an event holds is shown to those who may read the workflow that it is of", async () => {
  const t = await fired(1);
  const [id] = await idsOf(t.admin);
  const path = `/hooks/page/deliveries/${id}`;
  const whole = (await t.admin("GET", path)).body;
  expect(whole.envelope).toMatchObject({
    ...{ hook: "page", delivery_id: id, attempt: 1, hop: 0 },
    event: { type: "created", workflow_name: "pay", value: { version: 1 } },
  });
  const grants = ["hook:deliveries:read", "workflow:default:plain:read"];
  const other = await t.may("other", grants);
  const event = { ...whole.envelope.event, value: { $omitted: { reason: "not_readable" } } };
  expect((await other("GET", path)).body).toEqual({
    ...whole,
    envelope: { ...whole.envelope, event },
  });
  const reader = await t.may("reader", ["hook:deliveries:read", "workflow:default:pay:read"]);
  expect((await reader("GET", path)).body).toEqual(whole);
});

test("HOOK-38 a delivery of another hook is not there", async () => {
  const t = await fired(1);
  await t.create(t.admin, { name: "other" });
  const [id] = await idsOf(t.admin);
  const missing = { status: 404, code: "not_found", details: { resource: "delivery" } };
  for (const path of [`/hooks/other/deliveries/${id}`, "/hooks/page/deliveries/none"]) {
    expect(refusalOf(await t.admin("GET", path))).toEqual(missing);
    expect(refusalOf(await t.admin("POST", `${path}/retry`))).toEqual(missing);
  }
  expect(refusalOf(await t.admin("GET", `/hooks/none/deliveries/${id}`))).toMatchObject({
    details: { resource: "hook" },
  });
});

test("HOOK-37 a dead delivery is handed back as it was at first, once", async () => {
  const t = await fired(1);
  const [before] = (await t.admin("GET", "/hooks/page/deliveries")).body.items;
  const id = await t.die();
  const path = `/hooks/page/deliveries/${id}`;
  expect((await t.admin("GET", path)).body).toMatchObject({
    ...{ status: "dead", attempts: 1, dead_reason: "input_rejected" },
    ...{ error: "hop: expected a number", settled_at: expect.any(String) },
  });
  expect((await t.admin("GET", "/hooks/page")).body.status).toMatchObject({ pending: 0, dead: 1 });
  expect((await t.trusted("POST", `${path}/retry`)).body).toEqual(before);
  expect(refusalOf(await t.trusted("POST", `${path}/retry`))).toEqual({
    ...{ status: 409, code: "delivery_not_dead", details: { status: "pending" } },
  });
  const { items } = (await t.admin("GET", "/admin/audit?action=hooks.retry&actor=trusted")).body;
  expect(items).toMatchObject([
    { target: "page", permissions: ["principal:bot:impersonate"], decision: "allow" },
  ]);
});

test("HOOK-37 many are handed back, oldest first, by the reason and the instant that they died of", async () => {
  const t = await hookedServer();
  await t.rewrite({ selectors: ["execution:default:pay:created"] });
  for (const reason of ["malformed", "target_not_found", "target_not_found"] as const) {
    await t.fire();
    await t.die(reason);
  }
  const many = async (body?: object) =>
    (await t.trusted("POST", "/hooks/page/deliveries/retry", body)).body;
  const past = { settled_before: "2020-01-01T00:00:00Z" };
  expect(await many(past)).toEqual({ retried: 0, remaining: 0 });
  const one = { dead_reason: "target_not_found", limit: 1 };
  const later = { settled_before: "2099-01-01T00:00:00Z" };
  const [, middle, oldest] = await idsOf(t.admin);
  expect(await many({ ...one, ...later })).toEqual({ retried: 1, remaining: 1 });
  expect(await idsOf(t.admin, "?status=pending")).toEqual([middle]);
  expect(await idsOf(t.admin, "?dead_reason=malformed")).toEqual([oldest]);
  expect(await many(later)).toEqual({ retried: 2, remaining: 0 });
  expect(await idsOf(t.admin, "?status=dead")).toEqual([]);
  expect(await many()).toEqual({ retried: 0, remaining: 0 });
});
