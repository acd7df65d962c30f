/**
 * Makes UUIDv7s that sort by creation: ids of one millisecond, or of a clock that steps
 * back, count up (RFC 9562, section 6.2, method 1).
 *
 * @param clock Milliseconds since 1970.
 * @param randomUuid A random UUID of version 4, whose last two groups become the new id's.
 */
export function createUuidV7(clock: () => number, randomUuid: () => string): () => string {
  let last = 0;
  let count = 0;
  return () => {
    const now = Math.floor(clock());
    if (now > last) [last, count] = [now, 0];
    else if (++count > 0xfff) [last, count] = [last + 1, 0];
    const time = last.toString(16).padStart(12, "0");
    const order = count.toString(16).padStart(3, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${order}${randomUuid().slice(18)}`;
  };
}
