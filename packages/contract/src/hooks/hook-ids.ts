/**
 * Ids that are derived and never drawn: the same event yields the same delivery, and the same delivery
 * the same execution, however often and wherever it is decided (HOOK-3, HOOK-30).
 */

/** SHA-256 of a text in UTF-8, as 64 small hexadecimal digits. */
export type Sha256 = (text: string) => string;

/** The key of an event: what targets of hooks are idempotent by. */
export function eventKey(execution_id: string, seq: number): string {
  return `${execution_id}:${seq}`;
}

/**
 * The id of the delivery of an event to a hook: a UUIDv7 of the instant when the event was committed.
 *
 * @param of `recorded_at` in milliseconds since 1970.
 */
export function deliveryId(
  of: { readonly hook_id: string; readonly event_key: string; readonly recorded_at: number },
  sha256: Sha256,
): string {
  const time = Math.floor(of.recorded_at).toString(16).padStart(12, "0");
  // A hook's id has no colon: no two pairs are one text.
  return uuidV7(time, sha256(`${of.hook_id}:${of.event_key}`));
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text could be the id of a delivery. Any other is long, or unfit for a column, as it likes. */
export function isDeliveryId(text: string): boolean {
  return UUID.test(text);
}

/** The id of the execution that a delivery starts: a UUIDv7 of the same instant. */
export function hookExecutionId(delivery_id: string, sha256: Sha256): string {
  const time = delivery_id.replaceAll("-", "").slice(0, 12);
  return uuidV7(time, sha256(`hook-execution:${delivery_id}`));
}

/** @param time The first 48 bits in hexadecimal. */
function uuidV7(time: string, digest: string): string {
  // Two bits of the fourth group say how the rest is to be read (RFC 9562).
  const variant = ((Number.parseInt(digest.charAt(3), 16) & 3) | 8).toString(16);
  const free = `7${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
  return `${time.slice(0, 8)}-${time.slice(8)}-${free}`;
}
