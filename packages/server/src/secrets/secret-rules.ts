/** What a value has to be to be kept (SEC-4, SEC-5). */
import {
  EngineError,
  invalidInput,
  type Json,
  MAX_SECRET_BYTES,
  SecretName,
} from "@engine/contract";
import { maskedValuesOf } from "@engine/redaction";

/** @throws EngineError `invalid_input`. */
export function refuseOtherNames(name: string): void {
  const { error } = SecretName.safeParse(name);
  if (error) throw invalidInput(error, "params.name");
}

/** The value as it is kept. @throws EngineError `payload_too_large`. */
export function keptText(value: Json): string {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_SECRET_BYTES) return text;
  const message = `the value takes ${bytes} bytes, more than the ${MAX_SECRET_BYTES} allowed`;
  throw new EngineError("payload_too_large", message, {
    details: { limit_bytes: MAX_SECRET_BYTES },
  });
}

/**
 * How many of its values are masked.
 *
 * @throws EngineError `secret_too_short` for a value that nothing can be masked of.
 */
export function maskedCount(value: Json, { unmasked }: { readonly unmasked: boolean }): number {
  if (unmasked) return 0;
  const { length } = maskedValuesOf(value);
  if (length > 0) return length;
  throw new EngineError(
    "secret_too_short",
    "the value has no text of 8 characters and no number of 8 digits, so nothing of it could be masked where it turns up: choose a longer one, or send unmasked: true to keep it all the same",
  );
}
