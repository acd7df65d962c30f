import { randomUUID } from "node:crypto";
import { access, mkdir, open, readFile, rename, rm, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { storedValues, type ValuePlace } from "./stored-values.ts";
import type { ValueStore } from "./value-store.ts";

/** What is being written lies here, under no execution's id, so that one look finds all of it. */
const UNFINISHED = ".writing";
/** Left free of the disk, which the database may share: a hundredth of it, up to this. */
const MOST_SPARED = 64 * 1024 * 1024;
/** Another server that starts may take a file that is being written for one that a crash has left. */
const MOST_ATTEMPTS = 3;

/** Values as files: a folder for each execution, in it a file for each content. */
export function fileValues(path: string): ValueStore {
  return storedValues(new ValueFiles(resolve(path)));
}

/** Removes what a crash has left half written. A value that is being written at that moment is begun again. */
export async function sweepUnfinished(path: string): Promise<void> {
  await rm(join(resolve(path), UNFINISHED), { recursive: true, force: true });
}

class ValueFiles implements ValuePlace {
  readonly type = "file";
  readonly unit = "file";
  readonly #root: string;
  /** Part of the names of unfinished files: several servers may share the folder. */
  readonly #writer = randomUUID();
  /** By reference: the same value at the same time is written once. */
  readonly #underWay = new Map<string, Promise<void>>();
  #bytesUnderWay = 0;

  constructor(root: string) {
    this.#root = root;
  }

  write(reference_id: string, text: string): Promise<void> {
    let writing = this.#underWay.get(reference_id);
    if (!writing) {
      writing = this.#write(reference_id, text).finally(() => this.#underWay.delete(reference_id));
      this.#underWay.set(reference_id, writing);
    }
    return writing;
  }

  async read(reference_id: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.#root, reference_id), "utf8");
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  async deleteAll(execution_id: string): Promise<void> {
    await rm(join(this.#root, execution_id), { recursive: true, force: true });
  }

  reasonOf(cause: unknown): string {
    const { code = "" } = cause as NodeJS.ErrnoException;
    return REASONS[code] ?? "its folder does not answer";
  }

  /** Under its name a file is complete. */
  async #write(reference_id: string, text: string): Promise<void> {
    const path = join(this.#root, reference_id);
    const folder = dirname(path);
    for (let attempt = 1; !(await exists(path)); attempt++) {
      await makeFolder(folder);
      try {
        await this.#complete(path, `${this.#writer}.${reference_id.replace("/", ".")}`, text);
        break;
      } catch (error) {
        if (!isAbsent(error) || attempt === MOST_ATTEMPTS) throw error;
      }
    }
    // For a file that was there, too: its writer may not have come this far.
    await syncFolder(folder);
  }

  async #complete(path: string, name: string, text: string): Promise<void> {
    const bytes = Buffer.byteLength(text);
    const unfinished = join(this.#root, UNFINISHED, name);
    await makeFolder(dirname(unfinished));
    this.#bytesUnderWay += bytes;
    try {
      await this.#assertRoom();
      const file = await open(unfinished, "w");
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    } finally {
      this.#bytesUnderWay -= bytes;
    }
  }

  /** Before the disk is full: what shares it goes on, and a large value is not written in vain. */
  async #assertRoom(): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(this.#root);
    const spared = Math.min((blocks * bsize) / 100, MOST_SPARED);
    if (bavail * bsize - spared >= this.#bytesUnderWay) return;
    throw Object.assign(new Error("too little room is left"), { code: "ENOSPC" });
  }
}

async function makeFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  if (made !== undefined) await keepNames(folder, made);
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Makes the names of new folders durable, from `folder` up to `made`, the uppermost of them. */
async function keepNames(folder: string, made: string): Promise<void> {
  for (let at = folder; at.startsWith(made); at = dirname(at)) await syncFolder(dirname(at));
}

async function syncFolder(folder: string): Promise<void> {
  // Windows has no handle for a folder that could be synced.
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "its disk is full",
  EDQUOT: "its disk is full",
  EROFS: "its disk is read-only",
};
