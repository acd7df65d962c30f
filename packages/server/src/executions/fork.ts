/** Copies of executions that go on from a place in their log, or begin anew (EXE-87). */
import {
  type Encoded,
  EngineError,
  type ExecutionRow,
  type Failure,
  forkHistory,
  isCallStart,
  isOutcome,
  type NewEvent,
  type Requirements,
} from "@engine/contract";
import type { LargeJson } from "@engine/http/json";
import type { StoredVersion } from "@engine/store";
import type { Catalog } from "../catalog/catalog.ts";
import { type CallResolver, NO_CALLS } from "../children/call-resolver.ts";
import type { InnerPorts } from "../engine-ports.ts";
import { foundVersion } from "../starts/found-version.ts";
import type { FoundVersion, Start } from "../starts/start.ts";
import { readRouting } from "../starts/stored-routing.ts";
import { forkedRouting } from "./forked-calls.ts";
import type { ForkRequest } from "./requests.ts";

interface Fork extends Omit<ForkRequest, "input"> {
  /** Undefined: the input of the source. */
  readonly input: Encoded | LargeJson | undefined;
}

interface Parts {
  readonly ports: Pick<InnerPorts, "store" | "seals" | "ids" | "ring">;
  readonly catalog: Catalog;
  readonly calls: CallResolver;
}

/** The start of a fork. The source is only read. */
export async function forkOf(
  source: ExecutionRow,
  { from_seq, from_call, input: given, version, label, by, routing_input }: Fork,
  { ports, catalog, calls }: Parts,
): Promise<Start> {
  const cut = { from_seq, from_call };
  const isRestart = from_seq === undefined && from_call === undefined;
  const log = isRestart ? [] : await ports.store.log.read(source.execution_id);
  const events = log.map(({ event }) => event);
  const { seq, history, label: original } = forkHistory(source, events, cut);
  const isNewInput = given !== undefined || routing_input !== undefined;
  const of = await foundFor(source, { version, isNewInput }, catalog);
  const { pin } = of;
  // A replay keeps the input that its log was made with.
  const isNew = isRestart && (given !== undefined || pin.version !== source.version);
  const execution_id = ports.ids();
  if (history.some(({ sealed }) => sealed !== undefined)) {
    await ports.seals.share(source.execution_id, execution_id);
  }
  // A fork is a run of whoever asks for it, and so are its calls.
  const caller = { ...source, ...pin, execution_id, depth: 0, worker: null, run_as: by };
  const open = openCalls(history);
  const routing = () => forkedRouting(source, open, ports);
  return {
    of: isNew ? of : { ...of, schema: null },
    execution_id,
    label,
    input: given ?? source.input,
    root: given === undefined ? "input" : "body.input",
    trigger: { kind: "fork", id: source.execution_id },
    by,
    priority: source.priority,
    // A replay has to see the random numbers that its log was made with.
    ...(!isRestart && { seed: source.seed }),
    last_worker: source.worker ?? source.last_worker,
    hook: source.hook,
    routing_input: routing_input ?? readRouting(ports.ring, source.routing_input),
    fork: {
      from: { execution_id: source.execution_id, seq },
      history,
      label: original,
      calls: open.length > 0 ? await calls.resolve(caller, open, await routing()) : NO_CALLS,
    },
  };
}

/**
 * The source's own version, also where it was deleted since; any other version has to exist. What the
 * source needs of its worker was read of its input, and holds for a copy of both.
 */
async function foundFor(
  source: ExecutionRow,
  asked: { readonly version: number | undefined; readonly isNewInput: boolean },
  catalog: Catalog,
): Promise<FoundVersion> {
  const { namespace, workflow } = source;
  if (asked.version !== undefined && asked.version !== source.version) {
    return foundVersion(await catalog.resolve(namespace, workflow, asked.version));
  }
  const found = asked.isNewInput ? await findOwn(source, catalog) : undefined;
  if (found) return foundVersion(found);
  const { module_hash, timeout_ms, transient } = source;
  const requirements = withoutWorker(source.requirements);
  const own = { namespace, workflow, version: source.version, module_hash, timeout_ms, transient };
  const pin = { ...own, requirements };
  return { pin, schema: null, declared: undefined, unplaceable: unplaceableAs(source) };
}

/** Where the source failed for want of an input, a copy of its inputs lacks that as well (AFF-5). */
function unplaceableAs({ generation, failure }: ExecutionRow): Failure | null {
  const isUnplaceable = generation === 0 && failure?.type === "AffinityResolutionError";
  return isUnplaceable ? failure : null;
}

async function findOwn(
  { namespace, workflow, version, module_hash }: ExecutionRow,
  catalog: Catalog,
): Promise<StoredVersion | undefined> {
  try {
    return await catalog.resolve(namespace, workflow, version ?? undefined);
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "not_found") throw error;
    // The version was deleted since; its module is kept as long as executions need it.
    return module_hash === null
      ? undefined
      : catalog.findOfModule(namespace, workflow, module_hash);
  }
}

/** Starts of child calls that have no outcome: they are made anew. */
function openCalls(history: readonly NewEvent[]): readonly NewEvent[] {
  const over = new Set(history.filter(({ type }) => isOutcome(type)).map((e) => e.source_id));
  return history.filter((event) => isCallStart(event) && !over.has(event.source_id));
}

/** Leaves out the worker that a start required or preferred: that was for the source alone. */
function withoutWorker(requirements: Requirements | null): Requirements | null {
  const { worker: _, prefers: __, ...rest } = requirements ?? {};
  return Object.keys(rest).length > 0 ? rest : null;
}
