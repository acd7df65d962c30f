import { once } from "node:events";
import { Client } from "pg";
import { afterAll, expect, test } from "vitest";
import { opened } from "../../conformance/opened.ts";
import { startTestPostgres } from "../../testing/test-postgres.ts";
import { openPostgresStore } from "../postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

const open = (url: string) => opened(() => openPostgresStore({ url, clock: Date.now }));

test("EXE-98 of all replicas one leads a periodic work, until it lets go", async () => {
  const url = await postgres.createDatabase();
  const stores = [await open(url), await open(url), await open(url)];
  const all = await Promise.all(stores.map(async (store) => store.replicas.lead?.("retention")));
  const [leader, ...more] = all.filter((one) => one !== undefined);
  expect(leader).toBeDefined();
  expect(more).toEqual([]);
  for (const store of stores) expect(await store.replicas.lead?.("retention")).toBeUndefined();
  await leader?.release();
  await leader?.release();
  const others = stores.filter((_, i) => all[i] !== leader);
  const next = await others[0]?.replicas.lead?.("retention");
  expect(next).toBeDefined();
  expect(leader?.lost.aborted).toBe(false);
});

test("works have leaders of their own, and databases too", async () => {
  const [first, second] = [await postgres.createDatabase(), await postgres.createDatabase()];
  const [a, b, elsewhere] = [await open(first), await open(first), await open(second)];
  expect(await a.replicas.lead?.("schedules")).toBeDefined();
  expect(await b.replicas.lead?.("retention")).toBeDefined();
  expect(await elsewhere.replicas.lead?.("schedules")).toBeDefined();
});

test("a replica that ends or loses its connection leads no more, and hears of it", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await openPostgresStore({ url, clock: Date.now }), await open(url)];
  const first = await a.replicas.lead?.("sweep");
  expect(first).toBeDefined();
  await a.close();
  expect(first?.lost.aborted).toBe(true);

  const second = await b.replicas.lead?.("sweep");
  if (!second) throw new Error("b does not lead");
  const lost = once(second.lost, "abort");
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'engine listener' AND datname = current_database()`);
  await client.end();
  await lost;
  expect(await (await open(url)).replicas.lead?.("sweep")).toBeDefined();
});
