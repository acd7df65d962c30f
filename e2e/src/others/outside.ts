import type { State, Wait } from "@engine/contract";

/** What whoever started a program can do and see, while it runs. */
export interface Outside {
  /** Of the execution that was started. */
  readonly id: string;
  /** Resolves with the status of the answer; the payload is JSON. */
  signal(name: string, payload?: unknown): Promise<number>;
  /** Answers a pause, the only open one unless it is named; resolves with the status. */
  resume(input?: unknown, pause?: string): Promise<number>;
  cancel(reason?: string): Promise<number>;
  /** Any request; gives status and body. */
  ask(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<Answered>;
  /** Starts one more under headers of its own; gives its id. It is judged like the first. */
  start(workflow: string, input: unknown, options?: StartOptions): Promise<string>;
  /** An execution that came to be in another way, such as a fork, is judged like the first. */
  adopt(id: string): void;
  /** The open wait of that kind, and of that name where one is given, once it is there. */
  untilWaits(kind: Wait["kind"], name?: string): Promise<Wait>;
  /** A task has noted this. */
  untilDid(note: string): Promise<void>;
  /** The log, or that of a child, has the start of so many calls of that task. */
  untilBegun(task: string, count?: number): Promise<void>;
  /** That holds, which is asked again and again. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  /** The state of the first execution is that. */
  untilState(state: State): Promise<void>;
  /** That execution has ended, by default the first; gives its output. */
  untilEnded(id?: string): Promise<unknown>;
  /** Real time; never before the instant. */
  untilInstant(at: number): Promise<void>;
  /** Frames of its stream, from the state of the moment to the last; `begun` is called at the first. */
  follow(begun: () => unknown): Promise<readonly Frame[]>;
  /** Ids of the children, in the order in which they were created. */
  children(): Promise<readonly string[]>;
}

export interface Frame {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface StartOptions {
  readonly key?: string;
  readonly version?: number;
}

export interface Answered {
  readonly status: number;
  readonly body: unknown;
}
