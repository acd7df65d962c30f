import { type Encoded, EngineError, type ExecutionRow, referenceOf } from "@engine/contract";
import type { ValueStore } from "@engine/store";
import { storedValue } from "./stored-value.ts";

/**
 * The row with its real input and output: what records and raw answers show (EXE-49). The envelope
 * stays where the value lies in a storage of the workflow's own, or is gone: a record can be read
 * whatever became of its values, and reading the value by itself says what the trouble is.
 *
 * @throws EngineError `unavailable` when the storage does not answer.
 */
export async function resolveOutput(row: ExecutionRow, values: ValueStore): Promise<ExecutionRow> {
  if (!referenceOf(row.input) && !referenceOf(row.output)) return row;
  const [input, output] = await Promise.all([
    realValue(row.input, values),
    realValue(row.output, values),
  ]);
  return { ...row, input, output };
}

async function realValue(encoded: Encoded, values: ValueStore): Promise<Encoded> {
  const reference = referenceOf(encoded);
  if (!reference) return encoded;
  try {
    const value = await storedValue(reference, values);
    return value === undefined ? encoded : value;
  } catch (error) {
    if (error instanceof EngineError && error.code === "not_found") return encoded;
    throw error;
  }
}
