import { Config } from "@engine/contract";
import { type JsonSchema, rangeText, typeText } from "../json-schema.ts";
import { code, fenced, table } from "../markdown.ts";

/** `docs/configuration.md`, from the configuration's schema. */
export function configurationPage(): string {
  const schema = Config.toJSONSchema({ io: "input", unrepresentable: "any" }) as JsonSchema;
  const tables = Object.entries(tablesOf(schema, []));
  return `# Configuration

Read from \`engine.toml\` in the working directory (\`ENGINE_CONFIG\` names another file), then from the environment, then from flags of the command; later wins, key by key. In the environment tables and lists are JSON. Times are seconds unless the name says otherwise. An unknown key or a value out of range stops the start and is named, with the nearest known key.

${fenced("toml", '[engine]\nhome = "/var/lib/engine"\n\n[engine.server]\nhost = "0.0.0.0"\nport = 8000')}
${fenced("sh", "ENGINE_SERVER__PORT=9000 npx engine start server")}
${tables.map(([name, rows]) => `## [${name}]\n\n${table(HEAD, rows)}`).join("\n")}`;
}

const HEAD = ["key", "in the environment", "type", "default", "meaning"];

/** Rows by the name of their TOML table, the outer table first. */
function tablesOf(schema: JsonSchema, path: readonly string[]): Record<string, string[][]> {
  const rows: string[][] = [];
  const inner: Record<string, string[][]> = {};
  for (const [key, value] of Object.entries(schema.properties ?? {})) {
    const place = [...path, key];
    if (value.properties) Object.assign(inner, tablesOf(value, place));
    else rows.push(rowOf(key, place, value));
  }
  return { [["engine", ...path].join(".")]: rows, ...inner };
}

function rowOf(key: string, path: readonly string[], schema: JsonSchema): string[] {
  if (!schema.description)
    throw new Error(`configuration key ${path.join(".")} lacks a describe()`);
  const range = rangeText(schema);
  return [
    code(key),
    code(`ENGINE_${path.join("__").toUpperCase()}`),
    range ? `${typeText(schema)}, ${range}` : typeText(schema),
    schema.default === undefined ? "" : code(JSON.stringify(schema.default)),
    schema.description,
  ];
}
