import { afterAll, expect, onTestFinished, test } from "vitest";
import { newHook } from "../conformance/hooked.ts";
import { opened } from "../conformance/opened.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { Database } from "./database.ts";
import { PostgresHookSource } from "./hook-source.ts";
import { openPostgresStore } from "./postgres-store.ts";
import { postgresTarget } from "./postgres-url.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

const CREATED = { domain: "execution", segment: "created", names: ["default", "hello"] } as const;

/** A source whose hooks may be a second old, by a clock of its own. */
async function begin() {
  const url = await postgres.createDatabase();
  const store = await opened(() => openPostgresStore({ url, clock: Date.now }));
  const database = new Database(postgresTarget(url), { lanes: 1, general: 1 });
  onTestFinished(() => database.close());
  const clock = { now: 0 };
  const source = new PostgresHookSource(database, { ttlMs: 1_000, elapsed: () => clock.now });
  const names = () => source.index.match(CREATED).map(({ hook }) => hook.name);
  return { store, database, clock, source, names };
}

test("HOOK-12 hooks are read before a commit that would find them too old, and not otherwise", async () => {
  const { store, database, clock, source, names } = await begin();
  await source.ready();
  await store.hooks.create(newHook("page"));
  const before = database.sent;
  clock.now = 499;
  expect(source.ready()).toBeUndefined();
  expect(database.sent).toBe(before);
  expect(names()).toEqual([]);
  clock.now = 1_000;
  await source.ready();
  expect(names()).toEqual(["page"]);
  expect(database.sent - before).toBe("epoch hooks".split(" ").length);
  clock.now = 2_000;
  await Promise.all([source.ready(), source.ready()]);
  expect(database.sent - before).toBe("epoch hooks epoch".split(" ").length);
});

test("HOOK-12 hooks of half that age are read anew while commits go on", async () => {
  const { store, clock, source, names } = await begin();
  await source.ready();
  await store.hooks.create(newHook("page"));
  clock.now = 500;
  expect(source.ready()).toBeUndefined();
  await expect.poll(names).toEqual(["page"]);
});

test("HOOK-12 of two readings that overtake each other the one that began later counts", async () => {
  const { store, clock, source, names } = await begin();
  await store.hooks.create(newHook("page"));
  const first = source.refresh();
  clock.now = 10;
  await Promise.all([first, source.refresh()]);
  expect(names()).toEqual(["page"]);
  clock.now = 1_005;
  expect(source.ready()).toBeUndefined();
});

test("HOOK-16 while the database is away nothing is matched with hooks that are too old", async () => {
  const { database, clock, source } = await begin();
  await source.ready();
  await database.close();
  clock.now = 700;
  expect(source.ready()).toBeUndefined();
  clock.now = 5_000;
  await expect(source.ready()).rejects.toMatchObject({ code: "unavailable" });
});
