import { State } from "@engine/contract";
import { inputForm } from "./input-form.ts";
import { type JsonSchema, moveSchema, withoutHeaderPromises } from "./schema-references.ts";

/** The input schema of a run or async tool, from the workflow's input schema (MCP-6). */
export function runInputSchema(schema: JsonSchema | null): JsonSchema {
  const input = inputForm(schema);
  if (input.form === "fields") {
    return { ...withoutHeaderPromises(input.schema), type: "object" };
  }
  if (input.form === "text") return textSchema("The input of the workflow, as JSON. Optional.");
  const moved = moveSchema(input.schema, "/properties/input");
  return {
    ...moved.root,
    type: "object",
    properties: { input: moved.schema },
    ...(!input.nullable && { required: ["input"] }),
    additionalProperties: false,
  };
}

const EXECUTION_ID = {
  type: "string",
  description: "Id of the execution, as the tool that started it answered it.",
} as const;

/** The input schema of a tool that answers a pause (MCP-1). */
export const RESUME_INPUT_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    execution_id: EXECUTION_ID,
    input: textParameter("What the pause is answered with, as JSON. Optional."),
  },
  required: ["execution_id"],
  additionalProperties: false,
};

/** The input schema of a tool that reads an execution (MCP-1). */
export const STATUS_INPUT_SCHEMA: JsonSchema = {
  type: "object",
  properties: { execution_id: EXECUTION_ID },
  required: ["execution_id"],
  additionalProperties: false,
};

/** The schema of what every tool of an endpoint answers, from the workflow's output schema (MCP-9). */
export function envelopeSchema(schema: JsonSchema | null): JsonSchema {
  const moved = schema && moveSchema(schema, "/properties/output/anyOf/0");
  return {
    ...moved?.root,
    type: "object",
    properties: {
      execution_id: { type: "string" },
      state: { type: "string", enum: [...State.options] },
      output: moved ? { anyOf: [moved.schema, { type: "null" }] } : {},
      pause: { type: "object", description: "What is waited for, in state PAUSED." },
      error: { type: "object", description: "Why it ended, in state FAILED or CANCELLED." },
    },
    required: ["execution_id", "state", "output"],
  };
}

function textSchema(description: string): JsonSchema {
  return {
    type: "object",
    properties: { input: textParameter(description) },
    additionalProperties: false,
  };
}

function textParameter(description: string): { type: string; description: string } {
  return { type: "string", description };
}
