import { createHash } from "node:crypto";
import {
  EngineError,
  type ExecutionRow,
  isTerminal,
  type ResolvedService,
  type RunMode,
  type routes,
  type ServiceRun,
} from "@engine/contract";
import { answer, type Befores, type Call, type Handlers, type ReplyHeaders } from "@engine/http";
import { serviceTool, shownTools, toolsOf } from "@engine/mcp";
import type { StoredVersion } from "@engine/store";
import type { Engine } from "../engine.ts";
import type { Follower } from "../executions/follower.ts";
import { toRecordedEvent } from "../executions/record.ts";
import type { ResumeRequest, WorkflowRef } from "../executions/requests.ts";
import { type Manner, type Replay, resume, run } from "../executions/run-modes.ts";
import type { McpEndpoints } from "../services/mcp-endpoints.ts";
import type { McpMetadata } from "../services/mcp-metadata.ts";
import { serviceDocument } from "../services/service-document.ts";
import {
  type EndpointRights,
  statusPath,
  toEndpoint,
  toServiceRecord,
  toServiceRun,
} from "../services/service-record.ts";
import { collisionsOf, endpointsOf, refOf, type ServiceView } from "../services/service-view.ts";
import { askerOf, EXECUTION_ID, replayed, streamAnswer } from "./run-answer.ts";
import { startRequest } from "./start-request.ts";
import { isFiltered, ownership, visibleNames } from "./subjects.ts";

type Routes = typeof routes.services;
type Asked<Name extends keyof Routes> = Parameters<Handlers<Routes>[Name]>[0];
type Permitted = Pick<Call, "permit" | "caller">;

/** Which endpoint a path names, and of a resume which execution. */
interface Path {
  readonly service: string;
  readonly workflow: string;
  readonly execution_id?: string;
}

interface Parts {
  readonly engine: Engine;
  /** Longest wait of a sync call, in seconds; 0 = none. */
  readonly syncTimeout: number;
  readonly mcp: Pick<McpEndpoints, "answer">;
  readonly metadata: McpMetadata;
}

