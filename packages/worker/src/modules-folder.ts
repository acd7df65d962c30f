import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";

/** Where bundles lie. Made and resolved now: Node names a loaded module by its real path. */
export async function modulesFolder(home: string): Promise<string> {
  const folder = join(home, "modules");
  await mkdir(folder, { recursive: true });
  return realpath(folder);
}
