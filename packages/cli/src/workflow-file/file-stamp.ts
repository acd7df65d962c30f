import { statSync } from "node:fs";

/**
 * What tells a save from outside of a file: it differs after each of them, also after one that puts
 * another file in the old one's place. Empty when there is no such file.
 */
export function stampOf(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile()) return "";
    return `${found.ino}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`;
  } catch {
    // Not to be looked at, as behind a folder without permission: the same to whoever imports it.
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
