/** Heartbeats and work never wait for each other: they are in different tables. */
import { Client } from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import { executionId, NOW, newExecution, newSession } from "../conformance/sample.ts";
import type { Store } from "../store.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

/** A store with a worker's session, and somebody who holds a transaction open. */
async function scene(): Promise<{ store: Store; other: Client }> {
  const url = await postgres.createDatabase();
  const store = await opened(() => openPostgresStore({ url, clock: () => NOW }));
  await store.sessions.open(newSession("s1", { worker: "w1" }));
  const other = new Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query("BEGIN");
  return { store, other };
}

test("LIV-1 heartbeats are noted while the rows of the session, its worker and its executions are locked", async () => {
  const { store, other } = await scene();
  await other.query("SELECT 1 FROM sessions, workers FOR UPDATE");
  await other.query("LOCK TABLE executions IN SHARE ROW EXCLUSIVE MODE");
  await store.beats.note([{ session_id: "s1", at: NOW + 1 }]);
  await other.query("COMMIT");
  expect(await store.sessions.find("s1")).toMatchObject({ last_seen_at: NOW + 1 });
});

test("LIV-1 DSP-3 work is given out while heartbeats are being noted", async () => {
  const { store, other } = await scene();
  await other.query("INSERT INTO session_beats (session_id, seen_at) VALUES ('s1', $1)", [NOW]);
  const claimant = { worker: "w1", session: "s1", epoch: 0, now: NOW };
  await store.executions.create(newExecution(1), claimant);
  expect(await store.executions.find(executionId(1))).toMatchObject({ session: "s1" });
  expect(await store.queue.listOwned("s1")).toHaveLength(1);
  await other.query("COMMIT");
});
