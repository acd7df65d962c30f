import { existsSync } from "node:fs";
import { join } from "node:path";
import { startTestPostgres } from "@engine/store/test-postgres";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { capturedIo } from "../io/captured-io.ts";
import { runCli } from "../run-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

/** Runs `engine db …` on a database that the environment names, if any. */
function dbOf(databaseUrl?: string) {
  const folder = temporaryFolder({});
  onTestFinished(() => folder.remove());
  const env = databaseUrl === undefined ? {} : { ENGINE_DATABASE_URL: databaseUrl };
  const db = async (...args: string[]) => {
    const io = capturedIo({ cwd: folder.path, env });
    const code = await runCli(["db", ...args], io);
    return { code, out: io.printed(), err: io.complained() };
  };
  return { db, cwd: folder.path };
}

/** As the test server's URLs have it. */
const PASSWORD = /test-secret/;

const databases: [string, () => Promise<string | undefined>][] = [
  ["SQLite", async () => undefined],
  ["PostgreSQL", () => postgres.createDatabase()],
];

test.each(databases)(
  "`engine db upgrade` brings a %s database up to date, once",
  async (_, url) => {
    const { db } = dbOf(await url());
    const before = await db("current", "--format", "json");
    const { database, pending } = JSON.parse(before.out);
    expect(JSON.parse(before.out)).toEqual({ database, current: null, pending, refused: [] });
    expect(pending).toBeGreaterThan(1);

    const upgraded = await db("upgrade", "--format", "json");
    const { applied } = JSON.parse(upgraded.out);
    expect(JSON.parse(upgraded.out)).toEqual({ database, applied });
    expect(applied).toHaveLength(pending);
    const again = await db("upgrade");
    expect(again).toEqual({ code: 0, out: `✓ ${database} is up to date\n`, err: "" });

    const after = JSON.parse((await db("current", "--format", "json")).out);
    expect(after).toMatchObject({
      pending: 0,
      current: { name: applied.at(-1), status: "applied" },
    });
    for (const { out, err } of [before, upgraded]) expect(out + err).not.toMatch(PASSWORD);
  },
);

test.each(databases)(
  "`engine db history` lists what a %s database has had and has not",
  async (_, url) => {
    const { db } = dbOf(await url());
    const statuses = async () => {
      const page = JSON.parse((await db("history", "--format", "json")).out);
      expect(page).toMatchObject({ total: page.items.length, limit: page.items.length, offset: 0 });
      return page.items.map((item: { status: string; applied_at: string | null }) => [
        item.status,
        item.applied_at,
      ]);
    };
    const before = await statuses();
    expect(before).toEqual(before.map(() => ["pending", null]));
    expect((await db("upgrade")).out).toMatch(/was upgraded\n {2}\d{4}-\S+\.sql\n/);
    // At the clock of the command.
    expect(await statuses()).toEqual(before.map(() => ["applied", "2026-01-01T12:00:00.000Z"]));
    expect((await db("history")).out).toMatch(
      /^MIGRATION +STATUS +APPLIED\n\d{4}-\S+\.sql +applied +2026-01-01/,
    );
  },
);

test("`engine db current` makes no file where there is none, and says what to do", async () => {
  const { db, cwd } = dbOf();
  const { code, out } = await db("current");
  expect(code).toBe(0);
  expect(out).toContain(`sqlite:${join(cwd, ".engine/engine.db")}`);
  expect(out).toMatch(/migration +none yet\n +pending +\d+; apply them: npx engine db upgrade\n/);
  expect(existsSync(join(cwd, ".engine"))).toBe(false);
});

test("--database-url wins over the environment", async () => {
  const { db, cwd } = dbOf("sqlite::memory:");
  const other = `sqlite:${join(cwd, "other.db")}`;
  expect((await db("upgrade", "--database-url", other)).out).toContain(`${other} was upgraded`);
  expect((await db("current", "--database-url", other)).out).toMatch(/pending +none/);
});

test.each(["upgrade", "current", "history"])(
  "`engine db %s` with a URL that names no database says which key is wrong, and nothing of it",
  async (command) => {
    for (const url of ["mysql://ann:test-secret@db/engine", "ann:test-secret@db", "postgres://x"]) {
      const { code, out, err } = await dbOf(url).db(command);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toMatch(/^error: database_url: expected a database URL [^\n]+\n$/);
      expect(err).not.toMatch(PASSWORD);
    }
  },
);

test.each(["upgrade", "current", "history"])(
  "`engine db %s` of a server that does not answer is one line that names its place",
  async (command) => {
    const { db } = dbOf("postgres://ann:test-secret@127.0.0.1:1/engine");
    const { code, out, err } = await db(command);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^error: [^\n]*127\.0\.0\.1:1\/engine[^\n]*\n$/);
    expect(err).not.toMatch(PASSWORD);
  },
);
