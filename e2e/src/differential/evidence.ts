/** What a program leaves for those who judge it. The harness writes it, judges only read. */
import type { Encoded, History } from "@engine/contract";
import type { Told } from "@engine/simulation/program";
import type { ProgramPlan } from "./program-plan.ts";

/** All that came of one program. Times are milliseconds since 1970, by the one clock of the machine. */
export interface Evidence {
  readonly plan: Pick<ProgramPlan, "n" | "input">;
  readonly executions: readonly ExecutionSeen[];
  /** Functions that were entered, in the order in which they were, whatever execution they were of. */
  readonly entries: readonly Entry[];
  /** Ends of workers, as they were seen: each somewhat later than it was. */
  readonly deaths: readonly Death[];
  readonly cancels: readonly Cancel[];
  readonly looks: readonly Look[];
  /** Why it was given up before all of it had ended; null: it ended. */
  readonly stuck: string | null;
}

/** One execution: that of the program, of a child of it, or of a fork. */
export interface ExecutionSeen {
  readonly execution_id: string;
  readonly history: History;
  /** Its input, and what its last event holds, wherever they are kept. */
  readonly input: Encoded;
  readonly end: Encoded;
  readonly replay: ReplaySeen;
}

/** What its log says when the code of its file is replayed on it in another process. */
export interface ReplaySeen {
  readonly result: "ok" | "diverged" | "unverifiable" | "crashed";
  /** Why it is not `ok`. */
  readonly reason: string;
  /** What the body told tasks, by the paths of the calls. */
  readonly told: Readonly<Record<string, Told>>;
}

/** A function of a task that was entered. */
export interface Entry {
  readonly execution_id: string;
  readonly task_call_id: string;
  readonly part: "run" | "rollback" | "fallback";
  readonly task: string;
  readonly path: string;
  readonly attempt: number;
  readonly told: Told | null;
  /** Digest of its input. */
  readonly input: string;
  readonly pid: number;
  readonly at: number;
  /** Null: it was not seen to end. */
  readonly exit: Exit | null;
}

export interface Exit {
  readonly at: number;
  readonly how: "returned" | "threw";
  /** Digest of what it returned. */
  readonly digest: string;
}

export interface Death {
  readonly pid: number;
  readonly at: number;
}

/** A cancel that was acknowledged. */
export interface Cancel {
  readonly execution_id: string;
  readonly at: number;
}

/** How an execution stood after nothing had happened to it for a while. */
export interface Look {
  readonly execution_id: string;
  readonly at: number;
  readonly state: string;
  readonly waiting: readonly string[];
}

/** Something that may not be. */
export interface Violation {
  readonly judge: string;
  readonly execution_id: string;
  readonly message: string;
}
