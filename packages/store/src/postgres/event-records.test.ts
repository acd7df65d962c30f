import { Client } from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { eventRecordConformance, TABLES } from "../conformance/executions/event-records.ts";
import {
  appending,
  event,
  executionId,
  NOW,
  newExecution,
  newSession,
} from "../conformance/sample.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

async function begin(): Promise<{ url: string; client: Client }> {
  const url = await postgres.createDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  for (const table of TABLES) await client.query(table);
  return { url, client };
}

eventRecordConformance(async () => {
  const { url, client } = await begin();
  return {
    open: (records) => openPostgresStore({ url, clock: Date.now, records }),
    query: async (sql) => (await client.query(sql)).rows,
    close: () => client.end(),
  };
});

test("a change whose events have rows takes one statement, as one without", async () => {
  const { url, client } = await begin();
  onTestFinished(() => client.end());
  const store = await openPostgresStore({
    url,
    clock: Date.now,
    records: [
      {
        columns: { type: "text" },
        of: ({ events }) => events.map(({ type }) => ({ type })),
        insert: "INSERT INTO wanted (type) SELECT type FROM records ON CONFLICT DO NOTHING",
      },
    ],
  });
  onTestFinished(() => store.close());
  await store.sessions.open(newSession("s1", { worker: "w" }));
  const { epoch = -1 } = (await store.sessions.connect("s1", "replica")) ?? {};
  const before = store.statementCount();
  await store.executions.create(newExecution(1), { worker: "w", session: "s1", epoch, now: NOW });
  const started = event("TASK_STARTED", "a");
  await store.executions.change(executionId(1), (row) => appending(row, [started]));
  expect(store.statementCount() - before).toBe(2);
  const { rows } = await client.query("SELECT type FROM wanted ORDER BY type");
  expect(rows.map(({ type }) => type)).toEqual([
    "TASK_STARTED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_CREATED",
  ]);
});
