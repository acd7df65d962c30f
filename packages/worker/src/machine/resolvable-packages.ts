import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { WorkerPackage } from "@engine/contract";

/** Most that registration takes. */
const MOST_PACKAGES = 2_000;

/**
 * The packages that bundles can import here, and those that the configuration adds (RES-3). Bundles
 * get theirs from the worker's installation, so that is where this looks.
 *
 * @param added As `name@version`; these win.
 * @param from Where the installation is: every `node_modules` at or above it counts.
 */
export async function resolvablePackages(
  added: readonly string[],
  from: string = dirname(fileURLToPath(import.meta.url)),
): Promise<{ packages: WorkerPackage[]; leftOut: number }> {
  const versions = new Map(added.map(named));
  for (const folder of installationsAbove(from)) {
    for (const { name, version } of await packagesIn(folder)) {
      // Node takes the nearest one.
      if (!versions.has(name)) versions.set(name, version);
    }
  }
  const all = [...versions].map(([name, version]) => ({ name, version }));
  return {
    packages: all.slice(0, MOST_PACKAGES),
    leftOut: Math.max(0, all.length - MOST_PACKAGES),
  };
}

function named(text: string): [name: string, version: string] {
  const at = text.indexOf("@", 1);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function installationsAbove(from: string): string[] {
  const folders: string[] = [];
  for (let folder = from; ; folder = dirname(folder)) {
    if (!folder.endsWith("node_modules")) folders.push(join(folder, "node_modules"));
    if (dirname(folder) === folder) return folders;
  }
}

async function packagesIn(folder: string): Promise<WorkerPackage[]> {
  const names = await namesIn(folder);
  const scoped = names.filter((name) => name.startsWith("@"));
  const inScopes = await Promise.all(
    scoped.map(async (scope) =>
      (await namesIn(join(folder, scope))).map((name) => `${scope}/${name}`),
    ),
  );
  const plain = names.filter((name) => !/^[.@]/.test(name));
  const found = await Promise.all(
    [...plain, ...inScopes.flat()].map((name) => packageAt(join(folder, name), name)),
  );
  return found.filter((one) => one !== undefined);
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).toSorted();
}

async function packageAt(folder: string, name: string): Promise<WorkerPackage | undefined> {
  try {
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    return typeof version === "string" ? { name, version } : undefined;
  } catch {
    // Something else that lies there.
    return undefined;
  }
}
