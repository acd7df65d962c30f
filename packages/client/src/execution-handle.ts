import {
  type Duration,
  type ExecutionRecord,
  failureOf,
  isTerminal,
  type Json,
  type Output,
  type routes,
  type TerminalState,
} from "@engine/contract";
import { awaitRest } from "./await-rest.ts";
import type { FrameStream } from "./frame-stream.ts";
import { plainValue } from "./plain-value.ts";
import type { CallOptions, RouteCalls } from "./route-call.ts";
import type { Timing } from "./timing.ts";
import {
  type ExecutionReference,
  WorkflowCancelledError,
  WorkflowFailedError,
  WorkflowPausedError,
} from "./workflow-errors.ts";

/** How long, and through what, a result is waited for. */
export interface ResultOptions {
  /** Stops waiting; the execution goes on. */
  readonly signal?: AbortSignal;
  /** Stops waiting after that long, with ResultTimeoutError; no limit by default. */
  readonly timeout?: Duration;
  /** Waits on while the workflow is paused, for somebody else to answer. */
  readonly throughPauses?: boolean;
}

/** Which pause an answer is for. */
export interface ResumeOptions extends CallOptions {
  /** Name or `task_call_id` of the pause to answer; needed when several are open. */
  readonly pause?: string;
}

/** Why an execution is cancelled. */
export interface CancelOptions extends CallOptions {
  /** Kept in the log, for its readers. */
  readonly reason?: string;
}

/** What became of a signal: the number of its event in the log. */
export type SignalReceipt = Readonly<Output<typeof routes.executions.signal>>;

/**
 * One execution, wherever it runs and however it was started (EXE-90). It holds nothing but the id, so
 * there is nothing to close, and another process can go on with {@link WorkflowClient.get}.
 *
 * Every method throws EngineError for what the server refuses, such as `not_found`. Only `result`
 * tries again by itself; the others throw `unavailable` when the server cannot be reached.
 */
export interface ExecutionHandle<Output = Json> {
  readonly executionId: string;
  /** `<namespace>/<name>`. */
  readonly workflow: string;
  /**
   * Waits for the end and gives the output. A connection that breaks, a server that restarts or is
   * away for a while only make it later.
   *
   * @throws WorkflowFailedError, WorkflowCancelledError when the execution ended so;
   *   WorkflowPausedError when it waits for an answer, unless `throughPauses` is set;
   *   ResultTimeoutError after `timeout`; the signal's reason when `signal` aborts.
   */
  result(options?: ResultOptions): Promise<Output>;
  /** The record of the execution as it is now. */
  status(options?: CallOptions): Promise<ExecutionRecord>;
  /**
   * Answers an open pause: `input` is what the workflow's `pause` returns, null when left out.
   * Resolves once the answer is recorded; go on with {@link ExecutionHandle.result}.
   *
   * @throws EngineError `not_paused` when nothing waits for an answer, `ambiguous_pause` when
   *   several pauses are open and `pause` names none.
   */
  resume(input?: unknown, options?: ResumeOptions): Promise<ExecutionRecord>;
  /** Sends a signal. A signal that no call waits for yet is kept until one does. */
  signal(name: string, payload?: unknown, options?: CallOptions): Promise<SignalReceipt>;
  /**
   * Cancels the execution and its children. Resolves once the cancel is recorded; rollbacks may
   * still run, and {@link ExecutionHandle.result} rejects when they are done.
   */
  cancel(options?: CancelOptions): Promise<ExecutionRecord>;
  /** Gives the execution a label that lists show, in any state; null takes the label away. */
  rename(label: string | null, options?: CallOptions): Promise<ExecutionRecord>;
  /** Its states from now on, and progress in between, until it has ended. */
  stream(options?: CallOptions): Promise<FrameStream>;
}

/** What a workflow client and its handles share. */
export interface WorkflowParts {
  readonly namespace: string;
  readonly name: string;
  readonly executions: RouteCalls["executions"];
  readonly timing: Timing;
}

export function createExecutionHandle<Output>(
  executionId: string,
  parts: WorkflowParts,
): ExecutionHandle<Output> {
  const { executions, timing } = parts;
  const reference = { executionId, workflow: `${parts.namespace}/${parts.name}` };
  const id = { id: executionId };
  const ofWorkflow = { ns: parts.namespace, wf: parts.name, ...id };

  async function ask(seconds: number, signal: AbortSignal): Promise<ExecutionRecord> {
    const query = { mode: "sync", timeout: seconds } as const;
    return (await executions.get({ params: id, query }, { signal })).body;
  }

  return {
    ...reference,
    async result({ throughPauses, signal, timeout } = {}) {
      const rests = (record: ExecutionRecord): record is RestingRecord =>
        record.state === "PAUSED" ? !throughPauses : isTerminal(record.state);
      const record = await awaitRest(reference, ask, rests, { signal, timeout, timing });
      return outputOf(reference, record) as Output;
    },
    status: (options) => executions.status({ params: ofWorkflow }, options),
    async resume(input, { pause, ...options } = {}) {
      const { body } = await executions.resumeMode(
        {
          params: { ...ofWorkflow, mode: "async" },
          query: { pause },
          body: plainValue(input, "input"),
        },
        options,
      );
      return body;
    },
    signal: (name, payload, options) =>
      executions.signal({ params: { ...id, name }, body: plainValue(payload, "payload") }, options),
    async cancel({ reason, ...options } = {}) {
      const body = reason === undefined ? null : { reason };
      return (await executions.cancel({ params: ofWorkflow, body }, options)).body;
    },
    rename: (label, options) => executions.rename({ params: id, body: { name: label } }, options),
    stream: (options) => executions.get.stream({ params: id, query: { mode: "stream" } }, options),
  };
}

type RestState = "PAUSED" | TerminalState;
type RestingRecord = Extract<ExecutionRecord, { state: RestState }>;

/** The output of an execution that came to rest, or what it came to instead, thrown. */
function outputOf(reference: ExecutionReference, record: RestingRecord): Json {
  switch (record.state) {
    case "COMPLETED":
      return record.output;
    case "FAILED":
      throw new WorkflowFailedError(reference, failureOf(record.error));
    case "CANCELLED":
      throw new WorkflowCancelledError(reference, record.error.message);
    case "PAUSED":
      throw new WorkflowPausedError(reference, record.pause);
  }
}
