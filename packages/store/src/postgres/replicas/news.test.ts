import { Client } from "pg";
import { afterAll, expect, test } from "vitest";
import { opened } from "../../conformance/opened.ts";
import { newExecution } from "../../conformance/sample.ts";
import type { Store } from "../../store.ts";
import { startFaultProxy } from "../../testing/fault-proxy.ts";
import { startTestPostgres } from "../../testing/test-postgres.ts";
import { openPostgresStore } from "../postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

const open = (url: string, warn?: (message: string) => void) =>
  opened(() => openPostgresStore({ url, clock: Date.now, warn }));

/** What a store hears, and a promise of the first that fits. */
async function listenTo(store: Store) {
  const heard: (string | undefined)[] = [];
  const waiting = new Set<() => void>();
  const stop = await store.replicas.onAnnounced?.((message) => {
    heard.push(message);
    for (const look of waiting) look();
  });
  const until = (fits: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!fits()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { heard, until, stop };
}

async function query(url: string, sql: string, values: unknown[] = []): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(sql, values);
  await client.end();
}

const cutListeners = (url: string) =>
  query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'engine listener' AND datname = current_database()`,
  );

test("EXE-81 what a replica announces arrives once, in order, at the others only", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const ofA = await listenTo(a);
  const ofB = await listenTo(b);
  await Promise.all([1, 2, 3].map(async (n) => a.replicas.announce?.(`message ${n}`)));
  await ofB.until(() => ofB.heard.length >= 3);
  await b.replicas.announce?.("answer");
  await ofA.until(() => ofA.heard.length >= 1);
  expect(ofB.heard).toEqual(["message 1", "message 2", "message 3"]);
  expect(ofA.heard).toEqual(["answer"]);
});

test("what is announced together leaves together, in one statement", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const { heard, until } = await listenTo(b);
  const before = a.statementCount();
  const texts = Array.from({ length: 50 }, (_, i) => `message ${i}`);
  await Promise.all(texts.map(async (text) => a.replicas.announce?.(text)));
  expect(a.statementCount() - before).toBe(1);
  await until(() => heard.length === texts.length);
  expect(heard).toEqual(texts);
});

test("a store says nothing by itself: whoever changed something knows what is worth saying", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const { heard, until } = await listenTo(b);
  await a.executions.create(newExecution(1));
  await a.replicas.announce?.("end");
  await until(() => heard.includes("end"));
  expect(heard).toEqual(["end"]);
});

test("a message of 7,000 bytes arrives, whatever it holds; a longer one is refused", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const { heard, until } = await listenTo(b);
  const messages = ['"'.repeat(7_000), "\\\n".repeat(3_500), "漢".repeat(2_333), ""];
  for (const message of messages) await a.replicas.announce?.(message);
  await until(() => heard.length === messages.length);
  expect(heard).toEqual(messages);
  await expect(a.replicas.announce?.("x".repeat(8_000))).rejects.toMatchObject({
    code: "payload_too_large",
  });
});

test("whoever stops listening hears nothing more", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const first = await listenTo(b);
  const second = await listenTo(b);
  first.stop?.();
  await a.replicas.announce?.("hello");
  await second.until(() => second.heard.includes("hello"));
  expect(first.heard).toEqual([]);
});

test("notes of others on the channel are passed over", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const { heard, until } = await listenTo(b);
  for (const text of ["", "not ours", "null", `${crypto.randomUUID()} later x`]) {
    await query(url, "SELECT pg_notify('engine_news', $1)", [text]);
  }
  await a.replicas.announce?.("end");
  await until(() => heard.includes("end"));
  expect(heard).toEqual(["end"]);
});

test("DSP-5 a replica whose listening connection was cut listens again, and is told that it missed some", async () => {
  const url = await postgres.createDatabase();
  const [a, b] = [await open(url), await open(url)];
  const { heard, until } = await listenTo(b);
  await cutListeners(url);
  await until(() => heard.includes(undefined));
  await a.replicas.announce?.("hello");
  await until(() => heard.includes("hello"));
  expect(heard).toEqual([undefined, "hello"]);
});

test("DSP-5 what could not be said is not silently lost: the next message says that some were", async () => {
  const url = await postgres.createDatabase();
  const proxy = await startFaultProxy(url);
  const [a, b] = [await open(proxy.url), await open(url)];
  const { heard, until } = await listenTo(b);
  await a.replicas.announce?.("first");
  await until(() => heard.length === 1);
  const cut = proxy.cut({ before: "lost message" });
  // It resolves all the same: the rows are the truth.
  await a.replicas.announce?.("lost message");
  await cut;
  await a.replicas.announce?.("next");
  await until(() => heard.includes("next"));
  expect(heard).toEqual(["first", undefined, "next"]);
});

test("nothing is announced by a store that is closed, and what was asked for before still leaves", async () => {
  const url = await postgres.createDatabase();
  const a = await openPostgresStore({ url, clock: Date.now });
  const b = await open(url);
  const { heard, until } = await listenTo(b);
  await a.replicas.announce?.("one");
  const last = a.replicas.announce?.("last");
  await a.close();
  await last;
  await until(() => heard.includes("last"));
  await expect(a.replicas.announce?.("late")).rejects.toMatchObject({ code: "unavailable" });
});

test("a replica that does not hear itself warns that it relies on the safety tick", async () => {
  const url = await postgres.createDatabase();
  const warnings: string[] = [];
  const store = await open(url, (message) => void warnings.push(message));
  await postgres.cutNotifications(url);
  await listenTo(store);
  expect(warnings).toEqual([expect.stringContaining("only seen at the safety tick, every 15 s")]);
});
