import { statSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../io/cli-error.ts";
import { stampOf } from "./file-stamp.ts";
import { sourceText } from "./source-text.ts";
import { type Sources, sourcesBelow } from "./sources-below.ts";

/**
 * Looks for the workflow files among what `engine dev` was given: files as they are, folders
 * searched for TypeScript that imports the SDK and defines a workflow. Without anything, the files
 * of the current folder itself, so that a home directory is not walked. May be asked again and
 * again: only files that have changed are read.
 */
export function workflowFinder(args: readonly string[], cwd: string): () => Sources {
  const targets = args.map((arg) => {
    const path = resolve(cwd, arg);
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) {
      const what = "correct the path, or name the folder that the file is in";
      throw new UsageError(`${arg} does not exist (looked for ${path}); ${what}`);
    }
    return { path, isFolder: found.isDirectory() };
  });
  const isWorkflowFile = rememberedByStamp(definesWorkflow);
  const search = (folder: string, recurse: boolean): Sources => {
    const { files, folders } = sourcesBelow(folder, recurse);
    return { files: files.filter(isWorkflowFile), folders };
  };
  return () => {
    if (targets.length === 0) return search(cwd, false);
    const found = targets.map(({ path, isFolder }) =>
      isFolder ? search(path, true) : { files: stampOf(path) ? [path] : [], folders: [] },
    );
    return {
      files: [...new Set(found.flatMap(({ files }) => files))],
      folders: [...new Set(found.flatMap(({ folders }) => folders))],
    };
  };
}

function rememberedByStamp(ask: (path: string) => boolean): (path: string) => boolean {
  const answers = new Map<string, { readonly stamp: string; readonly answer: boolean }>();
  return (path) => {
    const stamp = stampOf(path);
    const known = answers.get(path);
    if (known?.stamp === stamp) return known.answer;
    const answer = ask(path);
    answers.set(path, { stamp, answer });
    return answer;
  };
}

function definesWorkflow(path: string): boolean {
  // Perhaps gone since its name was read.
  const text = sourceText(path) ?? "";
  return /from\s*["']@engine\/sdk["']/.test(text) && /\bworkflow\s*[(<]/.test(text);
}
