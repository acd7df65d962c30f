import { Client } from "pg";
import { afterAll, expect, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import { executionId, newExecution } from "../conformance/sample.ts";
import { readMigrations } from "../migration-files.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

const BEFORE = 19;

test("RIN-3 an upgrade keeps every row of executions as it was, without routing input", async () => {
  const url = await postgres.createDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE TABLE migrations (
    number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL)`);
  for (const { number, name, sql, checksum } of readMigrations("postgres")) {
    if (number >= BEFORE) continue;
    await client.query(sql);
    await client.query("INSERT INTO migrations VALUES ($1, $2, $3, 1)", [number, name, checksum]);
  }
  await client.query(
    `INSERT INTO executions (
      execution_id, namespace, workflow, version, module_hash, state, generation, head, last_time,
      resuming, seed, transient, priority, queued_at, detached, depth, created_at, updated_at, input)
    VALUES ($1, 'default', 'hello', 1, 'm', 'CREATED', 0, 1, 1, 0, 's', 0, 2, 1, 0, 0, 1, 1, '"in"')`,
    [executionId(1)],
  );
  const store = await opened(() => openPostgresStore({ url, clock: () => 9 }));
  expect(await store.executions.find(executionId(1))).toMatchObject({
    ...{ namespace: "default", seed: "s", priority: 2, input: "in", routing_input: null },
  });
  const { row } = await store.executions.create(newExecution(2, { routing_input: "k1:sealed" }));
  expect(row.routing_input).toBe("k1:sealed");
  await client.end();
});
