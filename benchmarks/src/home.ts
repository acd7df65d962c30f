import { rmSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { RESULTS } from "./results-file.ts";

export interface Home {
  readonly path: string;
  remove(): Promise<void>;
}

/** A folder on the disk of the checkout: the system's temporary folder may be memory. */
export async function createHome(): Promise<Home> {
  await mkdir(RESULTS, { recursive: true });
  const path = await mkdtemp(join(RESULTS, "home-"));
  const onExit = () => rmSync(path, { recursive: true, force: true });
  process.on("exit", onExit);
  return {
    path,
    async remove() {
      process.off("exit", onExit);
      await rm(path, { recursive: true, force: true });
    },
  };
}
