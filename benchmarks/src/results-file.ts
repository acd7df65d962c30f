import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Not part of the repository: figures of one machine at one time. */
export const RESULTS: string = fileURLToPath(new URL("../results", import.meta.url));

/** Where the figures of a run that began then go. */
export async function resultsFile(startedAt: string): Promise<string> {
  await mkdir(RESULTS, { recursive: true });
  return join(RESULTS, `${startedAt.replaceAll(":", "-")}.json`);
}
