import {
  DEFAULT_NAMESPACE,
  EngineError,
  type ExecutionRecord,
  type ExecutionRow,
  isTerminal,
  type Json,
  type RunMode,
  recordForCaller,
  type routes,
} from "@engine/contract";
import { answer, type Call, type Handlers } from "@engine/http";
import type { LargeJson } from "@engine/http/json";
import type { ExecutionFilter, LoggedEvent } from "@engine/store";
import type { Engine } from "../engine.ts";
import { toRecord, toRecordedEvent, toSummary } from "../executions/record.ts";
import type { CancelRequest, ResumeRequest, StartRequest } from "../executions/requests.ts";
import { rowAsCreated } from "../executions/row-after.ts";
import { type Manner, resume, run, waitMs } from "../executions/run-modes.ts";
import { addressOf, askerOf, forCallers, runAnswer, streamAnswer } from "./run-answer.ts";
import { type StartHeaders, startHeaders } from "./start-headers.ts";
import { visibleWorkflows, workflowOf } from "./subjects.ts";

/** @param syncTimeoutSeconds Longest wait of a sync call; 0 = none. */
export function executionHandlers(
  { executions }: Engine,
  syncTimeoutSeconds: number,
): Handlers<typeof routes.executions> {
  return {
    run: ({ params: { ns, wf, mode }, ...asked }, call) => {
      const request = startRequest({ namespace: ns, workflow: wf }, asked, call);
      return run(executions, request, askedOf(mode, asked.query, call));
    },
    runDefault: ({ params: { wf, mode }, ...asked }, call) => {
      const workflow = { namespace: DEFAULT_NAMESPACE, workflow: wf };
      const request = startRequest(workflow, asked, call);
      return run(executions, request, askedOf(mode, asked.query, call));
    },
    resume: ({ params, query, body }, call) =>
      resume(executions, resumeRequest(params, query, body, call), askedOf("sync", query, call)),
    resumeMode: ({ params, query, body }, call) => {
      const request = resumeRequest(params, query, body, call);
      return resume(executions, request, askedOf(params.mode, query, call));
    },
    cancel: ({ params, query, body }, call) =>
      cancel(cancelRequest(params, body?.reason, call), query, call),
    cancelLink: ({ params, query }, call) =>
      cancel(cancelRequest(params, undefined, call), query, call),
    status: async ({ params: { ns, wf, id }, query }) => {
      const row = await executions.get(id, { namespace: ns, name: wf });
      return answer(200, await recordOf(row, query.detailed));
    },
    listOfWorkflow: ({ params: { ns, wf }, query }, call) =>
      list({ ...query, namespace: ns, workflow: wf }, call),
    list: ({ query }, call) => list(query, call),
    get: async ({ params: { id }, query, headers }, call) => {
      await demand(id, call);
      const { mode, detailed, after, before, limit } = query;
      if (mode === "stream") {
        refusePage({ after, before, limit });
        const request = { execution_id: id, after: headers["last-event-id"] };
        return streamAnswer(await executions.follow(request, followOptions(query, call)));
      }
      const row = mode
        ? await executions.wait(id, waitOptions(query, call))
        : await executions.get(id);
      const page = { after, before, limit };
      const log = detailed ? await executions.log(id, page) : undefined;
      const record = toRecord(await executions.shown(row), log && upTo(row, log));
      return mode ? runAnswer(row, record) : answer(200, record);
    },
    rename: async ({ params: { id }, body }, call) => {
      await demand(id, call);
      const row = await executions.rename({ execution_id: id, label: body.name });
      return answer(200, await recordOf(row, false));
    },
    events: async ({ params: { id }, query: { after = 0, limit, type } }, call) => {
      await demand(id, call);
      const { head } = await executions.get(id);
      if (type) {
        const page = await executions.eventsOf(id, { types: type, after, limit });
        const items = page.items.map(toRecordedEvent);
        return answer(200, { items, total: page.total, limit, offset: page.before });
      }
      const log = await executions.log(id, { after, limit });
      const items = log.map(toRecordedEvent);
      // Numbers are dense from 1: what lies before the page is what `after` says.
      return answer(200, { items, total: head, limit, offset: after });
    },
    eventValue: async ({ params: { id, seq } }, call) => {
      await demand(id, call);
      return answer(200, await executions.eventValue(id, seq));
    },
    history: async ({ params: { id } }, call) => {
      await demand(id, call);
      return answer(200, await executions.history(id));
    },
    signal: async ({ params: { id, name }, body: payload }, call) => {
      await demand(id, call);
      const by = call.caller.principal;
      const seq = await executions.signal({ execution_id: id, name, payload, by });
      return answer(202, { execution_id: id, name, seq });
    },
    fork: async ({ params: { id }, body }, call) => {
      await demand(id, call);
      const { name: label, ...rest } = body ?? {};
      const request = { ...rest, label, execution_id: id, by: call.caller.principal };
      const row = rowAsCreated(await executions.fork(request));
      return answer(201, await recordOf(row, false), addressOf(row));
    },
  };

  /** What the path leaves open: the workflow of the execution. */
  function demand(id: string, { permit }: Call): Promise<void> {
    return permit.demandOf(async () => workflowOf(await executions.get(id)));
  }

  function askedOf<Mode extends RunMode>(mode: Mode, manner: Manner, call: Call) {
    const as = forCallers(async (row) => recordForCaller(await recordOf(row, manner.detailed)));
    return { mode, manner, asker: askerOf(call), longestSeconds: syncTimeoutSeconds, as };
  }

  async function cancel(request: CancelRequest, query: CancelQuery, call: Call) {
    const isSync = query.mode === "sync";
    const { row } = isSync
      ? await executions.cancelAndWait(request, waitOptions(query, call))
      : await executions.cancel(request);
    const record = await recordOf(row, query.detailed);
    // Asynchronous says "accepted", even when it was over at once.
    if (isSync && isTerminal(row.state)) return answer(200, record, addressOf(row));
    return answer(202, record, addressOf(row));
  }

  async function recordOf(
    row: ExecutionRow,
    detailed: boolean | undefined,
  ): Promise<ExecutionRecord> {
    // A record never tells of more than its own state.
    const log = detailed ? await executions.logUpTo(row) : undefined;
    return toRecord(await executions.shown(row), log);
  }

  async function list(
    query: Omit<ExecutionFilter, "states" | "label" | "behind"> & ListQuery,
    { permit }: Call,
  ) {
    const { state, name, before, limit, offset } = query;
    const visible = visibleWorkflows(permit.seen("workflow"));
    const filter = { ...query, states: state, label: name, behind: before, visible };
    const { items, total } = await executions.list(filter);
    return answer(200, { items: items.map(toSummary), total, limit, offset });
  }

  function waitOptions({ timeout }: Manner, call: Call) {
    return { timeoutMs: waitMs(timeout, syncTimeoutSeconds), signal: call.signal };
  }

  /** A stream has no limit unless one is asked for. */
  function followOptions({ timeout, detailed, events }: Manner, call: Call) {
    const timeoutMs = timeout === undefined ? undefined : waitMs(timeout, syncTimeoutSeconds);
    return { detailed, events, timeoutMs, signal: call.signal };
  }
}

