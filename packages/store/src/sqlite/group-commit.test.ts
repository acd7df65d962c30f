import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { Connection } from "./connection.ts";
import { GroupCommit } from "./group-commit.ts";

function start(schema: string, clock: () => number = () => 1) {
  const db = new Database(":memory:");
  onTestFinished(() => void db.close());
  db.exec(schema);
  const connection = new Connection(db);
  const commits = new GroupCommit(connection, clock);
  const rows = () => db.prepare("SELECT n FROM numbers ORDER BY n").pluck().all();
  return { db, connection, commits, rows };
}

const NUMBERS = "CREATE TABLE numbers (n INTEGER PRIMARY KEY)";

test("CKP-5 when the commit itself fails, every write of it fails and nothing is written", async () => {
  const { connection, commits, rows } = start(`
    PRAGMA foreign_keys = ON;
    CREATE TABLE parents (id INTEGER PRIMARY KEY);
    CREATE TABLE numbers (n INTEGER PRIMARY KEY,
      parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED)`);
  const insert = connection.prepare("INSERT INTO numbers VALUES (?, ?)");
  const both = await Promise.allSettled([
    commits.write(() => insert.run(1, null)),
    commits.write(() => insert.run(2, 99)),
  ]);
  const failed = { status: "rejected", reason: { code: "unavailable" } };
  expect(both).toMatchObject([failed, failed]);
  expect(rows()).toEqual([]);
  await expect(commits.write(() => insert.run(3, null))).resolves.toBe(1);
  expect(rows()).toEqual([3]);
});

test("on a full disk every write of the commit fails as unavailable, and later ones can succeed", async () => {
  const { db, connection, commits, rows } = start(`${NUMBERS}; CREATE TABLE texts (text TEXT)`);
  const insert = connection.prepare("INSERT INTO numbers VALUES (?)");
  const insertText = connection.prepare("INSERT INTO texts VALUES (?)");
  db.pragma(`max_page_count = ${Number(db.pragma("page_count", { simple: true })) + 2}`);
  const both = await Promise.allSettled([
    commits.write(() => insert.run(1)),
    commits.write(() => insertText.run("x".repeat(100_000))),
  ]);
  const reason = { code: "unavailable", message: expect.stringContaining("full") };
  expect(both).toMatchObject([{ reason }, { reason }]);
  expect(rows()).toEqual([]);
  await commits.write(() => insert.run(2));
  expect(rows()).toEqual([2]);
});

test("a write that breaks off half way is undone alone: the others are done again", async () => {
  const { connection, commits, rows } = start(NUMBERS);
  const insert = connection.prepare("INSERT INTO numbers VALUES (?)");
  const bug = new Error("half way");
  const all = await Promise.allSettled([
    commits.write(() => insert.run(1)),
    commits.write(() => {
      insert.run(2);
      throw bug;
    }),
    commits.write(() => {
      insert.run(3);
      insert.run(1);
    }),
    commits.write(() => insert.run(4)),
  ]);
  expect(all.map(({ status }) => status[0])).toEqual(["f", "r", "r", "f"]);
  expect(all[1]).toMatchObject({ reason: bug });
  expect(rows()).toEqual([1, 4]);
});

test("EXE-23 what a refusal tells of a write beside it is what is committed, also when both went again", async () => {
  let now = 0;
  const { db, connection, commits } = start("CREATE TABLE events (time INTEGER)", () => ++now);
  const insert = connection.prepare("INSERT INTO events VALUES (?)");
  const times = () => db.prepare("SELECT time FROM events").pluck().all();
  const all = await Promise.allSettled([
    commits.write((at) => insert.run(at)),
    commits.write(() => {
      throw new Error(`the log has grown: ${times()}`);
    }),
    commits.write(() => {
      insert.run(99);
      throw new Error("half way");
    }),
  ]);
  expect(times()).toEqual([1]);
  expect(all[1]).toMatchObject({ reason: { message: "the log has grown: 1" } });
  expect(all[2]).toMatchObject({ reason: { message: "half way" } });
});

test("CKP-5 nobody is refused for what was not committed: when the commit fails, that fails too", async () => {
  const { db, connection, commits, rows } = start(`
    PRAGMA foreign_keys = ON;
    CREATE TABLE parents (id INTEGER PRIMARY KEY);
    CREATE TABLE numbers (n INTEGER PRIMARY KEY,
      parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED)`);
  const insert = connection.prepare("INSERT INTO numbers VALUES (?, ?)");
  const taken = () => db.prepare("SELECT n FROM numbers").pluck().all();
  const all = await Promise.allSettled([
    commits.write(() => insert.run(1, 99)),
    commits.write(() => {
      throw new Error(`taken: ${taken()}`);
    }),
    commits.write(() => {
      insert.run(2, null);
      throw new Error("half way");
    }),
  ]);
  const failed = { status: "rejected", reason: { code: "unavailable" } };
  expect(all).toMatchObject([failed, failed, failed]);
  expect(rows()).toEqual([]);
});

test("no promise settles before the commit that holds its write", async () => {
  const { db, connection, commits } = start(NUMBERS);
  const insert = connection.prepare("INSERT INTO numbers VALUES (?)");
  const seen: [number, boolean][] = [];
  await Promise.all(
    [1, 2, 3].map(async (n) => {
      await commits.write(() => insert.run(n));
      seen.push([n, db.inTransaction]);
    }),
  );
  expect(seen).toEqual([
    [1, false],
    [2, false],
    [3, false],
  ]);
});

test("writes that are asked for by one another's answers go on until close", async () => {
  const { connection, commits, rows } = start(NUMBERS);
  const insert = connection.prepare("INSERT INTO numbers VALUES (?)");
  for (const n of [1, 2, 3]) await commits.write(() => insert.run(n));
  const last = commits.write(() => insert.run(4));
  const closed = commits.close();
  await Promise.all([last, closed]);
  await expect(commits.write(() => insert.run(5))).rejects.toMatchObject({ code: "unavailable" });
  expect(rows()).toEqual([1, 2, 3, 4]);
});

test("a commit waits for what it was told to, writes that are asked for meanwhile go with it, and what that rejects with refuses them all", async () => {
  const { connection, commits, rows } = start(NUMBERS);
  const insert = connection.prepare("INSERT INTO numbers VALUES (?)");
  const first = Promise.withResolvers<void>();
  let ready: () => Promise<void> | undefined = () => first.promise;
  commits.waitFor(() => ready());
  const before = commits.write(() => insert.run(1));
  await new Promise((resolve) => setImmediate(resolve));
  const meanwhile = commits.write(() => insert.run(2));
  await new Promise((resolve) => setImmediate(resolve));
  expect(rows()).toEqual([]);
  first.resolve();
  await Promise.all([before, meanwhile]);
  expect(rows()).toEqual([1, 2]);
  ready = async () => {
    throw new Error("not to be read");
  };
  const reason = { code: "unavailable" };
  const both = await Promise.allSettled([3, 4].map((n) => commits.write(() => insert.run(n))));
  expect(both).toMatchObject([{ reason }, { reason }]);
  expect(rows()).toEqual([1, 2]);
  ready = () => undefined;
  await commits.write(() => insert.run(5));
  expect(rows()).toEqual([1, 2, 5]);
});
