import type { Host } from "./port.ts";

/** Waits for `work`, but no longer than `ms`: what it gives, undefined when it is late. */
export async function within<T>(
  host: Host,
  ms: number,
  work: Promise<T> | undefined,
): Promise<T | undefined> {
  if (!work) return undefined;
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const cancelTimer = host.setTimer(() => resolve(undefined), ms);
  const first = await Promise.race([work, late]);
  cancelTimer();
  return first;
}
