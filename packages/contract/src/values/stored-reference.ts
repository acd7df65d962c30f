import * as z from "zod";
import { AnyJson } from "./any-json.ts";
import { type Encoded, hasOnly, STORED } from "./value.ts";

/** Where a value lies that is not in the log itself (EXE-49). */
export const StoredReference = z.object({
  /** `file` or `s3`: the engine's own storage; `inline`: in the log; else a custom storage's name. */
  storage_type: z.string(),
  /** Of the engine's own: `<execution_id>/<sha256 of the stored text>`. */
  reference_id: z.string(),
  metadata: z.record(z.string(), AnyJson),
});
export type StoredReference = z.infer<typeof StoredReference>;

/** Where the engine itself can keep values; the `storage_type` of what lies there. */
export const VALUE_STORES = ["file", "s3"] as const;

/**
 * Who keeps the value: for `inline` the reference itself, in `metadata.value`; for `engine` the
 * engine's storage; for `custom` a storage that the workflow brings along.
 */
export function storageOf({
  storage_type,
}: Pick<StoredReference, "storage_type">): "inline" | "engine" | "custom" {
  if (storage_type === "inline") return "inline";
  return (VALUE_STORES as readonly string[]).includes(storage_type) ? "engine" : "custom";
}

/** The place that a value of the log has been taken to; undefined when the log holds the value. */
export function referenceOf(encoded: Encoded): StoredReference | undefined {
  return hasOnly(encoded, STORED) ? (encoded[STORED] as unknown as StoredReference) : undefined;
}

/** The envelope that stands in the log for a value kept elsewhere, as text. */
export function envelopeText(reference: StoredReference): string {
  return `{"${STORED}":${JSON.stringify(reference)}}`;
}
