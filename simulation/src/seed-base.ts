import { execFileSync } from "node:child_process";

/** Where there is no repository. */
const FIXED = 1;
/** Far more than anybody runs in a row. */
const SEEDS = 1_000_000_000;

/** The first seed of a test run: each commit has others, and the same ones each time. */
export function seedBase(): number {
  try {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return Number.parseInt(commit.slice(0, 8), 16) % SEEDS;
  } catch {
    return FIXED;
  }
}
