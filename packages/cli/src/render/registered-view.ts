/** What `workflow register` prints of the files it has registered. */
import type { Registered } from "@engine/contract";
import { refText } from "../arguments/workflow-ref.ts";
import { counted } from "./counted.ts";
import type { Paint } from "./paint.ts";
import { lines, table } from "./table.ts";
import { registeredTable, resultText, tasksText } from "./workflow-view.ts";

export interface FileRegistered {
  readonly file: string;
  /** Undefined when the file was refused. */
  readonly items: Registered["items"] | undefined;
}

/** What became of files: of one its workflows, of several each with its file, and a summary. */
export function registeredFiles(
  files: readonly FileRegistered[],
  paint: Paint,
  dryRun: boolean,
): string {
  const items = files.flatMap((file) => file.items ?? []);
  if (files.length === 1) return registeredTable(items, paint, dryRun);
  const rows = files.flatMap(({ file, items }) => {
    if (!items) return [[file, "", "", "refused", ""]];
    return items.map((item) => {
      return [file, refText(item), String(item.version), resultText(item, dryRun), tasksText(item)];
    });
  });
  const shown = table(["FILE", "WORKFLOW", "VERSION", "RESULT", "TASKS"], rows, paint);
  return shown + lines([summary(files, items, dryRun)]);
}

function summary(
  files: readonly FileRegistered[],
  items: Registered["items"],
  dryRun: boolean,
): string {
  const created = items.filter((item) => item.created).length;
  const refused = files.filter((file) => !file.items).length;
  return [
    `${files.length} files`,
    `${counted(created, "workflow")} ${dryRun ? "would be created" : "created"}`,
    `${items.length - created} unchanged`,
    ...(refused ? [`${counted(refused, "file")} refused`] : []),
  ].join(", ");
}
