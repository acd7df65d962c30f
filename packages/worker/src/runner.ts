import type { FromRunner, ToRunner } from "./messages.ts";

/** A place where bodies run: a thread, or (inline) the main thread itself. */
export interface Runner {
  /** Copies on it: the least loaded one takes the next. */
  load: number;
  /** Hashes of the bundles it has been given. */
  readonly loaded: Set<string>;
  post(messages: readonly ToRunner[]): void;
  /** Ends it at once, whatever it is doing. */
  close(): Promise<void>;
}

export interface RunnerEvents {
  message(runner: Runner, message: FromRunner): void;
  /** It ended without being asked to, and everything it ran with it. */
  died(runner: Runner, why: string): void;
}
