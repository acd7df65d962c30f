/** The files of a version that the server has, laid out so that they can be run here. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import type { SourceFile } from "@engine/contract";

export interface RegisteredFiles {
  readonly files: readonly SourceFile[];
  /** SHA-256 of the entry file. */
  readonly source_hash: string;
}

export interface Laid {
  /** The entry, by its absolute path. */
  readonly entry: string;
  remove(): void;
}

/**
 * Lays the files of a registered version into a temporary folder, so that they can be imported.
 * They find the packages of the folder that the command was given in.
 */
export function layRegisteredFiles({ files, source_hash }: RegisteredFiles, cwd: string): Laid {
  const entry = files.find(({ source }) => sha256(source) === source_hash);
  if (!entry)
    throw new Error("the server keeps no source of this version; name a file with --file");
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "engine-replay-")));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    for (const { path, source } of files) write(inside(folder, path), source);
    const packages = nearestPackages(cwd);
    if (packages) symlinkSync(packages, join(folder, "node_modules"), "junction");
    return { entry: inside(folder, entry.path), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** What a server names must not reach out of the folder made for it. */
function inside(folder: string, path: string): string {
  const file = resolve(folder, path);
  if (!relative(folder, file).startsWith("..")) return file;
  throw new Error(`the server names a source file outside of its folder: ${path}`);
}

function write(file: string, source: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
}

function nearestPackages(folder: string): string | undefined {
  const packages = join(folder, "node_modules");
  if (existsSync(packages)) return packages;
  const above = dirname(folder);
  return above === folder ? undefined : nearestPackages(above);
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
