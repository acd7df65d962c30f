/** Runs a part of the tests: `node scripts/src/test.ts <part> [arguments of vitest]`. */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isPart, startOf } from "./test-parts.ts";

const [name = "", ...given] = process.argv.slice(2);
if (!isPart(name)) throw new Error(`no part of the tests is called "${name}"`);

const { words, part } = startOf(name, given);
const vitest = dirname(createRequire(import.meta.url).resolve("vitest/package.json"));
const { TEST_PART: _, ...inherited } = process.env;
// Each file of tests is a process or a thread, most of whose start is the compiling of the same code.
const cache = join(import.meta.dirname, "../../node_modules/.cache/tests");
const env = { NODE_COMPILE_CACHE: cache, ...inherited };
const { status } = spawnSync(process.execPath, [join(vitest, "vitest.mjs"), ...words], {
  stdio: "inherit",
  env: part === undefined ? env : { ...env, TEST_PART: part },
});
process.exitCode = status ?? 1;
