import type { Failure, State } from "@engine/contract";
import type { Outside } from "./outside.ts";

/** Fields of a failure, of its causes too. */
export interface FailureFields extends Partial<Omit<Failure, "cause">> {
  readonly cause?: FailureFields | null;
}

/** How an execution of a program ended, and what its tasks noted. */
export interface End {
  readonly state: State;
  readonly output: unknown;
  /** What a caller is told of the failure; null unless it failed. */
  readonly failure: FailureFields | null;
  /** What the tasks of it and its children noted: each note of an attempt once, in order. */
  readonly did: readonly string[];
}

interface Facts {
  /** What a user sees, in one sentence. */
  readonly sees: string;
  /** Default: the program's own name. */
  readonly workflow?: string;
  readonly input?: unknown;
  /** What happens outside while it runs. */
  readonly drive?: (outside: Outside) => Promise<void>;
  /** Exactly this was noted, in this order. */
  readonly did?: readonly string[];
  /** Exactly this was noted, in whatever order. */
  readonly didInAnyOrder?: readonly string[];
  /** It is about instants, which say nothing when processes end around it: not killed, not drained. */
  readonly isCalm?: true;
  /** What it tells its first task is easily told in another way when the process ends just then. */
  readonly isTouchy?: true;
}

/** How it has to end. */
type Ending =
  | { readonly output: unknown }
  /** FAILED, with these fields among others. */
  | { readonly failure: FailureFields }
  | { readonly cancelled: true }
  /** Where more than one end is right. */
  | { readonly right: (end: End) => boolean };

/** A workflow that somebody elsewhere relies on, and what must come of it. */
export type Program = Facts & Ending;

/** By name, which is that of the workflow unless it says otherwise. */
export type Programs = Readonly<Record<string, Program>>;
