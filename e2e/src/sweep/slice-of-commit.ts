import { execFileSync } from "node:child_process";

/**
 * Which of so many slices a commit has: the same each time it is tested, so that what fails came with
 * a change and not with the date. Without a commit it is the first.
 */
export function sliceOfCommit(commit: string | undefined, slices: number): number {
  // A commit's id is a hash already.
  return commit === undefined ? 0 : Number.parseInt(commit.slice(0, 8), 16) % slices;
}

/** Undefined where there is no clone, as in an archive of the sources. */
export function headCommit(): string | undefined {
  try {
    const printed = execFileSync("git", ["rev-parse", "HEAD"], {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return /^[0-9a-f]{40,64}$/.test(printed) ? printed : undefined;
  } catch {
    return undefined;
  }
}
