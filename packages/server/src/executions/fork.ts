/** Copies of executions that go on from a place in their log, or begin anew (EXE-87). */
import {
  type Cut,
  type Encoded,
  EngineError,
  type ExecutionRow,
  forkHistory,
  isCallStart,
  isOutcome,
  type NewEvent,
  type NewExecution,
  type Requirements,
  referenceOf,
} from "@engine/contract";
import { LargeJson } from "@engine/http/json";
import type { Catalog } from "../catalog/catalog.ts";
import { checkInput, type InputSchema } from "../catalog/input/input-check.ts";
import { pinTo, type VersionPin } from "../catalog/version-pin.ts";
import { type CallResolver, NO_CALLS } from "../children/call-resolver.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { LargeInputs } from "./large-inputs.ts";
import { parkTtlMs } from "./park-ttl.ts";

export interface Fork extends Cut {
  /** Stored, or as it came; undefined = that of the source. */
  readonly input: Encoded | LargeJson | undefined;
  readonly version: number | undefined;
  readonly label: string | undefined;
  readonly by: string | null;
}

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "ids" | "seed" | "clock" | "config">;
  readonly catalog: Catalog;
  readonly calls: CallResolver;
  readonly inputs: LargeInputs;
}

/** What the fork is created from. The source is only read. */
export async function forkOf(
  source: ExecutionRow,
  { from_seq, from_call, input: given, version, label, by }: Fork,
  { ports, catalog, calls, inputs }: Parts,
): Promise<NewExecution> {
  const cut = { from_seq, from_call };
  const isRestart = from_seq === undefined && from_call === undefined;
  const log = isRestart ? [] : await ports.store.readLog(source.execution_id);
  const events = log.map(({ event }) => event);
  const { seq, history, label: original } = forkHistory(source, events, cut);
  const pin = await pinOf(source, version, catalog);
  const isNew = given !== undefined || pin.version !== source.version;
  const root = given === undefined ? "input" : "body.input";
  // What is replayed keeps the input that its log was made with.
  const check =
    isRestart && isNew ? { schema: await inputSchemaOf(pin, catalog), root } : undefined;
  const execution_id = ports.ids();
  const input = await inputOf(execution_id, given ?? source.input, check, inputs);
  const caller = { ...source, ...pin, execution_id, depth: 0, worker: null };
  const open = openCalls(history);
  return {
    ...pin,
    execution_id,
    name: label ?? null,
    input,
    trigger: { kind: "fork", id: source.execution_id },
    by,
    priority: source.priority,
    // What is replayed has to see the numbers it saw.
    seed: isRestart ? ports.seed() : source.seed,
    park_ttl_ms: parkTtlMs(ports.config),
    preferred_worker: source.worker ?? source.last_worker,
    fork: {
      from: { execution_id: source.execution_id, seq },
      history,
      label: original,
      calls: open.length > 0 ? await calls.resolve(caller, open) : NO_CALLS,
    },
    now: ports.clock(),
  };
}

/** What lies outside of the log goes with its execution: the fork has one of its own. */
async function inputOf(
  execution_id: string,
  given: Encoded | LargeJson,
  check: { readonly schema: InputSchema; readonly root: string } | undefined,
  inputs: LargeInputs,
): Promise<Encoded> {
  if (given instanceof LargeJson) {
    return (await inputs.keep(execution_id, given, check ?? { schema: null, root: "" })).input;
  }
  const reference = referenceOf(given);
  if (reference) return inputs.copy(execution_id, reference, check);
  if (check) await checkInput(check.schema, given, check.root);
  return given;
}

/** The source's own version, also when it was deleted since; another one has to be there. */
async function pinOf(
  source: ExecutionRow,
  version: number | undefined,
  catalog: Catalog,
): Promise<VersionPin> {
  const { namespace, workflow } = source;
  if (version === undefined || version === source.version) {
    const { version, module_hash, timeout_ms, transient } = source;
    const requirements = withoutWorker(source.requirements);
    return { namespace, workflow, version, module_hash, timeout_ms, transient, requirements };
  }
  return pinTo(await catalog.resolve(namespace, workflow, version));
}

async function inputSchemaOf(
  { namespace, workflow, version, module_hash }: VersionPin,
  catalog: Catalog,
): Promise<InputSchema> {
  try {
    const found = await catalog.resolve(namespace, workflow, version ?? undefined);
    return found.record.input_schema;
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "not_found") throw error;
    // The version was deleted since; its module is kept as long as executions need it.
    const found = module_hash && (await catalog.findOfModule(namespace, workflow, module_hash));
    return found ? found.record.input_schema : null;
  }
}

/** Calls of children that have no outcome yet: they are made anew. */
function openCalls(history: readonly NewEvent[]): readonly NewEvent[] {
  const over = new Set(history.filter(({ type }) => isOutcome(type)).map((e) => e.source_id));
  return history.filter((event) => isCallStart(event) && !over.has(event.source_id));
}

/** The worker that a start asked for, or wished for, was for that execution alone. */
function withoutWorker(requirements: Requirements | null): Requirements | null {
  const { worker: _, prefers: __, ...rest } = requirements ?? {};
  return Object.keys(rest).length > 0 ? rest : null;
}
