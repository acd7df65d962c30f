/** A worker's clock that is off by more than this is told of. */
const CLOCK_TOLERANCE_MS = 1_000;

/** Whether a worker's clock is too far from the server's to go unmentioned. */
export function isClockOff(offset_ms: number | null): boolean {
  return offset_ms !== null && Math.abs(offset_ms) > CLOCK_TOLERANCE_MS;
}

/**
 * What is new about a worker's clock, so that each change is told once: it is off, or off by something
 * else than was told, or it is right again. Undefined: nothing.
 *
 * @param told_ms The offset that was told last; 0 when the clock was right then.
 */
export function clockNews(told_ms: number, offset_ms: number): "off" | "right" | undefined {
  if (!isClockOff(offset_ms)) return told_ms === 0 ? undefined : "right";
  return Math.abs(offset_ms - told_ms) > CLOCK_TOLERANCE_MS ? "off" : undefined;
}
