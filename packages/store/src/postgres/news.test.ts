import { Client } from "pg";
import { afterAll, expect, test } from "vitest";
import { callChild, startRunning } from "../conformance/family.ts";
import { opened } from "../conformance/opened.ts";
import { executionId, newExecution } from "../conformance/sample.ts";
import type { RemoteNews, Store } from "../store.ts";
import { startTestPostgres } from "../test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

const open = (url: string, warn?: (message: string) => void) =>
  opened(() => openPostgresStore({ url, clock: Date.now, warn }));

/** What a store hears, and a promise of the first that fits. */
async function listenTo(store: Store) {
  const heard: RemoteNews[] = [];
  const waiting = new Set<() => void>();
  const stop = await store.onRemoteChange?.((news) => {
    heard.push(news);
    for (const look of waiting) look();
  });
  const until = (fits: (heard: readonly RemoteNews[]) => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!fits(heard)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { heard, until, stop };
}

const idsOf = (heard: readonly RemoteNews[]) =>
  heard.flatMap(({ execution_ids }) => (execution_ids === "all" ? [] : execution_ids));
const messagesOf = (heard: readonly RemoteNews[]) => heard.flatMap(({ messages }) => messages);

test("EXE-81 a replica hears which executions another one has written, those of effects too", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const ofA = await listenTo(a);
  const ofB = await listenTo(b);
  const parent = await startRunning(a, 1);
  await callChild(a, parent, 2);
  await ofB.until((heard) => idsOf(heard).includes(executionId(2)));
  expect(new Set(idsOf(ofB.heard))).toEqual(new Set([parent, executionId(2)]));
  // Its own it knows already. What b says next comes behind whatever else a would hear.
  b.announce?.("end");
  await ofA.until((heard) => messagesOf(heard).includes("end"));
  expect(idsOf(ofA.heard)).toEqual([]);
});

test("many executions are named in as many notifications as they need", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const { heard, until } = await listenTo(b);
  heard.length = 0;
  const create = (from: number, count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => a.createExecution(newExecution(from + i))));
  await create(1, 500);
  await until(() => new Set(idsOf(heard)).size === 500);
  expect(heard.some(({ execution_ids }) => execution_ids === "all")).toBe(false);
});

test("what a replica announces arrives once, in order, at the others only", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const ofA = await listenTo(a);
  const ofB = await listenTo(b);
  for (const n of [1, 2, 3]) a.announce?.(`message ${n}`);
  await ofB.until((heard) => messagesOf(heard).length >= 3);
  b.announce?.("answer");
  await ofA.until((heard) => messagesOf(heard).length >= 1);
  expect(messagesOf(ofB.heard)).toEqual(["message 1", "message 2", "message 3"]);
  expect(messagesOf(ofA.heard)).toEqual(["answer"]);
  expect(() => a.announce?.("x".repeat(9_000))).toThrow(
    expect.objectContaining({ code: "payload_too_large" }),
  );
});

test("whoever stops listening hears nothing more", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const first = await listenTo(b);
  const second = await listenTo(b);
  first.stop?.();
  a.announce?.("hello");
  await second.until((heard) => messagesOf(heard).includes("hello"));
  expect(messagesOf(first.heard)).toEqual([]);
});

test("notes of others on the channel are passed over", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const { heard, until } = await listenTo(b);
  heard.length = 0;
  const client = new Client({ connectionString: url });
  await client.connect();
  for (const text of ["", "not JSON", "null", "[1]", '{"from":7}']) {
    await client.query("SELECT pg_notify('engine_news', $1)", [text]);
  }
  await client.end();
  a.announce?.("end");
  await until(() => messagesOf(heard).includes("end"));
  expect(heard).toEqual([{ execution_ids: [], messages: ["end"] }]);
});

test("DSP-5 a replica whose listening connection was cut listens again, and is told to look at all", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const { heard, until } = await listenTo(b);
  heard.length = 0;
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'engine listener' AND datname = current_database()`);
  await client.end();
  await until(() => heard.some(({ execution_ids }) => execution_ids === "all"));
  await a.createExecution(newExecution(1));
  await until(() => idsOf(heard).includes(executionId(1)));
});

test("a replica that does not hear itself warns that it relies on the safety tick", async () => {
  const url = await postgres.createDatabase();
  const warnings: string[] = [];
  const store = await open(url, (message) => void warnings.push(message));
  // Its notifications go nowhere from here on, as behind a pooler in transaction mode.
  const client = new Client({ connectionString: url });
  await client.connect();
  const name = new URL(url).pathname.slice(1);
  await client.query(`
    CREATE SCHEMA pooler;
    CREATE FUNCTION pooler.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT';
    ALTER DATABASE ${name} SET search_path = pooler, public, pg_catalog`);
  await client.end();
  await listenTo(store);
  expect(warnings).toEqual([expect.stringContaining("only seen at the safety tick, every 15 s")]);
});
