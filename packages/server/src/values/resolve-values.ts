import {
  type Encoded,
  EngineError,
  type ExecutionRow,
  type Json,
  patched,
  referenceOf,
  type StoredReference,
  storageOf,
} from "@engine/contract";
import { isWrappedText, JsonText } from "@engine/http/json";
import type { ValueStore } from "@engine/store";

/**
 * The row with its real input and output, as records show them (EXE-49). The envelope stays where the
 * value lies in a storage of the workflow's own, or is gone: a record can be read whatever became of its
 * values, and reading the value by itself says why it is not there.
 *
 * @throws EngineError `unavailable` when the storage does not answer.
 */
export async function resolveValues(row: ExecutionRow, values: ValueStore): Promise<ExecutionRow> {
  // The store parses an input when the field is looked at.
  const [input, output] = [row.input, row.output];
  if (!referenceOf(input) && !referenceOf(output)) return row;
  const [shownInput, shownOutput] = await Promise.all([
    shown(input, values, textOf),
    shown(output, values, storedValue),
  ]);
  return { ...patched(row, { output: shownOutput }), input: shownInput };
}

type Read = (reference: StoredReference, values: ValueStore) => Promise<Encoded | undefined>;

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

/**
 * The value that an envelope of the log stands for; undefined when it lies in a storage of the
 * workflow's own, which only its worker can read (EXE-49).
 */
export async function storedValue(
  reference: StoredReference,
  values: ValueStore,
): Promise<Encoded | undefined> {
  const { reference_id, metadata } = reference;
  const storage = storageOf(reference);
  if (storage === "inline") return metadata["value"] ?? null;
  if (storage === "custom") return undefined;
  return parsed(reference_id, await values.load(reference_id));
}

/** A worker may have saved any text. */
function parsed(reference_id: string, text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `no stored value ${reference_id}: what was saved under it is not JSON`;
    throw new EngineError("not_found", message, { details: { resource: "value" }, cause });
  }
}
