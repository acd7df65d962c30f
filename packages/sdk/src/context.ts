import type { Event, State } from "@engine/contract";

/** What a workflow's body gets beside its input (EXE-10): facts about its execution, read-only. */
export interface WorkflowContext<Input = unknown> {
  readonly executionId: string;
  /** The workflow's name. */
  readonly name: string;
  readonly namespace: string;
  /** Null in a local run. */
  readonly version: number | null;
  /**
   * The label that the execution was started with; a fork has that of its source. One that is given
   * later (`engine execution rename`) is for lists, and the body does not see it: equal in every pass.
   */
  readonly label: string | null;
  /** Of a child: the execution that called it. */
  readonly parentId: string | null;
  readonly input: Input;
  /** Null: inside the body there is none yet. */
  readonly output: null;
  readonly failure: null;
  /** Empty: a body that runs waits for nothing. */
  readonly waiting: readonly unknown[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly state: State;
  readonly finished: boolean;
  readonly succeeded: boolean;
  readonly failed: boolean;
  readonly paused: boolean;
  readonly cancelled: boolean;
  /** The log up to the newest outcome the body has received: equal on every replay. */
  readonly events: readonly Event[];
  /** The same in the words of the wire: snake_case. */
  toJSON(): Record<string, unknown>;
}
