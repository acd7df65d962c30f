import {
  printAffinity,
  printFairness,
  printLimit,
  printRouting,
  type Registered,
  type SourceFile,
  type TaskRecord,
  type WorkflowRecord,
} from "@engine/contract";
import { refText } from "../arguments/workflow-ref.ts";
import { ago, elapsed } from "./elapsed.ts";
import type { Paint, Screen } from "./paint.ts";
import { requestsText } from "./resource-text.ts";
import { schemaText } from "./schema-text.ts";
import { lines, table, titled } from "./table.ts";
import { valueText } from "./value-text.ts";

export function tasksText({ tasks }: WorkflowRecord): string {
  return tasks.map((task) => task.name).join(", ");
}

/** What registering made of a workflow. */
export function resultText({ created }: Registered["items"][number], dryRun: boolean): string {
  if (!created) return "unchanged";
  return dryRun ? "would be created" : "created";
}

export function workflowTable(items: readonly WorkflowRecord[], { paint, now }: Screen): string {
  return table(
    ["WORKFLOW", "VERSION", "REGISTERED", "TASKS"],
    items.map((w) => [refText(w), String(w.version), ago(w.created_at, now), tasksText(w)]),
    paint,
  );
}

export function registeredTable(items: Registered["items"], paint: Paint, dryRun: boolean): string {
  return table(
    ["WORKFLOW", "VERSION", "RESULT", "TASKS"],
    items.map((w) => [refText(w), String(w.version), resultText(w, dryRun), tasksText(w)]),
    paint,
  );
}

export function versionTable(items: readonly WorkflowRecord[], { paint, now }: Screen): string {
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
  { paint, now }: Screen,
): string {
  const { metadata, files, timeout_seconds: timeout } = record;
  const head = `${paint("strong", refText(record))} v${record.version}`;
  const shown = titled(paint, head, [
    ["about", record.description ?? undefined],
    ["input", shownSchema(record.input_schema)],
    ["output", shownSchema(record.output_schema)],
    ["tasks", listed(record.tasks.map(taskText), "\n")],
    ["calls", listed(record.nested_workflows)],
    ["timeout", timeout === null ? undefined : elapsed(timeout * 1000)],
    ["kept", record.durability === "transient" ? "start and end only (transient)" : undefined],
    ["needs", record.requests ? requestsText(record.requests) : undefined],
    ["affinity", printAffinity(record.affinity)],
    ["routing", printRouting(record.routing)],
    ["limits", listed(record.limits.map(printLimit), "\n")],
    ["priority", record.priority === null ? undefined : String(record.priority)],
    ["fairness", record.fairness ? printFairness(record.fairness) : undefined],
    ["secrets", listed(record.secrets)],
    ["configs", listed(record.configs)],
    ["metadata", Object.keys(metadata).length ? valueText(metadata) : undefined],
    ["registered", `${ago(record.created_at, now)} (${record.created_at})`],
    ["content", record.content_hash],
  ]);
  const sources = (files ?? []).flatMap(({ path, source }) => [
    "",
    paint("muted", `// ${path}`),
    ...source.trimEnd().split(/\r?\n/),
  ]);
  return shown + lines(sources);
}

function taskText({ name, description, ...task }: TaskRecord): string {
  const notes = [
    // What nearly every task is says nothing.
    task.risk === "write" ? undefined : task.risk,
    task.sensitive ? "sensitive" : undefined,
    task.auth_exempt ? "needs no permission" : undefined,
    task.requests ? `needs ${requestsText(task.requests)}` : undefined,
    task.secrets.length ? `secrets ${task.secrets.join(", ")}` : undefined,
    task.configs.length ? `configs ${task.configs.join(", ")}` : undefined,
  ].filter((note) => note !== undefined);
  const noted = notes.length ? ` (${notes.join("; ")})` : "";
  return `${name}${noted}${description ? ` – ${description}` : ""}`;
}

/** Undefined, which hides the line, for an empty list. */
function listed(items: readonly string[], separator = ", "): string | undefined {
  return items.join(separator) || undefined;
}

/** Undefined, which hides the line, for what the catalog does not know. */
function shownSchema(schema: unknown): string | undefined {
  return schema ? schemaText(schema) : undefined;
}
