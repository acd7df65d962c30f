import {
  type Encoded,
  EngineError,
  type ExecutionRow,
  type Json,
  patched,
  referenceOf,
  storageOf,
} from "@engine/contract";
import { isWrappedText, JsonText } from "@engine/http/json";
import type { ValueStore } from "@engine/store";
import { storedValue } from "./stored-value.ts";

/**
 * The row with its real input and output, as records show them (EXE-49). The envelope stays where the
 * value lies in a storage of the workflow's own, or is gone: a record can be read whatever became of its
 * values, and reading the value by itself says why it is not there.
 *
 * @throws EngineError `unavailable` when the storage does not answer.
 */
export async function resolveValues(row: ExecutionRow, values: ValueStore): Promise<ExecutionRow> {
  // The stored text of an input is parsed when the field is read, so it is read once.
  const [input, output] = [row.input, row.output];
  if (!referenceOf(input) && !referenceOf(output)) return row;
  const [shownInput, shownOutput] = await Promise.all([
    shown(input, values, textOf),
    shown(output, values, storedValue),
  ]);
  return { ...patched(row, { output: shownOutput }), input: shownInput };
}

type Read = (
  reference: NonNullable<ReturnType<typeof referenceOf>>,
  values: ValueStore,
) => Promise<Encoded | undefined>;

async function shown(encoded: Encoded, values: ValueStore, read: Read): Promise<Encoded> {
  const reference = referenceOf(encoded);
  if (!reference) return encoded;
  try {
    return (await read(reference, values)) ?? encoded;
  } catch (error) {
    if (error instanceof EngineError && error.code === "not_found") return encoded;
    throw error;
  }
}

/** A stored input goes into the answer as its text. */
const textOf: Read = async (reference, values): Promise<Json | undefined> => {
  if (storageOf(reference) !== "engine") return storedValue(reference, values);
  const text = await values.load(reference.reference_id);
  if (isWrappedText(text)) return JSON.parse(text);
  return JsonText.of(reference, text, (id) => values.load(id));
};
