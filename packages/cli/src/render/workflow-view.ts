import type { Registered, SourceFile, WorkflowRecord } from "@engine/contract";
import { refText } from "../workflow-ref.ts";
import { ago } from "./elapsed.ts";
import type { Paint } from "./paint.ts";
import { fields, lines, table } from "./table.ts";
import { valueText } from "./value-text.ts";

const tasksOf = ({ tasks }: WorkflowRecord) => tasks.map((task) => task.name).join(", ");

export function workflowTable(items: readonly WorkflowRecord[], paint: Paint, now: number): string {
  return table(
    ["WORKFLOW", "VERSION", "REGISTERED", "TASKS"],
    items.map((w) => [refText(w), String(w.version), ago(w.created_at, now), tasksOf(w)]),
    paint,
  );
}

export function registeredTable(items: Registered["items"], paint: Paint, dryRun: boolean): string {
  const result = (created: boolean) => {
    if (!created) return "unchanged";
    return dryRun ? "would be created" : "created";
  };
  return table(
    ["WORKFLOW", "VERSION", "RESULT", "TASKS"],
    items.map((w) => [refText(w), String(w.version), result(w.created), tasksOf(w)]),
    paint,
  );
}

export function versionTable(items: readonly WorkflowRecord[], paint: Paint, now: number): string {
  return table(
    ["VERSION", "REGISTERED", "BY", "CONTENT"],
    items.map((w) => [
      String(w.version),
      `${ago(w.created_at, now)} (${w.created_at})`,
      w.created_by ?? "",
      w.content_hash.slice(0, 12),
    ]),
    paint,
  );
}

export function workflowView(
  record: WorkflowRecord & { readonly files?: readonly SourceFile[] | undefined },
  paint: Paint,
  now: number,
): string {
  const { tasks, metadata, files } = record;
  const head = `${paint("strong", refText(record))} v${record.version}`;
  const shown = fields(
    [
      ["about", record.description ?? undefined],
      [
        "tasks",
        tasks
          .map(({ name, description }) => name + (description ? ` – ${description}` : ""))
          .join("\n") || undefined,
      ],
      ["metadata", Object.keys(metadata).length ? valueText(metadata) : undefined],
      ["registered", `${ago(record.created_at, now)} (${record.created_at})`],
      ["content", record.content_hash],
    ],
    paint,
  );
  const sources = (files ?? []).map(
    ({ path, source }) => `\n${paint("muted", `// ${path}`)}\n${source.trimEnd()}`,
  );
  return lines([head]) + shown + lines(sources);
}
