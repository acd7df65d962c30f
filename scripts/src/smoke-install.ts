/**
 * Does what docs/your-own-project.md has its reader do, with the packed packages, in a home of its
 * own; then compiles the project once more as a bundler resolves packages.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pageSteps } from "./page-steps.ts";
import { Reader } from "./smoke-reader.ts";

const BUNDLER = { module: "esnext", moduleResolution: "bundler" };
const root = join(import.meta.dirname, "../..");
const home = await mkdtemp(join(tmpdir(), "engine-smoke-"));
const reader = new Reader({ home, cwd: root });

try {
  for (const step of pageSteps(readFileSync(join(root, "docs/your-own-project.md"), "utf8"))) {
    await reader.take(step);
  }
  const bundled = { extends: "./tsconfig.json", compilerOptions: BUNDLER };
  writeFileSync(join(reader.cwd, "tsconfig.bundler.json"), JSON.stringify(bundled));
  await reader.take({ kind: "commands", text: "npx tsc -p tsconfig.bundler.json\n" });
  console.log(
    "the packed packages install, compile, serve and run, as docs/your-own-project.md says",
  );
} finally {
  await reader.end();
  rmSync(home, { recursive: true, force: true });
}
