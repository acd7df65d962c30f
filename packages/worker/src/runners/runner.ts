import type { FromRunner, ToRunner } from "./messages.ts";

/** A place where bodies run: a thread, a child process, or (inline) the main thread itself. */
export interface Runner {
  /** Many executions at a time run on it, and those that wait may stay in its memory. */
  readonly isShared: boolean;
  /** Copies on it: the least loaded one takes the next. */
  load: number;
  /** Its program is loaded: what happens to it from now on is the doing of user code. */
  isReady: boolean;
  /** Hashes of the bundles that the runner has been given. */
  readonly loaded: Set<string>;
  /** Number of the copy whose code it entered last, known also while it is blocked; 0 = none. */
  readonly entered: number;
  /** Number of the copy whose code has certainly ended the runner; 0 = not known. */
  readonly culprit: number;
  post(messages: readonly ToRunner[]): void;
  /** Ends the runner, whatever its code is doing. */
  close(): Promise<void>;
}

export interface RunnerEvents {
  /** What its program has said in one turn, in order. */
  said(runner: Runner, messages: readonly FromRunner[]): void;
  /** The runner ended without being asked to, and everything it ran with it. */
  died(runner: Runner, why: string): void;
}
