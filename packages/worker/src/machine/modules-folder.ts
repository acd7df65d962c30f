import { mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EngineError } from "@engine/contract";

/** Where bundles lie. Made and resolved now: Node names a loaded module by its real path. */
export async function modulesFolder(home: string): Promise<string> {
  const folder = join(home, "modules");
  try {
    await make(folder);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    const message = `the folder ${folder} cannot be made (${reason}); choose a place that can be written with ENGINE_HOME`;
    throw new EngineError("unavailable", message, { cause });
  }
  return realpath(folder);
}

/** Node's own `recursive` never returns where the folder above is there and takes none. */
async function make(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    const above = dirname(path);
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" || above === path) throw error;
    // Where it is there, another process may have made it since.
    if (!(await isFolder(above))) await make(above);
    await makeOne(path);
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (!(await isFolder(path))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
