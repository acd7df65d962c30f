import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gate } from "../gate.ts";

/** A package of its own with its own lockfile: nothing else in the repository needs what it installs. */
export const PEERS: URL = new URL("../../peers/", import.meta.url);
const STILL_MS = 5_000;

/** Installs what the lockfile says unless it is there already, and says so while it does. */
export async function installPeers(tell: (line: string) => void): Promise<void> {
  if (isInstalled()) return;
  const folder = fileURLToPath(PEERS);
  tell(`installing the peers into ${folder}node_modules (once, about 250 MB) …`);
  const start = performance.now();
  const still = setInterval(() => {
    tell(`… still installing the peers, ${Math.round((performance.now() - start) / 1000)} s`);
  }, STILL_MS);
  try {
    // Nothing of theirs needs an install script. Its own output goes where messages go.
    const args = ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"];
    const npm = spawn("npm", args, { cwd: folder, stdio: ["ignore", 2, 2] });
    const [code] = (await once(npm, "exit")) as [number | null];
    gate(code === 0, () => `the peers could not be installed: npm ${args.join(" ")} → ${code}`);
  } finally {
    clearInterval(still);
  }
}

/** The version of a peer as its own manifest says it. */
export function peerVersion(name: string): string {
  const version = installedVersion(name);
  gate(version !== undefined, () => `${name} is not installed`);
  return version;
}

function isInstalled(): boolean {
  const { dependencies } = readManifest("package.json") as { dependencies: object };
  return Object.entries(dependencies).every(([name, pin]) => installedVersion(name) === pin);
}

function installedVersion(name: string): string | undefined {
  try {
    return (readManifest(`node_modules/${name}/package.json`) as { version: string }).version;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function readManifest(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, PEERS), "utf8"));
}
