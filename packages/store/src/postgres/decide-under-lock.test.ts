/** What a decision is made on is locked while it is made: nobody decides on what is no more. */
import type { ScheduleRow } from "@engine/contract";
import { Client } from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import { appending, event, executionId, NOW, newExecution } from "../conformance/sample.ts";
import type { Store } from "../store.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

/** Two servers, and somebody who writes to the database between their statements. */
async function scene(): Promise<{ a: Store; b: Store; other: Client; blocked(): Promise<void> }> {
  const url = await postgres.createDatabase();
  const open = () => openPostgresStore({ url, clock: () => NOW });
  const other = await connected(url);
  const watcher = await connected(url);
  const blocked = async () => {
    for (;;) {
      const { rows } = await watcher.query(`SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      if (rows.length > 0) return;
    }
  };
  return { a: await opened(open), b: await opened(open), other, blocked };
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

test("I6 EXE-17 a decision about an execution sees what was being written when it was asked for", async () => {
  const { a, b, other, blocked } = await scene();
  await a.executions.create(newExecution(1));
  await other.query("BEGIN");
  await other.query("UPDATE executions SET state = 'CANCELLED' WHERE execution_id = $1", [
    executionId(1),
  ]);
  const seen: string[] = [];
  const changing = b.executions.change(executionId(1), (row) => {
    seen.push(row.state);
    // Like a hand-over: no event, so no number of the log would give it away.
    return row.state === "CREATED" ? { events: [], patch: { state: "RESUMING" } } : undefined;
  });
  await blocked();
  expect(seen).toEqual([]);
  await other.query("COMMIT");
  expect((await changing).row.state).toBe("CANCELLED");
  expect(seen).toEqual(["CANCELLED"]);
});

test("I2 EXE-17 an execution that one server ends while another hands it over stays as it ended", async () => {
  const { a, b } = await scene();
  for (let n = 1; n <= 30; n++) {
    await a.executions.create(newExecution(n));
    const end = a.executions.change(executionId(n), (row) =>
      appending(row, [event("WORKFLOW_CANCELLED", executionId(n))], { state: "CANCELLED" }),
    );
    const handOver = b.executions.change(executionId(n), (row) =>
      row.state === "CREATED" ? { events: [], patch: { state: "RESUMING" } } : undefined,
    );
    await Promise.all([end, handOver]);
    const { state, head } = (await a.executions.find(executionId(n))) ?? {};
    expect([state, head]).toEqual(["CANCELLED", 2]);
  }
});

test("EXE-75 a decision about a schedule sees what was being written when it was asked for", async () => {
  const { a, b, other, blocked } = await scene();
  await a.schedules.create(NIGHTLY);
  await other.query("BEGIN");
  await other.query(`UPDATE schedules
    SET record = jsonb_set(record::jsonb, '{run_count}', '7')::text WHERE name = 'nightly'`);
  const seen: number[] = [];
  const changing = b.schedules.change("nightly", ({ run_count }) => {
    seen.push(run_count);
    return { run_count: run_count + 1 };
  });
  await blocked();
  await other.query("COMMIT");
  await changing;
  expect(seen).toEqual([7]);
  expect(await a.schedules.find("nightly")).toMatchObject({ run_count: 8 });
});

const NIGHTLY: ScheduleRow = {
  id: "id-of-nightly",
  name: "nightly",
  namespace: "default",
  workflow: "hello",
  version: null,
  description: null,
  spec: { type: "cron", expression: "0 * * * *", timezone: "UTC" },
  overlap: "skip",
  catch_up: "one",
  input: null,
  routing_input: {},
  routing_sealed: null,
  run_as: null,
  status: "active",
  source: "api",
  next_run_at: NOW,
  held: null,
  catch_up_to: null,
  last_run_at: null,
  last_execution_id: null,
  run_count: 0,
  failure_count: 0,
  consecutive_failures: 0,
  skip_count: 0,
  last_skipped_at: null,
  last_error: null,
  created_at: NOW,
  updated_at: NOW,
  revision: 1,
};
