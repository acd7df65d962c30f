/** What has to be undone, in reverse, once something ends or does not even start. */
export type Cleanup = (() => Promise<void>)[];

export async function stopOnFailure<T>(start: (cleanup: Cleanup) => Promise<T>): Promise<T> {
  const cleanup: Cleanup = [];
  try {
    return await start(cleanup);
  } catch (error) {
    await stopAll(cleanup);
    throw error;
  }
}

export async function stopAll(cleanup: Cleanup): Promise<void> {
  for (const step of cleanup.splice(0).reverse()) await step();
}
