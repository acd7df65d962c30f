/**
 * Keeps `concurrency` calls going until the time is up, lets those under way finish, and says how
 * long that took in milliseconds. The first rejection ends the submission and is thrown.
 */
export async function submitFor(
  milliseconds: number,
  concurrency: number,
  call: () => Promise<void>,
): Promise<number> {
  const start = performance.now();
  let failed = false;
  const submitter = async () => {
    while (!failed && performance.now() - start < milliseconds) {
      try {
        await call();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, submitter));
  const failure = ends.find((end) => end.status === "rejected");
  if (failure) throw failure.reason;
  return performance.now() - start;
}
