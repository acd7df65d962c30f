/** What code of a program says to whoever watches it; it finds the port under a global symbol. */
import type { ValueSeen } from "../evidence.ts";
import type { Told } from "./program.ts";

export interface BodyCall {
  readonly part: "run" | "rollback" | "fallback";
  readonly execution_id: string;
  readonly task_call_id: string;
  readonly task: string;
  readonly path: string;
  readonly attempt: number;
  readonly version: number;
  /** What the body knew when it made the call; null where a function of a task made it. */
  readonly told: Told | null;
  /** Digest of its input: the same for every function that runs for a call. */
  readonly input: string;
}

/** A function of a task that runs. */
export interface RunningBody {
  /** Virtual time passes; rejects when the signal aborts. Never settles once its process is dead. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
  returned(value: unknown): void;
  threw(error: unknown): void;
}

export interface Sight {
  readonly execution_id: string;
  readonly path: string;
  readonly kind: ValueSeen["kind"];
  readonly value: unknown;
}

/** What a body is about to tell a task, which need not begin: it may be recorded already. */
export interface Telling {
  readonly execution_id: string;
  readonly path: string;
  readonly told: Told;
}

export interface ProgramPort {
  enter(call: BodyCall): RunningBody;
  saw(sight: Sight): void;
  tells?(telling: Telling): void;
  /** Virtual time passes for code that is no function of a task. Without it none does. */
  idle?(ms: number): Promise<void>;
}

/** Key of the global that holds the port; the interpreter has the same text in its source. */
const PORT: unique symbol = Symbol.for("engine.simulation.program-port") as never;

/** Every copy of the interpreter reports here from now on. @returns Takes it away again. */
export function installProgramPort(port: ProgramPort): () => void {
  const globals = globalThis as { [PORT]?: ProgramPort | undefined };
  const before = globals[PORT];
  globals[PORT] = port;
  return () => {
    globals[PORT] = before;
  };
}
