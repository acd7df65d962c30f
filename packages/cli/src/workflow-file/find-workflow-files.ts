import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { UsageError } from "../cli-error.ts";

/** A file to register. `named`: the user asked for this very file. */
export interface WorkflowFile {
  readonly path: string;
  readonly named: boolean;
}

const SKIPPED_FOLDERS = new Set(["node_modules", "dist", "test", "tests", "__tests__"]);

/**
 * The workflow files among what `engine dev` was given: files as they are, folders searched for
 * TypeScript that imports the SDK and defines a workflow. Without anything, the files of the
 * current folder itself, so that a home directory is not walked.
 */
export function findWorkflowFiles(args: readonly string[], cwd: string): WorkflowFile[] {
  if (args.length === 0) return filesOf(cwd, false).map(unnamed);
  return args.flatMap((arg) => {
    const path = resolve(cwd, arg);
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) throw new UsageError(`${arg} does not exist (looked for ${path})`);
    return found.isDirectory() ? filesOf(path, true).map(unnamed) : [{ path, named: true }];
  });
}

function unnamed(path: string): WorkflowFile {
  return { path, named: false };
}

function filesOf(folder: string, recurse: boolean): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        const skipped = SKIPPED_FOLDERS.has(entry.name) || entry.name.startsWith(".");
        return recurse && !skipped ? filesOf(path, recurse) : [];
      }
      return entry.isFile() && isSource(entry.name) && definesWorkflow(path) ? [path] : [];
    });
}

function isSource(name: string): boolean {
  return /\.m?ts$/.test(name) && !/\.(d|test|spec)\.m?ts$/.test(name);
}

function definesWorkflow(path: string): boolean {
  const text = readFileSync(path, "utf8");
  return /from\s*["']@engine\/sdk["']/.test(text) && /\bworkflow\s*[(<]/.test(text);
}
