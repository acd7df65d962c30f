import {
  type Append,
  type Claimant,
  decideClaim,
  decideResume,
  type Encoded,
  EngineError,
  type ExecutionRow,
  encode,
  isTerminal,
  notFound,
  takeOver,
  UnencodableValue,
} from "@engine/contract";
import type { Change } from "@engine/store";

/** Whom a local run says it is: `worker` of its WORKFLOW_CLAIMED (EXE-13). */
export const LOCAL_WORKER = "local";

export interface WorkflowName {
  readonly namespace: string;
  readonly name: string;
  readonly qualifiedName: string;
}

export interface Continuation {
  readonly workflow: WorkflowName;
  /** Undefined when the caller gave none. */
  readonly input: unknown;
  readonly pause: string | undefined;
  readonly claimant: Claimant;
}

/**
 * Decides how a local run goes on with an execution that exists (EXE-14): undefined for one that
 * has ended, else the events and columns that make this process its owner.
 */
export function decideContinue(
  row: ExecutionRow,
  { workflow, input, pause, claimant }: Continuation,
): Change | undefined {
  if (row.namespace !== workflow.namespace || row.workflow !== workflow.name) {
    throw notFound(
      "execution",
      `${row.execution_id} of workflow ${workflow.qualifiedName}; it belongs to ${row.namespace}/${row.workflow}`,
    );
  }
  if (row.version !== null) {
    throw new EngineError(
      "conflict",
      `execution ${row.execution_id} is run by a server (version ${row.version}) and cannot be continued locally; resume it there`,
      { details: { version: row.version } },
    );
  }
  if (isTerminal(row.state)) return undefined;
  if (row.state === "PAUSED") return resumeAndClaim(row, input, pause, claimant);
  if (input !== undefined) {
    throw new EngineError(
      "not_paused",
      `execution ${row.execution_id} is ${row.state} and takes no input; leave the input out to continue it`,
      { details: { state: row.state } },
    );
  }
  return takeOver(row, claimant);
}

/**
 * An input as the log keeps it. None is null, as an empty request body is.
 *
 * @throws EngineError `invalid_input` naming the path inside the input that has no stored form.
 */
export function encodeInput(input: unknown): Encoded {
  try {
    return encode(input === undefined ? null : input, "input");
  } catch (error) {
    if (!(error instanceof UnencodableValue)) throw error;
    const issues = [{ path: error.path, message: error.message }];
    throw new EngineError("invalid_input", error.message, { details: { issues } });
  }
}

/** Both steps in one commit, so that of two racing processes one resumes and the other is told. */
function resumeAndClaim(
  row: ExecutionRow,
  input: unknown,
  pause: string | undefined,
  claimant: Claimant,
): Change {
  const { now } = claimant;
  const resumed = decideResume(row, { input: encodeInput(input), pause, by: null, now });
  if (resumed instanceof EngineError) throw resumed;
  const claimed: Append | undefined = decideClaim({ ...row, ...resumed.patch }, claimant);
  if (!claimed)
    throw new Error(`a resumed local execution is ${resumed.patch.state}, not RESUMING`);
  return {
    events: [...resumed.events, ...claimed.events],
    patch: { ...resumed.patch, ...claimed.patch },
  };
}