interface CancelQuery extends Manner {
  readonly mode: "async" | "sync";
}

interface ListQuery {
  readonly state?: ExecutionFilter["states"];
  readonly name?: string | undefined;
  readonly before?: string | undefined;
}

function startRequest(
  workflow: { readonly namespace: string; readonly workflow: string },
  {
    query,
    headers,
    body: input,
  }: { query: StartQuery; headers: StartHeaders; body: Json | LargeJson },
  call: Call,
): StartRequest {
  const { name: label, version, priority, start_at, park_ttl } = query;
  return {
    ...workflow,
    version,
    priority,
    start_at,
    park_ttl,
    label,
    input,
    ...startHeaders(headers),
    trigger: { kind: "api" },
    by: call.caller.principal,
  };
}

interface StartQuery {
  readonly name?: string | undefined;
  readonly version?: number | undefined;
  readonly priority?: number | undefined;
  readonly start_at?: number | undefined;
  readonly park_ttl?: number | undefined;
}

function resumeRequest(
  { ns, wf, id }: { readonly ns: string; readonly wf: string; readonly id: string },
  { pause }: { readonly pause?: string | undefined },
  input: Json | LargeJson,
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

function cancelRequest(
  { ns, wf, id }: { readonly ns: string; readonly wf: string; readonly id: string },
  reason: string | undefined,
  call: Call,
): CancelRequest {
  const workflow = { namespace: ns, name: wf };
  return { workflow, execution_id: id, reason, by: call.caller.principal };
}

/** A stream carries on from its own header. */
function refusePage(
  page: Readonly<Record<"after" | "before" | "limit", number | undefined>>,
): void {
  const issues = Object.entries(page)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => ({
      path: `query.${name}`,
      message: "names a page, which a stream has not; go on after a frame with Last-Event-ID",
    }));
  const [first] = issues;
  if (!first) return;
  const message = `${first.path} ${first.message}`;
  throw new EngineError("invalid_input", message, { details: { issues } });
}

function upTo({ head }: ExecutionRow, log: readonly LoggedEvent[]): readonly LoggedEvent[] {
  return log.filter(({ event }) => event.seq <= head);
}
