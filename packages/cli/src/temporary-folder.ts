import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** For tests: a folder with files, by relative path, that `remove` takes away again. */
export function temporaryFolder(files: Readonly<Record<string, string>>): {
  readonly path: string;
  remove(): void;
} {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "engine-cli-")));
  for (const [name, text] of Object.entries(files)) {
    const file = join(path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
