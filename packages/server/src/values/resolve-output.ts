import { EngineError, type ExecutionRow, patched, referenceOf } from "@engine/contract";
import type { ValueStore } from "@engine/store";
import { storedValue } from "./stored-value.ts";

/**
 * The row with its real output: what records and raw answers show (EXE-49). The envelope
 * stays where the value lies in a storage of the workflow's own, or is gone: a record can be read
 * whatever became of its values, and reading the value by itself says what the trouble is.
 *
 * @throws EngineError `unavailable` when the storage does not answer.
 */
export async function resolveOutput(row: ExecutionRow, values: ValueStore): Promise<ExecutionRow> {
  const reference = referenceOf(row.output);
  if (!reference) return row;
  try {
    const output = await storedValue(reference, values);
    return output === undefined ? row : patched(row, { output });
  } catch (error) {
    if (error instanceof EngineError && error.code === "not_found") return row;
    throw error;
  }
}
