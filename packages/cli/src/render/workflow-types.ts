import type { WorkflowRecord } from "@engine/contract";
import { schemaType } from "./schema-type.ts";

const HEAD = `// Made by \`engine workflow types\` from an engine's catalog: make it anew instead of editing it.
`;

/** Declarations of workflows as the client's `workflow<…>()` takes them. */
export function workflowTypes(records: readonly WorkflowRecord[]): string {
  const entries = records.map(entry).join("");
  return `${HEAD}export interface Workflows {\n${entries}}\n`;
}

function entry({ namespace, name, description, ...schemas }: WorkflowRecord): string {
  const { input_schema: input, output_schema: output } = schemas;
  return `${comment(description)}  readonly ${JSON.stringify(`${namespace}/${name}`)}: {
    readonly "~input"?: ${schemaType(input)};
    readonly "~output"?: ${schemaType(output)};
  };
`;
}

function comment(description: string | null): string {
  if (!description?.trim()) return "";
  const lines = description.trim().replaceAll("*/", "*\\/").split(/\r?\n/);
  if (lines.length === 1) return `  /** ${lines[0]} */\n`;
  return `  /**\n${lines.map((line) => `   * ${line}`.trimEnd()).join("\n")}\n   */\n`;
}
