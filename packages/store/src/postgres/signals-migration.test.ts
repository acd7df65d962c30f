import { Client } from "pg";
import { afterAll, expect, test } from "vitest";
import {
  MANY_NAMES,
  OLD_SIGNALS,
  upgradedSignals,
} from "../conformance/executions/upgraded-signals.ts";
import { opened } from "../conformance/opened.ts";
import { executionId } from "../conformance/sample.ts";
import { readMigrations } from "../migration-files.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

test("EXE-53 an upgrade keeps the signals that nobody had taken, in their order", async () => {
  const url = await postgres.createDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE TABLE migrations (
    number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL)`);
  for (const { number, name, sql, checksum } of readMigrations("postgres")) {
    if (number > 9) continue;
    await client.query(sql);
    const values = [number, name, checksum];
    await client.query("INSERT INTO migrations VALUES ($1, $2, $3, 1)", values);
  }
  for (const [i, signals] of [OLD_SIGNALS, MANY_NAMES, null].entries()) {
    await client.query(
      `INSERT INTO executions (
        execution_id, namespace, workflow, version, module_hash, state, session, last_session,
        generation, head, last_time, resuming, signals, seed, transient, priority, queued_at,
        detached, depth, created_at, updated_at
      ) VALUES ($1, 'default', 'hello', 1, 'm', 'RUNNING', 's1', 's1', 1, 40, 1, 0, $2, 's', 0, 0, 1,
        0, 0, 1, 1)`,
      [executionId(i + 1), signals && JSON.stringify(signals)],
    );
  }
  await client.end();
  const store = await opened(() => openPostgresStore({ url, clock: () => 9 }));
  await expect(upgradedSignals(store)).resolves.toBeUndefined();
});
