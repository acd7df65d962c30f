/** Retention beside another server on the same database. */
import { ExtractedWorkflow } from "@engine/contract";
import { Client } from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import { appending, event, executionId, NOW, newExecution } from "../conformance/sample.ts";
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

async function finished(store: Store, n: number): Promise<string> {
  const { execution_id } = (await store.executions.create(newExecution(n))).row;
  await store.executions.change(execution_id, (row) =>
    appending(row, [event("WORKFLOW_COMPLETED", execution_id)], { finished_at: NOW }),
  );
  return execution_id;
}

test("EXE-98 an execution that somebody works on is passed over, and goes the next time", async () => {
  const [a, , client] = await replicas();
  for (const n of [1, 2, 3]) await finished(a, n);
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM executions WHERE execution_id = $1 FOR NO KEY UPDATE", [
    executionId(2),
  ]);
  expect(await a.retention.deleteFinished(NOW + 1, 100)).toEqual([1, 3].map(executionId));
  await client.query("ROLLBACK");
  expect(await a.retention.deleteFinished(NOW + 1, 100)).toEqual([executionId(2)]);
});

test("EXE-98 two servers that believe that they lead delete each execution once", async () => {
  const [a, b] = await replicas();
  const ids = await Promise.all(Array.from({ length: 200 }, (_, i) => finished(a, i)));
  const sweep = async (store: Store) => {
    const deleted: string[] = [];
    for (;;) {
      const some = await store.retention.deleteFinished(NOW + 1, 20);
      deleted.push(...some);
      if (some.length === 0) return deleted;
    }
  };
  const both = (await Promise.all([sweep(a), sweep(b)])).flat();
  const left = await sweep(a);
  expect([...both, ...left].sort()).toEqual(ids);
});

test("EXE-98 code that is registered while it is being deleted is there", async () => {
  const [a, b] = await replicas();
  const registration = {
    workflows: [],
    module: { hash: "m", bundle: "bundle" },
    files: [],
    source_hash: "s",
    created_by: null,
  };
  const extracted = (name: string) =>
    ExtractedWorkflow.parse({
      namespace: "default",
      name,
      description: null,
      tasks: [],
      metadata: {},
    });
  const register = (store: Store, n: number) =>
    store.catalog.register({
      ...registration,
      workflows: [{ extracted: extracted(`w${n}`), content_hash: "c" }],
    });
  for (let n = 0; n < 20; n++) {
    await register(a, n);
    await a.catalog.delete("default", `w${n}`);
    await Promise.all([a.catalog.deleteUnused(10), register(b, n)]);
    expect(await b.catalog.readModule("m")).toBe("bundle");
    expect((await b.catalog.find("default", `w${n}`))?.record.version).toBe(2);
    await b.catalog.delete("default", `w${n}`);
    await a.catalog.deleteUnused(10);
  }
});
