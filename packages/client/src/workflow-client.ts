import { EngineError, NAME_RULE, parseWorkflowName } from "@engine/contract";
import {
  createExecutionHandle,
  type ExecutionHandle,
  type ResultOptions,
  type WorkflowParts,
} from "./execution-handle.ts";
import type { Plain } from "./plain.ts";
import { startOnce } from "./start-once.ts";
import { type StartOptions, startRequest } from "./start-request.ts";
import type { ExecutionReference } from "./workflow-errors.ts";
import type { InputOf, OutputOf, WorkflowShape } from "./workflow-shape.ts";

/** How an execution is started and its result waited for. */
export interface RunOptions extends StartOptions, ResultOptions {}

/** Runs one workflow, with the types of its input and output (EXE-90). */
export interface WorkflowClient<W extends WorkflowShape> {
  /** `<namespace>/<name>`. */
  readonly qualifiedName: string;
  /**
   * Runs it and gives its output. The execution is started first and waited for then, so that a
   * broken connection loses the wait at most, which begins anew by itself.
   *
   * The input arrives as the plain JSON that HTTP carries: what the workflow is to get as a Date it
   * makes of the text itself, in its `input` schema for example. The output is a {@link Plain} one.
   *
   * @throws WorkflowFailedError, WorkflowPausedError and what else {@link ExecutionHandle.result}
   *   throws; EngineError when it could not be started.
   */
  run(...args: InputThen<InputOf<W>, RunOptions>): Promise<Plain<OutputOf<W>>>;
  /**
   * Starts it and resolves as soon as the execution is recorded, with a handle on it.
   *
   * @throws EngineError when it was refused, `idempotency_mismatch` when its key belongs to a start
   *   with another input or version; `unavailable` when no answer came, and it may have started or
   *   not. With an `idempotencyKey` that is only after several tries.
   */
  start(...args: InputThen<InputOf<W>, StartOptions>): Promise<ExecutionHandle<Plain<OutputOf<W>>>>;
  /** A handle on an execution that exists already. Nothing is sent. */
  get(executionId: string): ExecutionHandle<Plain<OutputOf<W>>>;
}

/** An input that may be undefined may be left out. */
type InputThen<Input, Options> = undefined extends Input
  ? [input?: Input, options?: Options]
  : [input: Input, options?: Options];

export function createWorkflowClient<W extends WorkflowShape>(
  reference: string,
  shared: Omit<WorkflowParts, "namespace" | "name">,
): WorkflowClient<W> {
  type Handle = ExecutionHandle<Plain<OutputOf<W>>>;
  const parts: WorkflowParts = { ...shared, ...namesOf(reference) };
  const { namespace, name, executions, timing } = parts;
  const qualifiedName = `${namespace}/${name}`;

  async function start(input?: unknown, options: StartOptions = {}): Promise<Handle> {
    const request = startRequest({ namespace, name }, input, options);
    const { idempotencyKey, signal } = options;
    const { body } = await startOnce(
      (either) => executions.run(request, either && { signal: either }),
      { workflow: qualifiedName, idempotencyKey, signal, timing },
    );
    return createExecutionHandle(body.execution_id, parts);
  }

  return {
    qualifiedName,
    start,
    async run(input?: unknown, options: RunOptions = {}) {
      const handle = await start(input, options);
      return handle.result(options).catch((error: unknown) => {
        throw waitError(error, handle);
      });
    },
    get: (executionId) => createExecutionHandle(executionId, parts),
  };
}

function namesOf(reference: string): { namespace: string; name: string } {
  const names = parseWorkflowName(reference);
  if (names) return names;
  const message = `${JSON.stringify(reference)} names no workflow; expected "name" or "namespace/name", each ${NAME_RULE}`;
  throw new EngineError("bad_request", message);
}

/** A refusal of the wait says nothing of the execution, which the caller has no other trace of. */
function waitError(error: unknown, { workflow, executionId }: ExecutionReference): unknown {
  if (!(error instanceof EngineError)) return error;
  const message = `${error.message}; ${workflow} was started as execution ${executionId}, its result could not be awaited`;
  const details = { ...error.details, execution_id: executionId };
  return new EngineError(error.code, message, { details, cause: error });
}
