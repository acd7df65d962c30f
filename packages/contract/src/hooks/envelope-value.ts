import { referenceOf, storageOf } from "../values/stored-reference.ts";
import { type Encoded, toPlain } from "../values/value.ts";
import { type Omitted, omitted } from "./envelope.ts";
import { beginning, jsonBytes } from "./json-size.ts";

/**
 * Masks secrets: JSON text in, JSON text out. It throws where it cannot know all of them (HOOK-16).
 */
export type RedactJson = (json: string) => string;

/** How the values of envelopes are shown. */
export interface EnvelopeOptions {
  readonly redact: RedactJson;
  /** Most bytes that the redacted JSON text of a value may have. */
  readonly max_value_bytes: number;
}

/** Characters of a value that is too large which its marker shows. */
const PREVIEW = 1_024;

/**
 * The value of an event as JSON text, redacted; or the marker that says why it is left out (HOOK-20).
 * Never throws.
 *
 * @param encoded As the log holds it. Of a sensitive task that is a marker already.
 */
export function envelopeValue(encoded: Encoded, options: EnvelopeOptions): string {
  const shown = valueText(encoded);
  return typeof shown === "string" ? redacted(shown, options) : marker(shown);
}

function valueText(encoded: Encoded): string | Omitted {
  try {
    const reference = referenceOf(encoded);
    if (reference && storageOf(reference) !== "inline") {
      const bytes = reference.metadata["bytes"];
      const isSize = typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes >= 0;
      return { reason: "stored_externally", ...(isSize && { bytes }) };
    }
    const plain = toPlain(reference ? (reference.metadata["value"] ?? null) : encoded);
    // Undefined for what no log holds, whatever the types say.
    return (JSON.stringify(plain) as string | undefined) ?? { reason: "not_encodable" };
  } catch {
    return { reason: "not_encodable" };
  }
}

function redacted(json: string, { redact, max_value_bytes: limit }: EnvelopeOptions): string {
  try {
    const text = redact(json);
    const bytes = jsonBytes(text);
    if (bytes <= limit) return text;
    return marker({ reason: "too_large", bytes, limit, preview: beginning(text, PREVIEW) });
  } catch {
    return marker({ reason: "redaction_failed" });
  }
}

function marker(why: Omitted): string {
  return JSON.stringify(omitted(why));
}
