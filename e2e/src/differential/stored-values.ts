import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Encoded, referenceOf } from "@engine/contract";

/** The text of a value that the engine keeps outside of its logs. @param folder Where it keeps them. */
export function loadStored(folder: string, reference_id: string): Promise<string> {
  return readFile(join(folder, reference_id), "utf8");
}

/** A value of a log, wherever it is kept. */
export async function wholeValue(folder: string, value: Encoded): Promise<Encoded> {
  const reference = referenceOf(value);
  if (reference?.storage_type !== "file") return value;
  return JSON.parse(await loadStored(folder, reference.reference_id)) as Encoded;
}
