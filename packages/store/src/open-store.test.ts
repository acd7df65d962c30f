import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "./open-store.ts";
import { temporaryFolder } from "./sqlite/temporary-folder.ts";

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
  ["postgres://ann:secret@db/engine", "PostgreSQL comes with a later release"],
  ["postgresql://ann:secret@db/engine", "PostgreSQL comes with a later release"],
  ["mysql://ann:secret@db/engine", "sqlite:<path>, got one that begins with mysql:"],
  ["engine.db", "sqlite:<path>, got one without a scheme"],
  ["sqlite:", "needs a path"],
])("%s is refused and told what to write, without its password", async (url, message) => {
  const error = await openStore(url).catch((reason) => reason);
  expect(error).toMatchObject({ code: "invalid_input", message: expect.stringContaining(message) });
  expect(JSON.stringify(error.toBody())).not.toContain("secret");
});
