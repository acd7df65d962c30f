import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";

/** Only its owner reads it. */
const MODE = 0o600;

/** Writes a secret into a file of its own, whole or not at all. */
export function writeSecretFile(path: string, text: string): void {
  const fresh = `${path}.writing`;
  const file = openSync(fresh, "w", MODE);
  try {
    chmodSync(fresh, MODE);
    writeSync(file, `${text}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
}

/** The same for a file that is not there. False where it is: one that another process makes stays. */
export function makeSecretFile(path: string, text: string): boolean {
  const own = `${path}.${process.pid}`;
  writeSecretFile(own, text);
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * What is wrong with a file that holds a secret; undefined where it is right, or not there. One that
 * others may read is closed to them, with a warning (AUTH-3).
 */
export function secretFileProblem(
  path: string,
  warn: (message: string) => void,
): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  // Windows has neither.
  if (!found || process.getuid === undefined) return undefined;
  if (found.uid !== process.getuid()) return `${path} belongs to another user; it holds a secret`;
  if ((found.mode & 0o077) === 0) return undefined;
  try {
    chmodSync(path, MODE);
  } catch (error) {
    return `${path} can be read by others, and that cannot be changed: ${String(error)}`;
  }
  warn(`${path} holds a secret and could be read by others; now only its owner may`);
  return undefined;
}
