import type { Failure, OpenPause } from "@engine/contract";

/** Which execution an error is about. */
export interface ExecutionReference {
  readonly executionId: string;
  /** `<namespace>/<name>`. */
  readonly workflow: string;
}

/** The workflow ended in state FAILED. More waiting changes nothing: the state is final. */
export class WorkflowFailedError extends Error {
  override readonly name = "WorkflowFailedError";
  readonly executionId: string;
  readonly workflow: string;
  /** What failed, as the log has it: type, message, cause, attempts, the call it came from. */
  readonly failure: Failure;

  constructor({ executionId, workflow }: ExecutionReference, failure: Failure) {
    const call = failure.task_call_id === null ? "" : ` in ${failure.task_call_id}`;
    super(
      `${workflow} failed${call} with ${failure.type}: ${failure.message} (execution ${executionId}; "engine execution events ${executionId}" prints its log)`,
    );
    this.executionId = executionId;
    this.workflow = workflow;
    this.failure = failure;
  }
}

/** The workflow ended in state CANCELLED. */
export class WorkflowCancelledError extends Error {
  override readonly name = "WorkflowCancelledError";
  readonly executionId: string;
  readonly workflow: string;

  constructor({ executionId, workflow }: ExecutionReference, reason: string) {
    super(
      `${workflow} was cancelled: ${reason} (execution ${executionId}); start it anew if need be`,
    );
    this.executionId = executionId;
    this.workflow = workflow;
  }
}

/**
 * The workflow has not ended: it rests at a pause, for as long as it takes, and goes on from there
 * once somebody answers.
 *
 * @example
 * ```ts
 * try {
 *   return await claims.run(claim);
 * } catch (error) {
 *   if (!(error instanceof WorkflowPausedError)) throw error;
 *   const handle = claims.get(error.executionId);
 *   await handle.resume({ approved: await ask(error.pause.value) });
 *   return await handle.result();
 * }
 * ```
 */
export class WorkflowPausedError extends Error {
  override readonly name = "WorkflowPausedError";
  readonly executionId: string;
  readonly workflow: string;
  /** The first open pause: its name, its kind, and what it shows to those who may answer. */
  readonly pause: OpenPause;

  constructor({ executionId, workflow }: ExecutionReference, pause: OpenPause) {
    super(
      `${workflow} waits at its ${pause.kind === "approval" ? "approval" : "pause"} ${JSON.stringify(pause.name)} (execution ${executionId}); ${advice(executionId, workflow, pause)}, or wait for whoever does with { throughPauses: true }`,
    );
    this.executionId = executionId;
    this.workflow = workflow;
    this.pause = pause;
  }
}

function advice(executionId: string, workflow: string, { kind, name }: OpenPause): string {
  if (kind === "approval") return "it goes on when the approval is decided: decide it";
  const pause = JSON.stringify(name);
  return `answer it with client.workflow("${workflow}").get("${executionId}").resume(input, { pause: ${pause} })`;
}

/** The given `timeout` is over and the workflow has not ended. It goes on all the same. */
export class ResultTimeoutError extends Error {
  override readonly name = "ResultTimeoutError";
  readonly executionId: string;
  readonly workflow: string;

  /** @param cause Why the last question had no answer, when it had none. */
  constructor({ executionId, workflow }: ExecutionReference, timeoutMs: number, cause: unknown) {
    super(
      `${workflow} has not ended within ${timeoutMs} ms and goes on (execution ${executionId}); ask again with client.workflow("${workflow}").get("${executionId}").result()`,
      cause === undefined ? undefined : { cause },
    );
    this.executionId = executionId;
    this.workflow = workflow;
  }
}
