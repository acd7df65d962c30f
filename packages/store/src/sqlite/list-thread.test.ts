import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { opened } from "../conformance/opened.ts";
import { executionId, newExecution } from "../conformance/sample.ts";
import type { ExecutionFilter } from "../ports/executions.ts";
import { addEndedRows } from "../testing/many-rows.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = temporaryFolder();
let files = 0;
const newPath = () => join(folder, `${++files}.db`);
const open = (path: string) => openSqliteStore({ path, synchronous: "normal", clock: Date.now });

const page = (filter: Partial<ExecutionFilter> = {}): ExecutionFilter => ({
  order: "created_desc",
  limit: 10,
  offset: 0,
  ...filter,
});

test("a list that goes through all that is kept leaves the event loop to others", async () => {
  const path = newPath();
  const store = await opened(() => open(path));
  addEndedRows(path, 100_000);
  // The thread has started and has the pages it needs.
  await store.executions.list(page());
  let listed = false;
  const listing = store.executions.list(page({ states: ["FAILED"], label: "nothing" }));
  void listing.finally(() => {
    listed = true;
  });
  const asked = store.executions.find("00000000-0000-7000-8000-000000000007");
  const started = store.executions.create(newExecution(1));
  let turns = 0;
  while (!listed) {
    await nextTurn();
    turns += 1;
  }
  expect(await listing).toEqual({ items: [], total: 0 });
  expect(await asked).toBeDefined();
  await started;
  // One if reading the list held the loop.
  expect(turns).toBeGreaterThan(20);
});

test("EXE-85 a list that is asked for after a start was acknowledged shows it", async () => {
  const store = await opened(() => open(newPath()));
  for (let n = 1; n <= 50; n++) {
    await store.executions.create(newExecution(n));
    const { items, total } = await store.executions.list(page({ limit: 1 }));
    expect([items[0]?.execution_id, total]).toEqual([executionId(n), n]);
  }
});

test("more lists than can wait are refused, and those that wait are answered", async () => {
  const store = await opened(() => open(newPath()));
  await store.executions.create(newExecution(1));
  const asked = await Promise.allSettled(
    Array.from({ length: 110 }, () => store.executions.list(page())),
  );
  const answered = asked.filter(({ status }) => status === "fulfilled");
  expect(answered).toHaveLength(100);
  expect(asked.at(-1)).toMatchObject({
    reason: { code: "unavailable", message: "100 lists are being read at this moment; try again" },
  });
  expect((await store.executions.list(page())).total).toBe(1);
});

test("a store that closes refuses lists, and leaves one file behind", async () => {
  const path = newPath();
  const store = await open(path);
  await store.executions.create(newExecution(1));
  await store.executions.list(page());
  const asked = store.executions.list(page());
  const refused = expect(asked).rejects.toMatchObject({ code: "unavailable" });
  await store.close();
  await refused;
  await expect(store.executions.list(page())).rejects.toMatchObject({ code: "unavailable" });
  expect([path, `${path}-wal`, `${path}-shm`].map((file) => existsSync(file))).toEqual([
    true,
    false,
    false,
  ]);
});

test("a list that the database refuses is unavailable, and the next one is answered", async () => {
  const store = await opened(() => open(newPath()));
  const broken = store.executions.list(page({ limit: 1.5 }));
  await expect(broken).rejects.toMatchObject({ code: "unavailable" });
  expect(await store.executions.list(page())).toEqual({ items: [], total: 0 });
});
