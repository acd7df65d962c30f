import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import {
  callChild,
  complete,
  run as runExecution,
  startRunning,
} from "../conformance/executions/family.ts";
import { opened } from "../conformance/opened.ts";
import {
  appending,
  claimant,
  event,
  executionId,
  executionWithLog,
  newExecution,
} from "../conformance/sample.ts";
import type { Store } from "../store.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = temporaryFolder();
// What the child processes import.
const STORE = new URL("./sqlite-store.ts", import.meta.url);
const SAMPLE = new URL("../conformance/sample.ts", import.meta.url);
const FAMILY = new URL("../conformance/executions/family.ts", import.meta.url);
const PACKAGE = new URL("../..", import.meta.url);

function open(path: string, busyTimeoutMs?: number): Promise<Store> {
  return openSqliteStore({ path, synchronous: "full", clock: Date.now, busyTimeoutMs });
}

test("a store that is opened again has everything it had", async () => {
  const path = join(folder, "again.db");
  const first = await open(path);
  const id = await executionWithLog(first, 1, 6);
  await first.executions.create(newExecution(2, { input: "x".repeat(9_000) }), claimant);
  const list = { order: "created_asc", limit: 9, offset: 0 } as const;
  const had = await everything(first);
  await first.close();
  expect(await everything(await opened(() => open(path)))).toEqual(had);

  async function everything(store: Store) {
    return [
      await store.executions.find(id),
      await store.executions.find(executionId(2)),
      await store.log.read(id),
      await store.executions.list(list),
      await store.queue.list({ limit: 9 }),
      await store.queue.listOwned("session-1"),
    ];
  }
});

test("a crash before the commit loses what nobody was told of, and nothing else", async () => {
  const path = join(folder, "crash.db");
  const store = await opened(() => open(path));
  const { row } = await store.executions.create(newExecution(1));
  const started = event("TASK_STARTED", "a");
  const pending = [
    store.executions.change(executionId(1), (found) => appending(found, [started])),
    store.executions.create(newExecution(2)),
  ];
  // What the disk holds now is what a process that dies now leaves behind.
  const image = join(folder, "image.db");
  for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${image}${end}`);
  await Promise.all(pending);

  const survivor = await opened(() => open(image));
  expect(await survivor.executions.find(executionId(1))).toEqual(row);
  expect(await survivor.log.read(executionId(1))).toHaveLength(1);
  expect(await survivor.executions.find(executionId(2))).toBeUndefined();
});

test("I1 a process that is killed while it writes has kept everything it acknowledged", async () => {
  const path = join(folder, "killed.db");
  const child = run(`
    const { openSqliteStore } = await import("${STORE}");
    const { newExecution, appending, event } = await import("${SAMPLE}");
    const store = await openSqliteStore({ path: ${JSON.stringify(path)}, synchronous: "full", clock: Date.now });
    for (let n = 1; ; n++) {
      const { row } = await store.executions.create(newExecution(n));
      const add = (id) => store.executions.change(row.execution_id, (r) => appending(r, [event("TASK_STARTED", id)]));
      await Promise.all([add("a"), add("b")]);
      process.stdout.write(n + "\\n");
    }`);
  let acknowledged = 0;
  for await (const line of createInterface(child.stdout)) {
    acknowledged = Number(line);
    if (acknowledged === 200) child.kill("SIGKILL");
  }
  expect(acknowledged).toBeGreaterThanOrEqual(200);

  const store = await opened(() => open(path));
  for (let n = 1; n <= acknowledged; n++) {
    const log = await store.log.read(executionId(n));
    expect(log.map((line) => [line.event.seq, line.event.source_id])).toEqual([
      [1, executionId(n)],
      [2, "a"],
      [3, "b"],
    ]);
  }
});

test("EXE-55 a crash before the commit loses the end of a child with the outcome in its parent", async () => {
  const path = join(folder, "family.db");
  const store = await opened(() => open(path));
  const parent = await startRunning(store, 1);
  await callChild(store, parent, 2);
  await runExecution(store, executionId(2));
  const image = async (name: string) => {
    const copy = join(folder, name);
    for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${copy}${end}`);
    const survivor = await opened(() => open(copy));
    return Promise.all([parent, executionId(2)].map((id) => survivor.executions.find(id)));
  };
  const pending = complete(store, executionId(2), "done");
  const before = image("family-before.db");
  await pending;
  expect(await before).toMatchObject([{ head: 4, state: "RUNNING" }, { state: "RUNNING" }]);
  expect(await image("family-after.db")).toMatchObject([
    { head: 6, state: "RESUMING", waits: [] },
    { state: "COMPLETED" },
  ]);
});

