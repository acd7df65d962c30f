import { parsePackageRequest, type SourceFile, type WorkflowRecord } from "@engine/contract";

/** Whether workflows of these files may request packages: the option cannot be set without its name. */
export function mayRequestPackages(files: readonly SourceFile[]): boolean {
  return files.some(({ source }) => /\bpackages\b/.test(source));
}

/** The packages that any of the workflows of a file requests: all of them run from one bundle. */
export function requestedPackages(
  workflows: readonly Pick<WorkflowRecord, "requests">[],
): readonly string[] {
  const requested = workflows.flatMap(({ requests }) => requests?.packages ?? []);
  const names = requested.flatMap((text) => parsePackageRequest(text)?.name ?? []);
  return [...new Set(names)].sort();
}
