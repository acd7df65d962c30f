import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Given, qualified } from "./file-news.ts";

/** Which versions of its workflows `engine dev --yield` gave, kept in the home from start to start. */
export interface GivenVersions {
  isOurs(version: Given): boolean;
  add(versions: readonly Given[]): void;
}

export function givenVersions(home: string): GivenVersions {
  const path = join(home, "dev-versions.json");
  const versions = new Map(Object.entries(read(path)));
  return {
    isOurs: (one) => versions.get(qualified(one)) === one.version,
    add(given) {
      for (const one of given) versions.set(qualified(one), one.version);
      const draft = `${path}.${process.pid}.tmp`;
      writeFileSync(draft, `${JSON.stringify(Object.fromEntries(versions), null, 2)}\n`);
      renameSync(draft, path);
    },
  };
}

/** A file that is missing or was changed by hand knows of no version: then nothing is displaced. */
function read(path: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(readFileSync(path, "utf8")) as object) };
  } catch {
    return {};
  }
}
