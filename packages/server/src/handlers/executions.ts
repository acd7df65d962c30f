import {
  DEFAULT_NAMESPACE,
  type ExecutionRecord,
  type ExecutionRow,
  type Json,
  type RunMode,
  type routes,
} from "@engine/contract";
import type { ExecutionFilter, LoggedEvent } from "@engine/store";
import type { Engine } from "../engine.ts";
import type { ResumeRequest, StartRequest } from "../executions/executions.ts";
import { toRecord, toRecordedEvent, toSummary } from "../executions/record.ts";
import { rowAsCreated } from "../executions/row-after.ts";
import type { Call, Handlers } from "../http/handlers.ts";
import { answer } from "../http/reply.ts";
import { runAnswer, runMode, runStream, waitMs } from "./run-answer.ts";

interface RunQuery {
  readonly detailed?: boolean | undefined;
  readonly timeout?: number | undefined;
}

/** @param syncTimeoutSeconds Longest wait of a sync call; 0 = none. */
export function executionHandlers(
  { executions }: Engine,
  syncTimeoutSeconds: number,
): Handlers<typeof routes.executions> {
  return {
    run: ({ params: { ns, wf, mode }, query, body }, call) =>
      run(mode, startRequest({ namespace: ns, workflow: wf }, query, body, call), query, call),
    runDefault: ({ params: { wf, mode }, query, body }, call) => {
      const workflow = { namespace: DEFAULT_NAMESPACE, workflow: wf };
      return run(mode, startRequest(workflow, query, body, call), query, call);
    },
    resume: ({ params, query, body }, call) =>
      resumeSync(resumeRequest(params, query, body, call), query, call),
    resumeMode: ({ params, query, body }, call) =>
      resume(runMode(params.mode), resumeRequest(params, query, body, call), query, call),
    status: async ({ params: { ns, wf, id }, query }) => {
      const row = await executions.get(id, { namespace: ns, name: wf });
      return answer(200, await recordOf(row, query.detailed));
    },
    listOfWorkflow: ({ params: { ns, wf }, query }) =>
      list({ ...query, namespace: ns, workflow: wf }),
    list: ({ query }) => list(query),
    get: async ({ params: { id }, query: { detailed, after, before, limit } }) => {
      const row = await executions.get(id);
      if (!detailed) return answer(200, toRecord(row));
      return answer(200, toRecord(row, await executions.log(id, { after, before, limit })));
    },
    events: async ({ params: { id }, query: { after = 0, limit } }) => {
      const { head } = await executions.get(id);
      const log = await executions.log(id, { after, limit });
      const items = log.map(toRecordedEvent);
      // Numbers are dense from 1: what lies before the page is what `after` says.
      return answer(200, { items, total: head, limit, offset: after });
    },
  };

  async function run(modeText: string, request: StartRequest, query: RunQuery, call: Call) {
    const mode: RunMode = runMode(modeText);
    const { detailed } = query;
    if (mode === "async")
      return answerWith(rowAsCreated(await executions.start(request)), detailed);
    if (mode === "stream") {
      return runStream(await executions.startAndFollow(request, followOptions(query, call)));
    }
    return answerWith(await executions.startAndWait(request, waitOptions(query, call)), detailed);
  }

  async function resume(mode: RunMode, request: ResumeRequest, query: RunQuery, call: Call) {
    if (mode === "async") return answerWith((await executions.resume(request)).row, query.detailed);
    if (mode === "sync") return resumeSync(request, query, call);
    return runStream(await executions.resumeAndFollow(request, followOptions(query, call)));
  }

  async function resumeSync(request: ResumeRequest, query: RunQuery, call: Call) {
    const row = await executions.resumeAndWait(request, waitOptions(query, call));
    return answerWith(row, query.detailed);
  }

  async function answerWith(row: ExecutionRow, detailed: boolean | undefined) {
    return runAnswer(row, await recordOf(row, detailed));
  }

  async function recordOf(
    row: ExecutionRow,
    detailed: boolean | undefined,
  ): Promise<ExecutionRecord> {
    return toRecord(row, detailed ? await logUpTo(row) : undefined);
  }

  /** A record never tells of more than its own state. */
  async function logUpTo(row: ExecutionRow): Promise<readonly LoggedEvent[]> {
    return (await executions.log(row.execution_id)).filter(({ event }) => event.seq <= row.head);
  }

  async function list(query: Omit<ExecutionFilter, "states" | "label"> & ListQuery) {
    const { state, name, limit, offset } = query;
    const { items, total } = await executions.list({ ...query, states: state, label: name });
    return answer(200, { items: items.map(toSummary), total, limit, offset });
  }

  function waitOptions({ timeout }: RunQuery, call: Call) {
    return { timeoutMs: waitMs(timeout, syncTimeoutSeconds), signal: call.signal };
  }

  /** A stream has no limit unless one is asked for. */
  function followOptions({ timeout, detailed }: RunQuery, call: Call) {
    const timeoutMs = timeout === undefined ? undefined : waitMs(timeout, syncTimeoutSeconds);
    return { detailed, timeoutMs, signal: call.signal };
  }
}

interface ListQuery {
  readonly state?: ExecutionFilter["states"];
  readonly name?: string | undefined;
}

function startRequest(
  workflow: { readonly namespace: string; readonly workflow: string },
  query: { readonly version?: number | undefined; readonly name?: string | undefined },
  input: Json,
  call: Call,
): StartRequest {
  const { version, name: label } = query;
  return {
    ...workflow,
    version,
    label,
    input,
    trigger: { kind: "api" },
    by: call.caller.principal,
  };
}

function resumeRequest(
  { ns, wf, id }: { readonly ns: string; readonly wf: string; readonly id: string },
  { pause }: { readonly pause?: string | undefined },
  input: Json,
  call: Call,
): ResumeRequest {
  return {
    workflow: { namespace: ns, name: wf },
    execution_id: id,
    input,
    pause,
    by: call.caller.principal,
  };
}
