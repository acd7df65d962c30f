import { EngineError, invalidField, type Json } from "@engine/contract";
import { inputForm } from "./input-form.ts";
import { jsonErrorPosition } from "./json-error-position.ts";
import type { JsonSchema } from "./schema-references.ts";

/** The arguments of a call, as they came. */
export type ToolArguments = Readonly<Record<string, Json>>;

/**
 * The input that is posted for the arguments of a run or async tool (MCP-6). Whether it fits the
 * workflow's schema is left to the engine (MCP-5).
 *
 * @param schema The workflow's input schema.
 * @throws EngineError `invalid_input` for what the wrapping itself cannot read.
 */
export function inputOf(given: ToolArguments, schema: JsonSchema | null): Json {
  const input = inputForm(schema);
  if (input.form === "fields") return notDeep("arguments", { ...given });
  refuseOthers(given, ["input"]);
  if (input.form === "text") return textInput(given["input"]);
  if (given["input"] === undefined && !input.nullable) {
    throw invalidField("input", "expected a value, which is missing");
  }
  return notDeep("input", given["input"] ?? null);
}

/**
 * The arguments of a tool about one execution; `input` is null where none came, as for a status.
 *
 * @throws EngineError `invalid_input` for what cannot be read.
 */
export function executionOf(
  given: ToolArguments,
  takesInput: boolean,
): { readonly execution_id: string; readonly input: Json } {
  refuseOthers(given, takesInput ? ["execution_id", "input"] : ["execution_id"]);
  const { execution_id } = given;
  if (execution_id === undefined) {
    throw invalidField("execution_id", "expected a string, which is missing");
  }
  if (typeof execution_id !== "string" || execution_id === "") {
    throw invalidField("execution_id", "expected the id of an execution");
  }
  return { execution_id, input: textInput(given["input"]) };
}

/**
 * A generic input (MCP-7): JSON as text. Plain text that does not look like JSON is a string; what is
 * no text at all came from a client that saw no need for one, and is taken as it is.
 */
function textInput(given: Json | undefined): Json {
  if (typeof given !== "string") return notDeep("input", given ?? null);
  const text = given.trim();
  if (text === "") return null;
  try {
    return notDeep("input", JSON.parse(text));
  } catch (error) {
    if (error instanceof EngineError) throw error;
    if (!/^[{["]/.test(text)) return given;
  }
  const position = jsonErrorPosition(given);
  throw invalidField("input", `is not JSON: it goes wrong at position ${position}`);
}

/** More than the engine takes of any body, and what recursive readers do not survive (NET-1). */
const MOST_LEVELS = 128;

function notDeep(path: string, value: Json): Json {
  if (isDeeper(value, MOST_LEVELS)) {
    throw invalidField(path, `is nested deeper than ${MOST_LEVELS} levels`);
  }
  return value;
}

function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** A parameter by a wrong name would be lost without a word. */
function refuseOthers(given: ToolArguments, known: readonly string[]): void {
  const [unknown] = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw invalidField(unknown, `is unknown; the tool takes ${known.join(" and ")}`);
}