export function serviceHandlers({ engine, syncTimeout, mcp, metadata }: Parts): {
  readonly handlers: Handlers<Routes>;
  readonly befores: NonNullable<Befores<typeof routes>["services"]>;
} {
  const { services, executions, runLists, runAs } = engine;
  const isGuarded = runAs.isOn;
  const wholly = new WeakMap<ServiceView, Promise<Resolved>>();
  const handlers: Handlers<Routes> = {
    create: async ({ body }, call) => {
      call.permit.demand({ name: body.name });
      return answer(201, toServiceRecord(await services.create(body, call)));
    },
    list: async ({ query }, { permit }) => {
      const names = visibleNames(permit.seen("service"));
      const { items, total } = await services.list({ ...query, names });
      const auth_filtered = isFiltered(names);
      return answer(200, { items: items.map(toServiceRecord), total, ...query, auth_filtered });
    },
    get: async ({ params: { name }, headers }, call) => {
      const { body, etag } = await resolved(await services.view(name), call);
      const isKnown = isListed(etag, headers["if-none-match"]);
      return isKnown ? answer(304, undefined, { etag }) : answer(200, body, { etag });
    },
    openapi: async ({ params: { name } }, call) => {
      const { body, known } = await resolved(await services.view(name), call);
      const endpoints = body.endpoints.filter(({ ref }) => known.has(ref));
      return answer(200, serviceDocument({ ...body, endpoints }, { isGuarded }));
    },
    tools: async ({ params: { name } }, call) => {
      const view = await offering(name);
      const { endpoints, collisions } = (await resolved(view, call)).body;
      const tools = shownTools(toolsOf(endpoints)).map(serviceTool);
      return answer(200, {
        service: name,
        mcp_enabled: true as const,
        connection_url: metadata.endpointOf(name),
        tools,
        tool_count: tools.length,
        collisions,
      });
    },
    mcp: async ({ params: { service } }, call) => mcp.answer(await offering(service), call),
    metadata: async ({ params: { service } }) => answer(200, metadata.of(service)),
    update: async ({ params: { name }, body }, call) =>
      answer(200, toServiceRecord(await services.change(name, body, call))),
    delete: async ({ params: { name } }, call) => {
      await services.delete(name, call);
      return answer(204, undefined);
    },
    run: (asked, call) => started(asked, "sync", call),
    runMode: (asked, call) => started(asked, asked.params.mode, call),
    resume: (asked, call) => resumed(asked, "sync", call),
    resumeMode: (asked, call) => resumed(asked, asked.params.mode, call),
    status: async ({ params }, call) => {
      const row = await followed(params, call);
      const body = await told(params.service, row);
      return answer(200, body, { [EXECUTION_ID]: row.execution_id });
    },
    stream: async ({ params, headers }, call) => {
      const { execution_id } = await followed(params, call);
      const request = { execution_id, after: headers["last-event-id"] };
      const options = { signal: call.signal, frames: framesOf(params.service) };
      return streamAnswer(await executions.follow(request, options));
    },
  };
  return {
    handlers,
    befores: {
      run: ({ params, query }, call) => demandRun(params, query.version, call),
      runMode: ({ params, query }, call) => demandRun(params, query.version, call),
      resume: ({ params }, call) => demandResume(params, call),
      resumeMode: ({ params }, call) => demandResume(params, call),
    },
  };

  /** A service that offers its endpoints as tools. @throws EngineError `not_found`, `mcp_disabled`. */
  async function offering(name: string): Promise<ServiceView> {
    const view = await services.view(name);
    if (view.row.mcp_enabled) return view;
    const message = `service ${name} offers no tools: engine service update ${name} --mcp lets it`;
    throw new EngineError("mcp_disabled", message);
  }

  /**
   * Which workflow a path names now, once the caller may run it (SVC-36). Asked before the body is read,
   * and again once it is: meanwhile the name may have come to stand for another workflow.
   */
  async function demandRun(
    { service, workflow }: Path,
    version: number | undefined,
    { permit }: Permitted,
  ): Promise<WorkflowRef> {
    const { namespace, name } = (await services.resolve(service, workflow)).record;
    await permit.demandToRun({ ns: namespace }, () => runLists.ofName(namespace, name, version));
    return { namespace, name };
  }

  /** The same in the version that the execution has; 403 comes before whether it is there. */
  async function demandResume(
    { service, workflow, execution_id = "" }: Path,
    { permit }: Permitted,
  ): Promise<WorkflowRef> {
    const { namespace, name } = (await services.resolve(service, workflow)).record;
    await permit.demandToRun({ ns: namespace }, async () => {
      const row = await found(executions.get(execution_id, { namespace, name }));
      return row ? runLists.ofExecution(row) : runLists.ofName(namespace, name);
    });
    return { namespace, name };
  }

  async function started<Mode extends RunMode>(
    { params, query, headers, body: input }: Asked<"run">,
    mode: Mode,
    call: Call,
  ) {
    const { version } = query;
    const { namespace, name: workflow } = await demandRun(params, version, call);
    const request = startRequest({ namespace, workflow, version, input }, headers, call);
    return run(executions, request, askedOf(params.service, { mode, manner: query, call }));
  }

  async function resumed<Mode extends RunMode>(
    { params, query, body: input }: Asked<"resume">,
    mode: Mode,
    call: Call,
  ) {
    const workflow = await demandResume(params, call);
    const { execution_id } = params;
    const request: ResumeRequest = { workflow, execution_id, input, by: call.caller.principal };
    return resume(executions, request, askedOf(params.service, { mode, manner: query, call }));
  }

  /** An execution that the caller may follow (SVC-34); 403 comes before whether it is there. */
  async function followed(
    { service, workflow, execution_id = "" }: Path,
    { permit, caller }: Call,
  ): Promise<ExecutionRow> {
    const { namespace, name } = (await services.resolve(service, workflow)).record;
    permit.demand({ ns: namespace, own: null });
    const row = await executions.get(execution_id, { namespace, name });
    permit.demand({ ns: namespace, ...ownership(row, caller) });
    return row;
  }

  /** How a service tells its callers of an execution (SVC-45). */
  function askedOf<Mode extends RunMode>(
    service: string,
    { mode, manner, call }: { mode: Mode; manner: Manner; call: Call },
  ) {
    const { detailed = false, timeout, cancel_on_disconnect } = manner;
    return {
      mode,
      manner: { timeout, cancel_on_disconnect },
      asker: askerOf(call),
      longestSeconds: syncTimeout,
      as: {
        frames: framesOf(service),
        accepted: async (row: ExecutionRow, replay: Replay) =>
          answer(202, await toldToCome(service, row), headersOf(service, row, replay)),
        settled: async (row: ExecutionRow, replay: Replay) => {
          const headers = headersOf(service, row, replay);
          const body = await told(service, row);
          switch (row.state) {
            case "COMPLETED":
              return answer(200, detailed ? body : body.output, headers);
            case "FAILED":
              return answer(500, body, headers);
            case "CANCELLED":
              return answer(409, body, headers);
            case "PAUSED":
              return answer(202, body, headers);
            default:
              return answer(202, await toldToCome(service, row), headers);
          }
        },
        followed: (follower: Follower, replay: Replay) => streamAnswer(follower, replayed(replay)),
      },
    };
  }

  async function told(service: string, row: ExecutionRow): Promise<ServiceRun> {
    // The input, which may be large, is not part of what is told.
    return toServiceRun(service, await executions.shown({ ...row, input: null }));
  }

  /** Of an execution that goes on: with where to ask for it. */
  async function toldToCome(service: string, row: ExecutionRow): Promise<ServiceRun> {
    return { ...(await told(service, row)), status_url: statusPath(service, row) };
  }

  /** As the caller is told of it; those who may do everything are all told the same. */
  function resolved(view: ServiceView, call: Call): Promise<Resolved> {
    if (call.caller.rights) return resolvedFor(view, call);
    const known = wholly.get(view);
    if (known) return known;
    const resolving = resolvedFor(view, call);
    wholly.set(view, resolving);
    resolving.catch(() => wholly.delete(view));
    return resolving;
  }

  async function resolvedFor(view: ServiceView, call: Call): Promise<Resolved> {
    const versions = endpointsOf(view);
    const rights = await Promise.all(versions.map((version) => rightsTo(version, call)));
    const known = versions.filter((_, i) => rights[i]?.isKnown);
    const { namespaces, workflows, exclusions } = view.unmatched;
    const body = {
      ...toServiceRecord(view.row),
      endpoints: versions.map((version, i) =>
        toEndpoint(view.row.name, version, rights[i] ?? NO_RIGHTS),
      ),
      collisions: collisionsOf(view),
      unmatched: {
        namespaces: [...namespaces],
        workflows: [...workflows],
        exclusions: [...exclusions],
      },
    };
    const etag = `"${createHash("sha256").update(JSON.stringify(body)).digest("base64url")}"`;
    return { body, known: new Set(known.map(refOf)), etag };
  }

  async function rightsTo(version: StoredVersion, { caller: { rights } }: Call) {
    const all: EndpointRights = { can_run: true, isKnown: true };
    if (!rights) return all;
    const list = await runLists.ofRecord(version.record, version.module_hash);
    const own = `workflow:${refOf(version).replace("/", ":")}`;
    return {
      can_run: list.every((permission) => rights.holds(permission)),
      isKnown: rights.holds(`${own}:read`) || rights.holds(`${own}:run`),
    };
  }
}

/** A service as a caller is told of it. */
interface Resolved {
  readonly body: ResolvedService;
  /** Endpoints of which the caller may know more than the name. */
  readonly known: ReadonlySet<string>;
  readonly etag: string;
}

const NO_RIGHTS: EndpointRights = { can_run: false, isKnown: false };

function framesOf(service: string) {
  return {
    record: (row: ExecutionRow) => toServiceRun(service, row),
    event: toRecordedEvent,
  };
}

function headersOf(service: string, row: ExecutionRow, replay: Replay): ReplyHeaders {
  const isOver = isTerminal(row.state);
  return {
    [EXECUTION_ID]: row.execution_id,
    ...(!isOver && { location: statusPath(service, row) }),
    ...replayed(replay),
  };
}

async function found(row: Promise<ExecutionRow>): Promise<ExecutionRow | undefined> {
  try {
    return await row;
  } catch (error) {
    if (error instanceof EngineError && error.code === "not_found") return undefined;
    throw error;
  }
}

/** Whether a tag is among those of `If-None-Match` (RFC 9110, 13.1.2). */
function isListed(etag: string, listed: string | undefined): boolean {
  const tags = listed?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return tags.includes("*") || tags.includes(etag);
}