test("EXE-54 EXE-55 a process that is killed leaves no call without its child, and no end untold", async () => {
  const path = join(folder, "killed-family.db");
  const child = run(`
    const { openSqliteStore } = await import("${STORE}");
    const { executionId } = await import("${SAMPLE}");
    const { callChild, complete, run, startRunning } = await import("${FAMILY}");
    const store = await openSqliteStore({ path: ${JSON.stringify(path)}, synchronous: "full", clock: Date.now });
    for (let n = 1; ; n += 8) {
      await Promise.all([0, 2, 4, 6].map(async (i) => {
        await callChild(store, await startRunning(store, n + i), n + i + 1);
        await run(store, executionId(n + i + 1));
        await complete(store, executionId(n + i + 1), "done");
      }));
      process.stdout.write(n + "\\n");
    }`);
  let acknowledged = 0;
  for await (const line of createInterface(child.stdout)) {
    acknowledged = Number(line);
    if (acknowledged > 400) child.kill("SIGKILL");
  }
  expect(acknowledged).toBeGreaterThan(400);

  const store = await opened(() => open(path));
  let told = 0;
  for (let n = 1; n <= acknowledged + 15; n += 2) {
    const [parent, called] = await Promise.all([
      store.executions.find(executionId(n)),
      store.executions.find(executionId(n + 1)),
    ]);
    const log = (await store.log.read(executionId(n))).map((line) => line.event.type);
    expect(log.includes("TASK_STARTED")).toBe(called !== undefined);
    expect(log.includes("TASK_COMPLETED")).toBe(called?.state === "COMPLETED");
    expect(parent?.waits.length ?? 0).toBe(called && called.state !== "COMPLETED" ? 1 : 0);
    if (called?.state === "COMPLETED") told++;
  }
  expect(told).toBeGreaterThanOrEqual((acknowledged + 7) / 2);
});

test("two processes on one file see each other's writes", async () => {
  const path = join(folder, "two.db");
  const server = await opened(() => open(path));
  const local = await opened(() => open(path));
  await server.executions.create(newExecution(1));
  await local.executions.change(executionId(1), (row) =>
    appending(row, [event("TASK_STARTED", "a")]),
  );
  const changed = await server.executions.change(executionId(1), (row) =>
    appending(row, [event("TASK_STARTED", "b")]),
  );
  expect(changed.events).toMatchObject([{ seq: 3 }]);
  expect(await local.executions.find(executionId(1))).toMatchObject({ head: 3 });
});

test("I3 two processes that add to one log at once leave no gap in its numbers", async () => {
  const path = join(folder, "both.db");
  const store = await opened(() => open(path));
  await store.executions.create(newExecution(1));
  const other = run(`
    const { openSqliteStore } = await import("${STORE}");
    const { executionId, appending, event } = await import("${SAMPLE}");
    const store = await openSqliteStore({ path: ${JSON.stringify(path)}, synchronous: "normal", clock: Date.now });
    console.log("ready");
    for (let n = 1; n <= 300; n++) {
      await store.executions.change(executionId(1), (r) => appending(r, [event("TASK_STARTED", "other")]));
    }
    await store.close();`);
  const exit = once(other, "exit");
  await once(createInterface(other.stdout), "line");
  for (let n = 1; n <= 300; n++) {
    await store.executions.change(executionId(1), (row) =>
      appending(row, [event("TASK_STARTED", "mine")]),
    );
  }
  expect(await exit).toEqual([0, null]);
  const seqs = (await store.log.read(executionId(1))).map((line) => line.event.seq);
  expect(seqs).toEqual(Array.from({ length: 601 }, (_, i) => i + 1));
});

test("processes that open a new file at once all get it", async () => {
  const path = join(folder, "race.db");
  const children = [1, 2, 3].map((n) =>
    run(`
      const { openSqliteStore } = await import("${STORE}");
      const store = await openSqliteStore({ path: ${JSON.stringify(path)}, synchronous: "full", clock: () => ${n} });
      await store.ping();
      await store.close();`),
  );
  const ends = await Promise.all(children.map((child) => once(child, "exit")));
  expect(ends.map(([code]) => code)).toEqual([0, 0, 0]);
});

test("a write waits while another process writes", async () => {
  const path = join(folder, "wait.db");
  const store = await opened(() => open(path));
  const holder = lockFor(path, 300);
  await once(createInterface(holder.stdout), "line");
  await expect(store.executions.create(newExecution(1))).resolves.toMatchObject({ events: [{}] });
});

test("CKP-5 while another process holds the database, writes fail as unavailable and reads go on", async () => {
  const path = join(folder, "held.db");
  const store = await opened(() => open(path, 50));
  await store.executions.create(newExecution(1));
  const holder = lockFor(path, 60_000);
  await once(createInterface(holder.stdout), "line");
  const both = await Promise.allSettled([
    store.executions.create(newExecution(2)),
    store.executions.create(newExecution(3)),
  ]);
  const reason = { code: "unavailable", message: expect.stringContaining("locked") };
  expect(both).toMatchObject([{ reason }, { reason }]);
  expect(await store.executions.find(executionId(2))).toBeUndefined();
  expect(await store.executions.find(executionId(1))).toBeDefined();
  holder.kill("SIGKILL");
  await once(holder, "exit");
  await expect(store.executions.create(newExecution(2))).resolves.toMatchObject({ events: [{}] });
});

/** A process that holds the write lock, prints a line once it does, and lets go after a while. */
function lockFor(path: string, ms: number) {
  return run(`
    import Database from "better-sqlite3";
    const db = new Database(${JSON.stringify(path)});
    db.exec("BEGIN IMMEDIATE");
    console.log("held");
    setTimeout(() => db.exec("COMMIT"), ${ms});`);
}

function run(script: string): ChildProcessByStdio<null, Readable, null> {
  const args = ["--conditions=@engine/source", "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, args, {
    cwd: PACKAGE,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}
