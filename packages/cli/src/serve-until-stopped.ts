import { Reported } from "./io/cli-error.ts";
import type { StopSignals } from "./io/cli-io.ts";

export interface Serving {
  readonly signals: StopSignals;
  /** Settles or rejects when what runs has ended by itself. */
  readonly ended: Promise<void>;
  /** Lets running work finish, then ends. */
  stop(): Promise<void>;
  /** Ends now. */
  abort(): Promise<void>;
}

/** Keeps a long-running command going: the first signal stops it in order, the second at once. */
export async function serveUntilStopped({ signals, ended, stop, abort }: Serving): Promise<void> {
  const asked = await Promise.race([signals.first.then(() => true), ended.then(() => false)]);
  if (!asked) return;
  const inOrder = await Promise.race([
    stop().then(() => true),
    // A command that is refused while it stops ends with the refusal, not in order.
    ended.then(() => true),
    signals.second.then(() => false),
  ]);
  if (inOrder) return;
  await abort();
  throw new Reported();
}
