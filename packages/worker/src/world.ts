/** What a worker needs of the world it runs in. Everything comes in, so that a test can turn it. */
export interface World {
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Milliseconds of the machine's clock that nobody sets, the same for its threads and processes. */
  readonly monotonic: () => number;
  readonly setTimer: SetTimer;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly log: Log;
  /** Aborts when the worker ends. */
  readonly life: AbortSignal;
}

export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Calls back once after that many milliseconds; the answer cancels. */
export type SetTimer = (run: () => void, ms: number) => () => void;

/** Waits, but no longer than until `signal` aborts. */
export function delay(setTimer: SetTimer, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = setTimer(finish, ms);
    signal.addEventListener("abort", finish);
  });
}

/** Waits for `work`, but at most `ms`. Whether it was in time. */
export async function within(
  setTimer: SetTimer,
  ms: number,
  work: Promise<unknown>,
): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const cancel = setTimer(() => late.resolve(false), ms);
  const inTime = await Promise.race([work.then(() => true as const), late.promise]);
  cancel();
  return inTime;
}
