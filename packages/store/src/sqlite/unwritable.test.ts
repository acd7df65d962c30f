import { copyFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import { executionId, newExecution } from "../conformance/sample.ts";
import type { Store } from "../store.ts";
import { smallDisk } from "../testing/small-disk.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = temporaryFolder();
let files = 0;

const disk = smallDisk("size=3m");

function open(path: string): Promise<Store> {
  return opened(() => openSqliteStore({ path, synchronous: "full", clock: Date.now }));
}

const DISPLACED = {
  code: "unavailable",
  message: expect.stringContaining("was deleted or replaced while it is in use"),
};

test.each<[string, (path: string) => void, (path: string) => void]>([
  [
    "moved away",
    (path) => renameSync(path, `${path}.off`),
    (path) => renameSync(`${path}.off`, path),
  ],
  [
    "replaced by a copy of itself",
    (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(path, `${path}.off`);
      renameSync(`${path}.copy`, path);
    },
    (path) => renameSync(`${path}.off`, path),
  ],
  [
    "left without its write-ahead log",
    (path) => renameSync(`${path}-wal`, `${path}-wal.off`),
    (path) => renameSync(`${path}-wal.off`, `${path}-wal`),
  ],
])(
  "a database file that is %s is noticed before anything more is acknowledged",
  async (_, take, back) => {
    const path = join(folder, `${++files}.db`);
    const store = await open(path);
    await store.executions.create(newExecution(1));
    await expect(store.assertWritable()).resolves.toBeUndefined();
    take(path);
    await delay(10);
    await expect(store.executions.create(newExecution(2))).rejects.toMatchObject(DISPLACED);
    const list = { order: "created_asc", limit: 1, offset: 0 } as const;
    await expect(store.executions.list(list)).rejects.toMatchObject(DISPLACED);
    await expect(store.assertWritable()).rejects.toMatchObject(DISPLACED);
    // No path on the wire; the log has it from the cause.
    const error = await store.assertWritable().catch((thrown: Error) => thrown);
    expect(String(error)).not.toContain(folder);
    back(path);
    await store.executions.create(newExecution(2));
    await expect(store.assertWritable()).resolves.toBeUndefined();
    expect(await store.executions.find(executionId(2))).toBeDefined();
  },
);

test("a database file that was deleted for good stays unavailable", async () => {
  const path = join(folder, `${++files}.db`);
  const store = await open(path);
  await store.executions.create(newExecution(1));
  rmSync(path);
  await delay(10);
  for (const n of [2, 3]) {
    await expect(store.executions.create(newExecution(n))).rejects.toMatchObject(DISPLACED);
  }
});

test("a store on which nothing was written for a while tries it, and believes a commit for some seconds", async () => {
  let now = 1_000_000;
  const path = join(folder, `${++files}.db`);
  const store = await opened(() =>
    openSqliteStore({ path, synchronous: "full", clock: () => now }),
  );
  const cost = async () => {
    const before = store.statementCount();
    await store.assertWritable();
    return store.statementCount() - before;
  };
  expect(await cost()).toBeGreaterThan(0);
  expect(await cost()).toBe(0);
  now += 6_000;
  expect(await cost()).toBeGreaterThan(0);
  now += 6_000;
  await store.executions.create(newExecution(1));
  expect(await cost()).toBe(0);
});

test.skipIf(disk === undefined)(
  "a full disk refuses writes, loses nothing that was acknowledged, and goes on once there is room",
  async () => {
    if (!disk) return;
    onTestFinished(() => disk.remove());
    const store = await open(join(disk.path, "engine.db"));
    const input = "x".repeat(20_000);
    let kept = 0;
    const full = await (async () => {
      for (;;) {
        try {
          await store.executions.create(newExecution(kept + 1, { input }));
          kept++;
        } catch (error) {
          return error;
        }
      }
    })();
    expect(full).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("the disk of the database is full; nothing was written"),
    });
    const refused = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        store.executions.create(newExecution(5_000 + i, { input: "x".repeat(1_000_000) })),
      ),
    );
    for (const one of refused) {
      expect(one).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
    }
    await expect(
      Promise.all([
        store.assertWritable(),
        store.executions.create(newExecution(9_000, { input })),
      ]),
    ).rejects.toMatchObject({ code: "unavailable" });
    disk.remount("size=32m");
    await expect(store.assertWritable()).resolves.toBeUndefined();
    await store.executions.create(newExecution(kept + 1, { input }));
    for (let n = 1; n <= kept + 1; n++) {
      expect(await store.executions.find(executionId(n))).toMatchObject({ input });
    }
    expect(await store.executions.find(executionId(5_000))).toBeUndefined();
  },
);
