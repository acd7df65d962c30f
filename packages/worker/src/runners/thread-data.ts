/** What the program of a runner is started with. */
export interface RunnerSetup {
  /** Address of the folder of the bundles, with a slash at its end. */
  readonly folder: string;
  /** Its largest heap, in MiB. */
  readonly memoryMb: number;
}

/** The same for a thread. */
export interface ThreadData extends RunnerSetup {
  /** Shared, so that they can be read while the thread is blocked and once it has ended. */
  readonly marks: Int32Array;
}

/** Places in the marks: the copy whose code was entered last, and the copy that ended the thread. */
export const ENTERED = 0;
export const CULPRIT = 1;
export const MARKS = 2;
