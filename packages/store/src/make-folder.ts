import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { EngineError } from "@engine/contract";

/**
 * Makes a folder with those above it. Node's own `recursive` never returns where the folder above is
 * there and takes none, as below `/proc`.
 *
 * @throws EngineError `unavailable` naming the folder.
 */
export function makeFolder(path: string): void {
  try {
    make(path);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    const advice = "choose a place that can be written with ENGINE_HOME or the database's path";
    const message = `the folder ${path} cannot be made (${reason}); ${advice}`;
    throw new EngineError("unavailable", message, { cause });
  }
}

function make(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    const above = dirname(path);
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" || above === path) throw error;
    // Where it is there, another process may have made it since.
    if (!isFolder(above)) make(above);
    makeOne(path);
  }
}

function makeOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
