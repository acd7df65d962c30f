import { statSync } from "node:fs";

/**
 * Tells from outside of a file that it was saved: the stamp differs after each save, also after one
 * that puts another file in its place. Empty when there is no file.
 */
export function stampOf(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile()) return "";
    return `${found.ino}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`;
  } catch {
    // A file behind a folder without permission cannot be imported either.
    return "";
  }
}

/** How far a file system's idea of the time of a save may lie behind the clock. */
const COARSE_MS = 20;

/** Whether a file may have been saved at or after this time of the clock. */
export function isSavedSince(path: string, time: number): boolean {
  try {
    return statSync(path).ctimeMs > time - COARSE_MS;
  } catch {
    return false;
  }
}
