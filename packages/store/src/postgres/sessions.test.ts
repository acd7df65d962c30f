/** Sessions, workers and servers as two servers on one database see them. */
import { Client } from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import { newSession } from "../conformance/sample.ts";
import type { Store } from "../store.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

async function replicas(): Promise<readonly [Store, Store, Client]> {
  const url = await postgres.createDatabase();
  const open = () => openPostgresStore({ url, clock: Date.now });
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return [await opened(open), await opened(open), client];
}

const silence = (client: Client, replica: string, seconds: number) =>
  client.query(
    `UPDATE replicas SET seen_at = now() - $2 * interval '1 second' WHERE replica = $1`,
    [replica, seconds],
  );

test("servers know one another, and for how long each was silent by the database's clock", async () => {
  const [a, b, client] = await replicas();
  expect(await a.replicas.note("a")).toMatchObject([{ replica: "a", silent_ms: 0 }]);
  expect((await b.replicas.note("b")).map(({ replica }) => replica).sort()).toEqual(["a", "b"]);
  await silence(client, "a", 100);
  const seen = (await b.replicas.note("b")).find(({ replica }) => replica === "a");
  expect(seen?.silent_ms).toBeGreaterThanOrEqual(100_000);
  expect(seen?.silent_ms).toBeLessThan(200_000);
  await a.replicas.note("a");
  const again = (await b.replicas.note("b")).find(({ replica }) => replica === "a");
  expect(again?.silent_ms).toBeLessThan(100_000);
  await a.replicas.remove("a");
  expect(await b.replicas.note("b")).toMatchObject([{ replica: "b", silent_ms: 0 }]);
});

test("AUTH-57 a server hears the epochs with its sign of life, in the same statement", async () => {
  const url = await postgres.createDatabase();
  const store = await opened(() => openPostgresStore({ url, clock: Date.now }));
  await store.replicas.note("b");
  const logins = { api_keys: true, oidc_issuer: null };
  await store.identities.makeFirstAdmin({ id: "p", key: { id: "k", secret_hash: "h" }, logins });
  const before = store.statementCount();
  const rows = await store.replicas.note("a");
  expect(store.statementCount() - before).toBe(1);
  const epochs = { identity: 1, masks: 0, services: 0, catalog: 0, hooks: 0 };
  expect(rows.find(({ replica }) => replica === "a")?.epochs).toEqual(epochs);
  expect(rows.find(({ replica }) => replica === "b")).not.toHaveProperty("epochs");
});

test("a server that was silent for over an hour is forgotten", async () => {
  const [a, b, client] = await replicas();
  await a.replicas.note("a");
  await silence(client, "a", 3_700);
  expect(await b.replicas.note("b")).toMatchObject([{ replica: "b", silent_ms: 0 }]);
  const { rows } = await client.query("SELECT replica FROM replicas");
  expect(rows).toEqual([{ replica: "b" }]);
});

test("WRK-4 processes that fight over a name by way of two servers are refused", async () => {
  const [a, b, client] = await replicas();
  await a.replicas.note("a");
  await b.replicas.note("b");
  const begin = async (n: number) => {
    const [store, replica] = n % 2 ? ([a, "a"] as const) : ([b, "b"] as const);
    const { session } = await store.sessions.open(
      newSession(`s${n}`, { worker: "w1", instance_id: `process-${n}` }),
    );
    await store.sessions.connect(session.session_id, replica);
  };
  for (const n of [1, 2, 3, 4]) await begin(n);
  await expect(begin(5)).rejects.toMatchObject({ code: "worker_name_in_use" });
  // A server that died took its streams with it: what replaced those was no fight.
  await silence(client, "b", 7);
  await expect(begin(5)).resolves.toBeUndefined();
});

test("LIV-3 of two servers that take one stream the later one has it, and the other can do nothing", async () => {
  const [a, b] = await replicas();
  await a.sessions.open(newSession("s1"));
  const both = await Promise.all([a.sessions.connect("s1", "a"), b.sessions.connect("s1", "b")]);
  expect(both.map((session) => session?.epoch).sort()).toEqual([1, 2]);
  const [earlier, later] = both[0]?.epoch === 1 ? [a, b] : [b, a];
  expect(await earlier.sessions.disconnect("s1", 1)).toBe(false);
  expect(await earlier.sessions.lose("s1", 1)).toBeUndefined();
  expect(await later.sessions.find("s1")).toMatchObject({
    replica: later === a ? "a" : "b",
    lost_at: null,
  });
});

test("LIV-3 of two servers that give a session up one does, and hands over what it owned", async () => {
  const [a, b] = await replicas();
  for (let n = 0; n < 20; n++) {
    await a.sessions.open(newSession(`s${n}`));
    const lost = await Promise.all([a.sessions.lose(`s${n}`, 0), b.sessions.lose(`s${n}`, 0)]);
    expect(lost.filter((session) => session !== undefined)).toHaveLength(1);
  }
});

test("LIV-1 two servers note what they heard of the same sessions at once", async () => {
  const [a, b] = await replicas();
  const sessions = Array.from({ length: 50 }, (_, i) => `s${i}`);
  const opening = await Promise.all(sessions.map((id) => a.sessions.open(newSession(id))));
  const start = Math.max(...opening.map(({ session }) => session.last_seen_at));
  for (let round = 1; round <= 20; round++) {
    const beats = sessions.map((session_id) => ({ session_id, at: start + round }));
    await Promise.all([a.beats.note(beats), b.beats.note(beats.toReversed())]);
  }
  const live = await b.sessions.listLive();
  expect(live.map((session) => session.last_seen_at)).toEqual(sessions.map(() => start + 20));
});

test("LIV-1 beats of all sessions are one statement", async () => {
  const [a] = await replicas();
  await a.sessions.open(newSession("s1"));
  await a.sessions.open(newSession("s2"));
  const before = a.statementCount();
  await a.beats.note(["s2", "s1"].map((session_id) => ({ session_id, at: Date.now() + 1 })));
  await a.replicas.note("a");
  expect(a.statementCount() - before).toBe(2);
});

test("WMD-6 a worker reads the same on every server", async () => {
  const [a, b] = await replicas();
  await a.sessions.open(newSession("s1", { worker: "w1", labels: { zone: "a" } }));
  await a.workers.desire("w1", "paused");
  expect(await b.workers.find("w1")).toEqual(await a.workers.find("w1"));
  expect(await b.workers.list({ labels: { zone: "a" } })).toEqual(await a.workers.list());
  expect(await b.workers.find("w1")).toMatchObject({ desired_state: "paused" });
});

test("a worker that registers while it is being forgotten has its session, whichever comes first", async () => {
  const [a, b] = await replicas();
  for (let n = 0; n < 20; n++) {
    const worker = `w${n}`;
    await a.sessions.open(newSession(`old-${n}`, { worker, instance_id: "old" }));
    await a.sessions.end(`old-${n}`, "disconnected");
    await Promise.all([
      a.workers.deleteUnused(Date.now() + 60_000, 100),
      b.sessions.open(newSession(`new-${n}`, { worker, instance_id: "new" })),
    ]);
    expect((await a.workers.find(worker))?.session?.session_id).toBe(`new-${n}`);
  }
});
