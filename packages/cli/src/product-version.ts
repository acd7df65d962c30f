import { readFileSync } from "node:fs";

/** The version of the whole product: its packages are released together. */
export function productVersion(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
