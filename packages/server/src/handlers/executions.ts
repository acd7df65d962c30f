import {
  DEFAULT_NAMESPACE,
  EngineError,
  type ExecutionRecord,
  type ExecutionRow,
  isTerminal,
  type RunMode,
  recordForCaller,
  type routes,
} from "@engine/contract";
import { answer, type Call, type Handlers } from "@engine/http";
import type { Engine } from "../engine.ts";
import { toRecord, toRecordedEvent, toSummary } from "../executions/record.ts";
import type { ResumeRequest, StartRequest } from "../executions/requests.ts";
import { rowAsCreated } from "../executions/row-after.ts";
import { type Manner, resume, run, streamMs, waitMs } from "../executions/run-modes.ts";
import type { NewPrincipalOf } from "../executions/take-overs.ts";
import { routingHeader } from "./routing-header.ts";
import { addressOf, askerOf, forCallers, runAnswer, streamAnswer } from "./run-answer.ts";
import { startRequest } from "./start-request.ts";
import { isFiltered, ownership, visibleWorkflows, workflowOf } from "./subjects.ts";

/** @param syncTimeoutSeconds Longest wait of a sync call; 0 = none. */
export function executionHandlers(
  { executions, runLists, takeOvers, masks, whys }: Engine,
  syncTimeoutSeconds: number,
): Handlers<typeof routes.executions> {
  return {
    run: async (asked, call) => {
      const { params, query } = asked;
      await call.permit.demandRun(() => runLists.ofName(params.ns, params.wf, query.version));
      const request = startOf(params.ns, asked, call);
      return run(executions, request, askedOf(params.mode, query, call));
    },
    runDefault: async (asked, call) => {
      const { params, query } = asked;
      await call.permit.demandRun(() =>
        runLists.ofName(DEFAULT_NAMESPACE, params.wf, query.version),
      );
      const request = startOf(DEFAULT_NAMESPACE, asked, call);
      return run(executions, request, askedOf(params.mode, query, call));
    },
    resume: async (asked, call) => {
      await demandRunOf(asked.params, call);
      return resume(executions, resumeOf(asked, call), askedOf("sync", asked.query, call));
    },
    resumeMode: async (asked, call) => {
      await demandRunOf(asked.params, call);
      const { params, query } = asked;
      return resume(executions, resumeOf(asked, call), askedOf(params.mode, query, call));
    },
    cancel: (asked, call) => cancel(asked, asked.body?.reason, call),
    cancelLink: (asked, call) => cancel(asked, undefined, call),
    status: async ({ params: { ns, wf, id }, query }, { permit, caller }) => {
      const row = await executions.get(id, { namespace: ns, name: wf });
      permit.demand(ownership(row, caller));
      return answer(200, await recordOf(row, query.detailed));
    },
    listOfWorkflow: ({ params: { ns, wf }, query }, call) =>
      list({ ...query, namespace: ns, workflow: wf }, call),
    list: ({ query }, call) => list(query, call),
    get: async ({ params: { id }, query, headers }, call) => {
      await demand(id, call);
      const { mode, detailed, events, after, before, limit } = query;
      if (mode === "stream") {
        refusePage({ after, before, limit });
        const request = { execution_id: id, after: headers["last-event-id"] };
        const timeoutMs = streamMs(query, syncTimeoutSeconds);
        const options = { detailed, events, timeoutMs, signal: call.signal };
        return streamAnswer(await executions.follow(request, options));
      }
      const row = mode
        ? await executions.wait(id, waitOptions(query, call))
        : await executions.get(id);
      const page = { after, before, limit };
      const log = detailed ? await executions.logUpTo(row, page) : undefined;
      const record = toRecord(await executions.shown(row), await executions.who(row), log);
      return mode ? runAnswer(row, record) : answer(200, record);
    },
    why: async ({ params: { id } }, call) => {
      await demand(id, call);
      const { rights } = call.caller;
      const mayRead = (permission: string) => rights?.holds(permission) ?? true;
      return answer(200, await whys.of(await executions.get(id), mayRead));
    },
    rename: async ({ params: { id }, body }, call) => {
      await demand(id, call);
      const row = await executions.rename(id, body.name);
      return answer(200, await recordOf(row));
    },
    setPrincipal: async ({ params: { id }, body: { subject } }, call) => {
      const to = namedBy(call, subject);
      await call.permit.demandToRun(await subjectOf(id, call, to), async () =>
        runLists.ofExecution(await executions.get(id)),
      );
      return answer(200, await recordOf(await takeOvers.one(id, to, call)));
    },
    takeOver: async ({ body }, call) => {
      const { subject, from = null, namespace, workflow, limit } = body;
      const to = namedBy(call, subject);
      call.permit.demand({ subject: to.id === undefined ? subject : null });
      const visible = visibleWorkflows(call.permit.seen("workflow"));
      const which = { subject: from, namespace, workflow, visible };
      return answer(200, await takeOvers.many({ to, which, limit, call }));
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
      // Numbers are dense from 1, so that `after` says how many events lie before the page.
      return answer(200, { items, total: head, limit, offset: after });
    },
    eventValue: async ({ params: { id, seq } }, call) => {
      await demand(id, call);
      return answer(200, await executions.eventValue(id, seq));
    },
    history: async ({ params: { id } }, call) => {
      await demand(id, call);
      const masker = await masks.current();
      return answer(200, await executions.history(id, (value) => masker.count(value)));
    },
    signal: async ({ params: { id, name }, body: payload }, call) => {
      await demandToRun(id, call);
      const by = call.caller.principal;
      const seq = await executions.signal({ execution_id: id, name, payload, by });
      return answer(202, { execution_id: id, name, seq });
    },
    fork: async ({ params: { id }, body }, call) => {
      await demandToRun(id, call, body?.version);
      const { name: label, ...rest } = body ?? {};
      const routing_input = routingHeader(call);
      const by = call.caller.principal;
      const request = { ...rest, label, execution_id: id, by, routing_input };
      const row = rowAsCreated(await executions.fork(request));
      return answer(201, await recordOf(row), addressOf(row));
    },
  };

  /** Demands what the path leaves open: the workflow of the execution. */
  function demand(id: string, { permit }: Call): Promise<void> {
    return permit.demandOf(async () => workflowOf(await executions.get(id)));
  }

  /** What the path leaves open of who is to have an execution's rights, and whose it is. */
  async function subjectOf(id: string, { caller }: Call, { id: own, subject }: NewPrincipalOf) {
    // Callers who may do everything cost no lookup.
    const of = caller.rights ? workflowOf(await executions.get(id)) : { ns: null, wf: null };
    return { ...of, subject: own === undefined ? subject : null };
  }

  /** The same with all that running the workflow takes, in the version of the execution or another. */
  async function demandToRun(
    id: string,
    { caller, permit }: Call,
    version?: number,
  ): Promise<void> {
    // Callers who may do everything cost no lookup.
    const of = caller.rights ? workflowOf(await executions.get(id)) : { ns: null, wf: null };
    await permit.demandToRun(of, async () => {
      const row = await executions.get(id);
      return version === undefined
        ? runLists.ofExecution(row)
        : runLists.ofName(row.namespace, row.workflow, version);
    });
  }

  /** Demands all that running the workflow takes, in the version that the execution has. */
  function demandRunOf(
    { ns, wf, id }: { readonly ns: string; readonly wf: string; readonly id: string },
    { permit }: Call,
  ): Promise<void> {
    return permit.demandRun(async () =>
      runLists.ofExecution(await executions.get(id, { namespace: ns, name: wf })),
    );
  }

  function askedOf<Mode extends RunMode>(mode: Mode, manner: Manner, call: Call) {
    const as = forCallers(async (row) => recordForCaller(await recordOf(row, manner.detailed)));
    return { mode, manner, asker: askerOf(call), longestSeconds: syncTimeoutSeconds, as };
  }

  async function cancel(
    { params: { ns, wf, id }, query }: Asked<"cancelLink">,
    reason: string | undefined,
    call: Call,
  ) {
    const workflow = { namespace: ns, name: wf };
    const request = { workflow, execution_id: id, reason, by: call.caller.principal };
    const isSync = query.mode === "sync";
    const { row } = isSync
      ? await executions.cancelAndWait(request, waitOptions(query, call))
      : await executions.cancel(request);
    const record = await recordOf(row, query.detailed);
    // The answer of `async` is "accepted", even when the execution had ended at once.
    if (isSync && isTerminal(row.state)) return answer(200, record, addressOf(row));
    return answer(202, record, addressOf(row));
  }

  async function recordOf(row: ExecutionRow, detailed?: boolean): Promise<ExecutionRecord> {
    // A record has no event that is newer than its state.
    const log = detailed ? await executions.logUpTo(row) : undefined;
    return toRecord(await executions.shown(row), await executions.who(row), log);
  }

  async function list(query: Asked<"list">["query"], { permit }: Call) {
    const { state, name, before, limit, offset } = query;
    const visible = visibleWorkflows(permit.seen("workflow"));
    const filter = { ...query, states: state, label: name, behind: before, visible };
    const { items, total } = await executions.list(filter);
    const who = await executions.who(...items);
    const shown = items.map((row) => toSummary(row, who));
    return answer(200, { items: shown, total, limit, offset, auth_filtered: isFiltered(visible) });
  }

  function waitOptions(manner: Manner, { signal }: Call) {
    return { timeoutMs: waitMs(manner, syncTimeoutSeconds), signal };
  }
}

/** Who is named: callers may name themselves, whatever they are. */
function namedBy({ caller: { identity, principal } }: Call, subject: string): NewPrincipalOf {
  const isSelf = principal !== null && identity?.subject === subject;
  return { subject, id: isSelf ? principal : undefined };
}

/** A request to a route, parsed. */
type Asked<Name extends keyof Routes> = Parameters<Handlers<Routes>[Name]>[0];
type Routes = typeof routes.executions;

function startOf(
  namespace: string,
  { params, query, headers, body: input }: Asked<"runDefault">,
  call: Call,
): StartRequest {
  const { name: label, version, priority, start_at, park_ttl } = query;
  const when = { priority, start_at, park_ttl };
  const asked = { namespace, workflow: params.wf, version, label, input, ...when };
  return startRequest(asked, headers, call);
}

function resumeOf(
  { params: { ns, wf, id }, query: { pause }, body: input }: Asked<"resume">,
  call: Call,
): ResumeRequest {
  const workflow = { namespace: ns, name: wf };
  return { workflow, execution_id: id, input, pause, by: call.caller.principal };
}

/** Refuses a page of the log for a stream, which goes on by a header of its own. */
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
