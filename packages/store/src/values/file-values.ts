import { randomUUID } from "node:crypto";
import { access, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { EngineError } from "@engine/contract";
import {
  assertExecutionId,
  parseReference,
  referenceTo,
  valueGone,
  verified,
} from "./value-reference.ts";
import type { ValueStore } from "./value-store.ts";

/** Values as files: a folder for each execution, in it a file for each content. */
export function fileValues(path: string): ValueStore {
  const root = resolve(path);
  return {
    async save(execution_id, text) {
      const reference = referenceTo("file", execution_id, text);
      await reporting("kept", () => write(join(root, reference.reference_id), text));
      return reference;
    },
    async load(reference_id) {
      if (!parseReference(reference_id)) throw valueGone(reference_id, "no reference looks so");
      const text = await reporting("read", () => read(join(root, reference_id)));
      if (text === undefined) throw valueGone(reference_id, "its file is not there");
      return verified(reference_id, text);
    },
    async deleteAll(execution_id) {
      assertExecutionId(execution_id);
      const folder = join(root, execution_id);
      await reporting("deleted", () => rm(folder, { recursive: true, force: true }));
    },
  };
}

/** Under its name a file is complete: what a crash leaves behind has another name. */
async function write(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  if (!(await exists(path))) {
    const made = await mkdir(folder, { recursive: true });
    if (made !== undefined) await keepNames(folder, made);
    const temporary = `${path}.${randomUUID()}`;
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  }
  // For a file that was there, too: whoever wrote it may not have come this far.
  await syncFolder(folder);
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
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

async function reporting<Value>(done: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    const full = (cause as NodeJS.ErrnoException).code === "ENOSPC";
    const why = full ? "its disk is full" : "its folder does not answer";
    const message = `a value could not be ${done} in the output storage: ${why}; try again`;
    throw new EngineError("unavailable", message, { cause });
  }
}
