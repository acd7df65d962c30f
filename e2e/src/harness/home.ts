import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of its own for one test: database, working directory, files a test writes. */
export interface Home extends AsyncDisposable {
  readonly path: string;
  /** The path of a file inside it. */
  file(name: string): string;
  write(name: string, text: string): Promise<string>;
}

export async function createHome(): Promise<Home> {
  const path = await mkdtemp(join(tmpdir(), "engine-e2e-"));
  const file = (name: string) => join(path, name);
  return {
    path,
    file,
    async write(name, text) {
      await writeFile(file(name), text);
      return file(name);
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}
