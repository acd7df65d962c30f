import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { opened } from "../conformance/opened.ts";
import { executionId, newExecution } from "../conformance/sample.ts";
import { smallDisk } from "../testing/small-disk.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const disk = smallDisk("size=24m");
if (disk) afterAll(() => disk.remove());

const postgres = await startTestPostgres();
afterAll(() => postgres.stop(), 60_000);

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

test("a database that becomes read-only takes no writes and says so, until it is writable again", async () => {
  const url = await postgres.createDatabase();
  const client = await connected(url);
  const store = await opened(() => openPostgresStore({ url, clock: Date.now }));
  await store.executions.create(newExecution(1));
  await expect(store.assertWritable()).resolves.toBeUndefined();
  const setReadOnly = async (value: "on" | "off") => {
    await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await client.query("SELECT pg_reload_conf()");
  };
  const message = expect.stringContaining("the database is read-only");
  await setReadOnly("on");
  await vi.waitFor(
    () => expect(store.assertWritable()).rejects.toMatchObject({ code: "unavailable", message }),
    { timeout: 10_000 },
  );
  await expect(store.executions.create(newExecution(2))).rejects.toMatchObject({
    code: "unavailable",
    message: "the database is read-only; nothing was written, try again",
  });
  expect(await store.executions.find(executionId(1))).toBeDefined();
  await setReadOnly("off");
  await vi.waitFor(() => store.assertWritable(), { timeout: 20_000, interval: 200 });
  await store.executions.create(newExecution(2));
  expect(await store.executions.find(executionId(2))).toBeDefined();
}, 60_000);

test.skipIf(disk === undefined)(
  "a full disk refuses writes, loses nothing that was acknowledged, and goes on once there is room",
  async () => {
    if (!disk) return;
    const admin = await connected(await postgres.createDatabase());
    const { rows } = await admin.query<{ data_directory: string }>("SHOW data_directory");
    const { uid, gid } = statSync(rows[0]?.data_directory ?? "");
    const folder = join(disk.path, "space");
    mkdirSync(folder);
    chownSync(folder, uid, gid);
    await admin.query(`CREATE TABLESPACE small LOCATION '${folder}'`);
    await admin.query("CREATE DATABASE small TEMPLATE template0 TABLESPACE small");
    const url = new URL(await postgres.createDatabase());
    url.pathname = "/small";
    const store = await opened(() => openPostgresStore({ url: url.href, clock: Date.now }));
    // What cannot be made smaller.
    const input = randomBytes(60_000).toString("base64");
    let kept = 0;
    let refusal: unknown;
    while (refusal === undefined) {
      try {
        await store.executions.create(newExecution(kept + 1, { input }));
        kept++;
      } catch (error) {
        refusal = error;
      }
    }
    expect(refusal).toMatchObject({
      code: "unavailable",
      message: "the disk of the database is full; nothing was written, try again",
    });
    await expect(store.assertWritable()).rejects.toMatchObject({ code: "unavailable" });
    disk.remount("size=64m");
    await vi.waitFor(() => store.assertWritable(), { timeout: 20_000, interval: 200 });
    await store.executions.create(newExecution(kept + 1, { input }));
    for (let n = 1; n <= kept + 1; n++) {
      expect(await store.executions.find(executionId(n))).toMatchObject({ input });
    }
  },
  60_000,
);
