import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { EXCUSES } from "./excuses.ts";
import { JUDGES } from "./judge.ts";

const files = (await readdir(import.meta.dirname)).filter((name) => /^[a-z-]+\.ts$/.test(name));
const texts = await Promise.all(
  files
    .filter((name) => name !== "excuses.ts")
    .map((name) => readFile(new URL(name, import.meta.url), "utf8")),
);

test("every excuse is one judge's, and is taken by name somewhere", () => {
  for (const [name, { judge, why }] of Object.entries(EXCUSES)) {
    expect(JUDGES).toContain(judge);
    expect(why).toMatch(/^[A-Z].*\.$/);
    const uses = texts.filter((text) => text.includes(`excuse(${JSON.stringify(name)})`));
    expect(uses, `who takes "${name}"`).toHaveLength(1);
  }
});
