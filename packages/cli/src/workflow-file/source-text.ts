import { readFileSync } from "node:fs";

/** The text of a file; undefined when it cannot be read, as one that has just been deleted. */
export function sourceText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** A line of a file, from 1. */
export function sourceLine(path: string, line: number): string | undefined {
  return sourceText(path)?.split(/\r?\n/)[line - 1];
}
