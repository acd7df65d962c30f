import type { Host } from "./port.ts";

/** Waits for `work`, but no longer than `ms`. */
export async function within(
  host: Host,
  ms: number,
  work: Promise<unknown> | undefined,
): Promise<void> {
  if (!work) return;
  let cancelTimer = () => {};
  const late = new Promise<void>((resolve) => {
    cancelTimer = host.setTimer(resolve, ms);
  });
  await Promise.race([work, late]);
  cancelTimer();
}
