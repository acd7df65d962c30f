/**
 * Runs code of workflows in this process as a worker would: a promise of theirs that is rejected while
 * nobody awaits it ends nothing. It may be awaited later, and if not, the execution goes on without it.
 *
 * @param tell Hears of each, as a text.
 */
export async function withUnawaitedRejections<T>(
  tell: (reason: string) => void,
  run: () => Promise<T>,
): Promise<T> {
  const listener = (reason: unknown) =>
    tell(reason instanceof Error ? reason.message : `${reason}`);
  // Without a listener Node prints a line of its own for a promise that is awaited after all.
  const handled = () => {};
  process.on("unhandledRejection", listener).on("rejectionHandled", handled);
  try {
    return await run();
  } finally {
    process.off("unhandledRejection", listener).off("rejectionHandled", handled);
  }
}
