/**
 * A UUIDv7: ids sort by the instant they were made at, as lists and indexes want them.
 *
 * @param now Milliseconds since 1970.
 * @param random 10 bytes, fresh for every id.
 */
export function uuidV7(now: number, random: Uint8Array): string {
  const byte = (i: number) => random[i] ?? 0;
  const time = Math.floor(now).toString(16).padStart(12, "0");
  const bytes = Array.from({ length: 10 }, (_, i) => byte(i));
  bytes[0] = 0x70 | (byte(0) & 0x0f);
  bytes[2] = 0x80 | (byte(2) & 0x3f);
  const rest = bytes.map((value) => value.toString(16).padStart(2, "0")).join("");
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`;
}
