import { EngineError, encode, type InputIssue, type Json } from "@engine/contract";
import { checkInput, type InputSchema } from "./input-check.ts";

/**
 * What of an output does not fit the schema that its workflow declares; paths begin with `output`
 * (MCP-10). Nothing where too many others wait for a slow schema: the output is told all the same.
 */
export async function outputIssues(
  schema: InputSchema,
  output: Json,
): Promise<readonly InputIssue[]> {
  try {
    await checkInput(schema, encode(output, "output"), "output");
    return [];
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.code === "unavailable") return [];
    return (error.details?.["issues"] ?? []) as readonly InputIssue[];
  }
}
