/** Events are matched with the hooks of this moment, and nothing is read to know them. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { HOOKS_ON, newHook, outboxOf } from "../conformance/hooked.ts";
import { opened } from "../conformance/opened.ts";
import { newExecution, newSession } from "../conformance/sample.ts";
import type { Store } from "../store.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const folder = temporaryFolder();
let files = 0;

const openAt = (path: string, hooks = HOOKS_ON) =>
  opened(() => openSqliteStore({ path, synchronous: "normal", clock: Date.now, hooks }));

const freshPath = () => join(folder, `${++files}.db`);

let executions = 0;

/** How many statements it takes to create an execution, beside those of its own. */
async function cost(store: Store): Promise<number> {
  const before = store.statementCount();
  await store.executions.create(newExecution(++executions));
  return store.statementCount() - before - "BEGIN row log COMMIT".split(" ").length;
}

async function fired(store: Store, name: string): Promise<number> {
  const hook = await store.hooks.find(name);
  return hook ? (await outboxOf(store, hook)).length : 0;
}

test("HOOK-11 an event that fires nothing reads nothing, however many hooks there are", async () => {
  const store = await openAt(freshPath());
  // Before the first commit whether there are any, and in it whether they are still the same.
  expect(await cost(store)).toBe("epoch hooks epoch".split(" ").length);
  expect(await cost(store)).toBe(0);
  for (let i = 0; i < 50; i++) {
    await store.hooks.create(newHook(`h${i}`, { selectors: ["execution:*:*:failed"] }));
  }
  expect(await cost(store)).toBe("epoch hooks".split(" ").length);
  expect(await cost(store)).toBe(0);
  const at = { revision: 1, by: null };
  await store.hooks.change("h7", { selectors: ["execution:*:*:created"] }, at);
  await cost(store);
  expect(await cost(store)).toBe("deliveries".split(" ").length);
});

test("HOOK-12 what another process changes of hooks counts from the next event on, for a read of one number", async () => {
  const path = freshPath();
  const [server, command] = [await openAt(path), await openAt(path)];
  await cost(server);
  await command.hooks.create(newHook("page"));
  expect(await cost(server)).toBe("epoch hooks deliveries".split(" ").length);
  expect(await fired(server, "page")).toBe(1);
  expect(await cost(server)).toBe("deliveries".split(" ").length);
  // It has written, but nothing of hooks.
  await command.sessions.open(newSession("s"));
  expect(await cost(server)).toBe("epoch deliveries".split(" ").length);
  await command.hooks.change("page", { enabled: false }, { revision: 1, by: null });
  expect(await cost(server)).toBe("epoch hooks".split(" ").length);
  expect(await fired(server, "page")).toBe(3);
});

test("HOOK-12 of a change that is undone nothing is remembered, though another one has its epoch", async () => {
  const store = await openAt(freshPath());
  await store.hooks.create(newHook("taken", { selectors: ["task:*"] }));
  const asked = await Promise.allSettled([
    store.hooks.create(newHook("undone")),
    cost(store),
    // An id that is taken is found out by writing it: all of the commit is undone and goes again.
    store.hooks.create(newHook("refused", { id: "id of taken" })),
    store.hooks.change("taken", { enabled: false }, { revision: 1, by: null }),
    store.hooks.delete("undone"),
    cost(store),
  ]);
  expect(asked.map(({ status }) => status)).toEqual([
    ...["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"],
  ]);
  await store.hooks.create(newHook("page"));
  await cost(store);
  expect(await fired(store, "page")).toBe(1);
  expect(await fired(store, "taken")).toBe(0);
});

test("HOOK-13 a store that matches no events reads no hooks", async () => {
  const store = await openAt(freshPath(), { ...HOOKS_ON, enabled: false });
  await store.hooks.create(newHook("page"));
  expect(await cost(store)).toBe(0);
});

test("HOOK-15 a delivery that is there already is passed over, and its event is written", async () => {
  const { default: Database } = await import("better-sqlite3");
  const path = freshPath();
  const store = await openAt(path);
  const hook = await store.hooks.create(newHook("page"));
  const { execution_id } = newExecution(++executions);
  const db = new Database(path);
  db.prepare(`
    INSERT INTO hook_deliveries (
      id, hook_id, hook, event_key, status, attempts, hop, selector, event_type, source_workflow,
      due_at, created_at, envelope)
    VALUES ('d', ?, 'page', ?, 'pending', 0, 0, 's', 'created', 'a/b', 0, 0, '{}')`).run(
    hook.id,
    `${execution_id}:1`,
  );
  db.close();
  const { row } = await store.executions.create(newExecution(executions));
  expect(row.head).toBe(1);
  expect((await outboxOf(store, hook)).map(({ id }) => id)).toEqual(["d"]);
});
