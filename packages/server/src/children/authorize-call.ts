import type { ExecutionRow } from "@engine/contract";
import type { StoredVersion } from "@engine/store";

/** The execution that makes a call. Its worker is asked first to take the child. */
export type CallingExecution = Pick<
  ExecutionRow,
  | "execution_id"
  | "namespace"
  | "workflow"
  | "module_hash"
  | "depth"
  | "priority"
  | "worker"
  | "run_as"
  | "requirements"
  | "hook"
>;

/** Which permissions an execution lacks to start that version with `call` (EXE-57); none: it may. */
export type AuthorizeCall = (call: {
  readonly caller: CallingExecution;
  readonly target: StoredVersion;
}) => readonly string[] | Promise<readonly string[]>;
