import { encode, type Json, toPlain, UnencodableValue, unencodable } from "@engine/contract";

/**
 * A value as it can be sent: what JSON lacks in its plain form (EXE-48), so that nothing is dropped
 * without a word as `JSON.stringify` would do with a Map.
 *
 * @param root What the value is, for messages: `input`, `payload`.
 * @throws EngineError `invalid_input` naming the place of a part that has no plain form.
 */
export function plainValue(value: unknown, root: string): Json {
  try {
    return toPlain(encode(value, root));
  } catch (error) {
    throw error instanceof UnencodableValue ? unencodable(error) : error;
  }
}
