import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

export interface Sources {
  /** TypeScript files, in order of their names; tests and declarations left out. */
  readonly files: readonly string[];
  /** The folders that were read: a new file in one of them would be found. */
  readonly folders: readonly string[];
}

const SKIPPED_FOLDERS = new Set(["node_modules", "dist", "test", "tests", "__tests__"]);

/**
 * The sources in a folder, and below it when asked. Links to files count as files, once each; links
 * to folders are not followed, because build tools leave some that lead to very many files.
 */
export function sourcesBelow(folder: string, recurse: boolean): Sources {
  const files: string[] = [];
  const folders: string[] = [];
  const seen = new Set<string>();
  const visit = (at: string) => {
    const entries = entriesOf(at);
    if (!entries) return;
    folders.push(at);
    for (const entry of entries) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) {
        if (recurse && !isSkipped(entry.name)) visit(path);
      } else if (isSource(entry.name)) {
        const real = realFile(path);
        if (real === undefined || seen.has(real)) continue;
        seen.add(real);
        files.push(path);
      }
    }
  };
  visit(folder);
  return { files, folders };
}

/** Undefined when it cannot be read, or is gone since its name was. */
function entriesOf(folder: string): Dirent[] | undefined {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return undefined;
  }
}

/** Undefined when it is no file, or a link that leads nowhere. */
function realFile(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function isSkipped(name: string): boolean {
  return SKIPPED_FOLDERS.has(name) || name.startsWith(".");
}

function isSource(name: string): boolean {
  return /\.m?ts$/.test(name) && !/\.(d|test|spec)\.m?ts$/.test(name);
}
