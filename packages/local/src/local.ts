import { randomUUID } from "node:crypto";
import {
  createUuidV7,
  EngineError,
  type Event,
  type ExecutionLimits,
  type ExecutionRow,
  notFound,
} from "@engine/contract";
import type { AnyWorkflow, LocalRunOptions, RunResult } from "@engine/sdk";
import { type Host, nodeHost, runResult, startExecution } from "@engine/sdk/node";
import type { Store } from "@engine/store";
import { type Continuation, decideContinue, encodeInput, LOCAL_WORKER } from "./begin.ts";
import { checkpointPort } from "./checkpoint-port.ts";

/** An engine inside the caller's process: no server, no worker, no slots (EXE-12). */
export interface Local {
  run(workflow: AnyWorkflow, input?: unknown, options?: LocalRunOptions): Promise<RunResult>;
  close(): Promise<void>;
}

export interface LocalParts {
  readonly store: Store;
  readonly limits: ExecutionLimits;
  readonly host?: Host;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  readonly newId?: () => string;
}

/** Opens a local engine on a store, which it closes with itself. */
export function openLocal(parts: LocalParts): Local {
  const { store, limits, host = nodeHost(), clock = Date.now } = parts;
  const newId = parts.newId ?? createUuidV7(clock, randomUUID);
  const session = newId();

  return {
    async run(workflow, input, options = {}) {
      const row =
        options.executionId === undefined
          ? await start(workflow, input)
          : await proceed(options.executionId, {
              workflow,
              input,
              pause: options.pause,
              claimant: claimant(),
            });
      // Only an execution that had ended is left without this process as its owner.
      if (row.session === null) return resultOf(row.execution_id);
      options.onStarted?.(row.execution_id);
      await follow(workflow, row);
      return resultOf(row.execution_id);
    },
    close: () => store.close(),
  };

  function claimant() {
    return { worker: LOCAL_WORKER, session, now: clock() };
  }

  async function start(workflow: AnyWorkflow, input: unknown): Promise<ExecutionRow> {
    const fresh = {
      execution_id: newId(),
      namespace: workflow.namespace,
      workflow: workflow.name,
      version: null,
      module_hash: null,
      input: encodeInput(input),
      trigger: { kind: "local" as const },
      by: null,
      now: clock(),
    };
    return (await store.createExecution(fresh, claimant())).row;
  }

  async function proceed(execution_id: string, how: Continuation): Promise<ExecutionRow> {
    const { row } = await store.changeExecution(execution_id, (row) => decideContinue(row, how));
    return row;
  }

  /** Runs the copy until it has ended here. */
  async function follow(workflow: AnyWorkflow, row: ExecutionRow): Promise<void> {
    const { execution_id, namespace, version, name, input, generation } = row;
    const port = checkpointPort(store, { execution_id, generation, session }, clock);
    const execution = startExecution(workflow, {
      info: { execution_id, namespace, workflow: row.workflow, version, name, input },
      history: (await logOf(execution_id)).slice(0, row.head),
      limits,
      listen: false,
      port,
      host,
    });
    const ended = await execution.ended;
    if (ended !== "stopped") return;
    const why = port.refusal;
    if (why instanceof EngineError) throw fenced(row, why);
    throw new Error(`the run of execution ${execution_id} was stopped`, { cause: why });
  }

  async function logOf(execution_id: string): Promise<Event[]> {
    return (await store.readLog(execution_id)).map(({ event }) => event);
  }

  async function resultOf(execution_id: string): Promise<RunResult> {
    const row = await store.findExecution(execution_id);
    if (!row) throw notFound("execution", execution_id);
    return runResult(row, await logOf(execution_id));
  }
}

/** What the older of two holders is told: its execution goes on elsewhere (EXE-14). */
function fenced({ execution_id, generation }: ExecutionRow, refusal: EngineError): EngineError {
  if (refusal.code !== "stale_claim") return refusal;
  return new EngineError(
    "stale_claim",
    `execution ${execution_id} was continued by another run meanwhile (this one held generation ${generation}); its result is there`,
    { cause: refusal, ...(refusal.details && { details: refusal.details }) },
  );
}
