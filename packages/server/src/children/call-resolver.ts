/**
 * Finds out what the `call`s of an execution start, before the commit that creates the children
 * (EXE-54, EXE-57). A call that cannot be made fails by itself; the execution goes on.
 */
import {
  type CallResolution,
  type CallResolutions,
  type CallStart,
  callStarts,
  callTooDeep,
  checkRoutingInput,
  DEFAULT_NAMESPACE,
  EngineError,
  type EngineFailureType,
  encode,
  engineFailure,
  type NewEvent,
  routingInputFault,
} from "@engine/contract";
import type { StoredVersion } from "@engine/store";
import type { Catalog } from "../catalog/catalog.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { foundVersion } from "../starts/found-version.ts";
import type { Starts } from "../starts/starts.ts";
import type { CallingExecution } from "./authorize-call.ts";

export const NO_CALLS: CallResolutions = new Map();

/** Siblings that are remembered; beyond them all are looked up anew. */
const KNOWN_SIBLINGS = 1_000;

interface Call {
  readonly child_id: string;
  readonly task_call_id: string;
  readonly start: CallStart;
  /** Undefined: none. */
  readonly routing_input: unknown;
}

/** By `task_call_id`; not checked. */
export type CallRouting = Readonly<Record<string, unknown>>;

type Details = Record<string, unknown> | null;

interface Parts {
  readonly ports: Pick<EnginePorts, "ids" | "config" | "authorizeCall">;
  readonly catalog: Catalog;
  readonly starts: Pick<Starts, "prepareStart">;
}

export class CallResolver {
  readonly #parts: Parts;
  /**
   * Versions by bundle and qualified name; null for a workflow that is not in the bundle's file. A
   * file's workflows are registered together, so neither becomes untrue.
   */
  readonly #siblings = new Map<string, StoredVersion | null>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Answers by `task_call_id`. Rejects only when the store does not answer. */
  async resolve(
    caller: CallingExecution,
    events: readonly NewEvent[],
    routing: CallRouting = {},
  ): Promise<CallResolutions> {
    const resolved = callStarts(events).map(async ({ task_call_id, start }) => {
      // The id is made before anything is awaited: children come in the order of their calls.
      const child_id = this.#parts.ports.ids();
      const routing_input = Object.hasOwn(routing, task_call_id)
        ? routing[task_call_id]
        : undefined;
      const call = { child_id, task_call_id, start, routing_input };
      const resolution = await this.#resolve(caller, call);
      return [task_call_id, resolution] as const;
    });
    return new Map(await Promise.all(resolved));
  }

  async #resolve(
    caller: CallingExecution,
    { child_id, task_call_id, start, routing_input: given }: Call,
  ): Promise<CallResolution> {
    const { max_depth } = this.#parts.ports.config.executions;
    const { namespace, name } = targetOf(start.workflow);
    const target = `${namespace}/${name}`;
    const refuse = (type: EngineFailureType, message: string, details: Details): CallResolution => {
      return { kind: "refused", failure: engineFailure(type, message, { task_call_id, details }) };
    };

    const asked = { task_call_id, start: { ...start, workflow: target }, max_depth };
    const failure = callTooDeep(caller, asked);
    if (failure) return { kind: "refused", failure };
    const { value: routing_input, reason } = checkRoutingInput(given ?? {});
    if (reason) {
      const message = `call of ${target}: the routing input ${routingInputFault(reason)}`;
      return refuse("InvalidInputError", message, { reason });
    }
    let found: StoredVersion;
    try {
      found = await this.#find(caller, { namespace, name }, start.version);
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== "not_found") throw error;
      const message = `call of ${target}: ${error.message}; register it first`;
      return refuse("NotFoundError", message, { ...error.details, name: target });
    }
    const authorize = this.#parts.ports.authorizeCall;
    const missing_permissions = (await authorize?.({ caller, target: found })) ?? [];
    if (missing_permissions.length > 0) {
      const lacks = missing_permissions.join(", ");
      const message = `${caller.namespace}/${caller.workflow} may not start ${target}: it lacks ${lacks}`;
      return refuse("TaskNotAuthorizedError", message, { workflow: target, missing_permissions });
    }
    const { execution_id, depth, priority, worker, run_as, hook } = caller;
    try {
      const fresh = await this.#parts.starts.prepareStart({
        of: foundVersion(found),
        execution_id: child_id,
        label: start.name,
        input: encode(start.input, "input"),
        root: "input",
        trigger: { kind: "call", id: execution_id },
        // A child has the rights of its parent, as they are when it starts (AUTH-34).
        by: run_as,
        // What its own workflow states comes before what the parent has (DSP-10).
        priority: found.record.priority === null ? priority : undefined,
        fairness: caller.requirements?.fairness,
        last_worker: worker,
        routing_input,
        hook,
        parent: { execution_id, depth, call_id: task_call_id, detached: start.detach },
      });
      return { kind: "child", fresh };
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== "invalid_input") throw error;
      const message = `call of ${target}: ${error.message}`;
      return refuse("InvalidInputError", message, error.details ?? null);
    }
  }

  /** The version asked for; else the one in the caller's own file, if it has the target; else the latest. */
  async #find(
    caller: CallingExecution,
    { namespace, name }: { readonly namespace: string; readonly name: string },
    version: number | undefined,
  ): Promise<StoredVersion> {
    if (version !== undefined) return this.#parts.catalog.resolve(namespace, name, version);
    const { module_hash } = caller;
    if (module_hash === null) return this.#parts.catalog.resolve(namespace, name);
    const key = `${module_hash} ${namespace}/${name}`;
    let sibling = this.#siblings.get(key);
    if (sibling === undefined) {
      sibling = (await this.#parts.catalog.findOfModule(namespace, name, module_hash)) ?? null;
      if (this.#siblings.size >= KNOWN_SIBLINGS) this.#siblings.clear();
      this.#siblings.set(key, sibling);
    }
    return sibling ?? this.#parts.catalog.resolve(namespace, name);
  }
}

function targetOf(workflow: string): { namespace: string; name: string } {
  const slash = workflow.indexOf("/");
  if (slash < 0) return { namespace: DEFAULT_NAMESPACE, name: workflow };
  return { namespace: workflow.slice(0, slash), name: workflow.slice(slash + 1) };
}
