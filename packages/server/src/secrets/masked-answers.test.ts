import { interposed, openSqliteStore, type StoreMethod } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { refused, secretServer } from "./testing/secret-server.ts";

const MASK = "***REDACTED***";

test("RED-3 a secret is masked in whatever is read the moment it is kept, and shown where it is asked for", async () => {
  const { send } = await secretServer();
  const password = "correct horse battery";
  await send("PUT", "/admin/configs/url", { value: `db://shop:${password}@db` });
  expect((await send("GET", "/admin/configs/url")).body.value).toContain(password);
  await send("PUT", "/admin/secrets/db", { value: { password }, description: `is ${password}` });
  expect((await send("GET", "/admin/configs/url")).body.value).toBe(`db://shop:${MASK}@db`);
  const listed = await send("GET", "/admin/secrets");
  expect(listed.text).not.toContain(password);
  expect(listed.body.items[0].description).toBe(`is ${MASK}`);
  const missing = await send("GET", `/admin/configs/${encodeURIComponent(password)}`);
  expect(missing.status).toBe(404);
  expect(missing.text).not.toContain(password);
  expect((await send("GET", "/admin/secrets/db")).body.value).toEqual({ password });
  await send("DELETE", "/admin/secrets/db");
  expect((await send("GET", "/admin/configs/url")).body.value).toBe(`db://shop:${MASK}@db`);
});

test("RED-5 while nobody knows what is masked only the health of the server is told, and what goes as it is", async () => {
  const failing = new Set<StoreMethod>();
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  onTestFinished(() => store.close());
  const breakable = interposed(store, ({ name }, call) => {
    if (!call) return undefined;
    return (...args) =>
      failing.has(name) ? Promise.reject(new Error("the database is away")) : call(...args);
  });
  const { send, server } = await secretServer({ store: breakable });
  await send("PUT", "/admin/secrets/db", { value: "correct horse battery" });
  failing.add("masks.list");
  server.engine.epochs.raised("masks");
  for (const path of ["/admin/secrets", "/admin/secrets/none", "/workflows", "/nowhere"]) {
    const told = await send("GET", path);
    const isPlain = path === "/admin/secrets/none";
    expect(told).toMatchObject(
      isPlain ? refused(404, "not_found") : refused(503, "redaction_unavailable"),
    );
  }
  for (const path of ["/health", "/ready", "/admin/secrets/db"]) {
    expect([path, (await send("GET", path)).status]).toEqual([path, 200]);
  }
  failing.clear();
  expect((await send("GET", "/admin/secrets")).status).toBe(200);
});
