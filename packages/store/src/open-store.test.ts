import { existsSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { shownDatabaseUrl } from "./database-url.ts";
import { openStore } from "./open-store.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const folder = temporaryFolder();

test("a sqlite: URL opens the file it names", async () => {
  const path = join(folder, "a.db");
  for (const url of [`sqlite:${path}`, `sqlite://${path}`, "sqlite::memory:"]) {
    const store = await openStore(url);
    expect(store.kind).toBe("sqlite");
    await store.close();
  }
  expect(existsSync(path)).toBe(true);
});

test.each([
  ["postgres://ann:secret@db", "it names no database"],
  ["postgres://ann:secret@db:port/engine", "it cannot be read as a URL"],
  ["postgresql://ann:sec%ret@db/engine", "holds a % that stands for nothing"],
  ["mysql://ann:secret@db/engine", "or postgres://…, got one that begins with mysql:"],
  ["engine.db", "or postgres://…, got one without a scheme"],
  ["sqlite:", "needs a path"],
])("%s is refused and told what to write, without its password", async (url, message) => {
  const error = await openStore(url).catch((reason) => reason);
  expect(error).toMatchObject({ code: "invalid_input", message: expect.stringContaining(message) });
  expect(error.message).toMatch(/^database_url: /);
  expect(inspect(error, { depth: null, showHidden: true })).not.toMatch(/sec(ret|%ret)/);
});

test("a database URL is shown without user and password", () => {
  const shown = [
    "postgres://ann:secret@db/engine",
    "postgresql://db:6543/engine?password=secret",
    "postgres:///engine?host=db",
    "sqlite:.engine/engine.db",
  ].map(shownDatabaseUrl);
  expect(shown).toEqual([
    "postgres://db:5432/engine",
    "postgres://db:6543/engine",
    "postgres://db:5432/engine",
    "sqlite:.engine/engine.db",
  ]);
});
