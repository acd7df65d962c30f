/** What stands beside the figures of a contestant: without it they say nothing. */
export interface About {
  readonly version: string;
  /** Which processes there are, and where user code runs. */
  readonly shape: string;
  readonly store: string;
  readonly durability: string;
}

export interface Load {
  /** Of each workflow. */
  readonly tasks: number;
  readonly concurrency: number;
  /** That many, or as many as fit. */
  readonly until: { readonly runs: number } | { readonly milliseconds: number };
}

export interface Loaded {
  /** Of each workflow, from asking for it to its result, in milliseconds. */
  readonly times: readonly number[];
  /** Milliseconds. */
  readonly elapsed: number;
}

/** Something that takes work without running it at once. */
export interface Queue {
  /** Resolves once the work is durable, with its id. */
  enqueue(): Promise<string>;
  /**
   * When the body of each began to run, by the clock that all processes of the machine share. Those of
   * which nothing is known yet are left out.
   */
  startedAt(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** A system under the same load as the others, as its documentation would have it in production. */
export interface RunningContestant {
  readonly about: About;
  /** Runs workflows and checks each result; absent where there are no workflows. */
  readonly load?: (load: Load) => Promise<Loaded>;
  readonly queue?: Queue;
  /** How much work has completed by the system's own books. */
  completed(): Promise<number>;
  stop(): Promise<void>;
}

export interface Contestant {
  /** Key of its figures. */
  readonly key: string;
  readonly label: string;
  /** Each time new: nothing of an earlier run is left. */
  start(): Promise<RunningContestant>;
}
