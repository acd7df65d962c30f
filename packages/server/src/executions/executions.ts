import {
  decideCancel,
  decideResume,
  decideSignal,
  type Encoded,
  EngineError,
  type ExecutionRow,
  encode,
  type History,
  invalidField,
  isName,
  isTerminal,
  type Json,
  NAME_RULE,
  type NewExecution,
  notFound,
  type Requirements,
  referenceOf,
  toHistory,
  UnencodableValue,
} from "@engine/contract";
import { LargeJson } from "@engine/http/json";
import type {
  Changed,
  EventFilter,
  EventPage,
  ExecutionFilter,
  LoggedEvent,
  LogPage,
  Page,
  Store,
} from "@engine/store";
import type { Catalog } from "../catalog/catalog.ts";
import { checkInput } from "../catalog/input/input-check.ts";
import { pinTo } from "../catalog/version-pin.ts";
import type { CallResolver } from "../children/call-resolver.ts";
import type { Commits } from "../commits.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { readValue } from "../values/read-value.ts";
import { resolveValues } from "../values/resolve-values.ts";
import { followAfter, followNow } from "./follow-from.ts";
import type { Follower } from "./follower.ts";
import type { Followers } from "./followers.ts";
import { forkOf } from "./fork.ts";
import { keyOf, refuseMismatch, requestHash } from "./idempotency.ts";
import {
  type Check,
  encodedLarge,
  isRefusal,
  type Kept,
  type LargeInputs,
} from "./large-inputs.ts";
import { parkTtlMs } from "./park-ttl.ts";
import type {
  CancelRequest,
  FollowOptions,
  FollowRequest,
  ForkRequest,
  RenameRequest,
  ResumeRequest,
  SignalRequest,
  StartRequest,
  WorkflowRef,
} from "./requests.ts";
import { rowBefore } from "./row-after.ts";
import { isSettled, type Waiters, type WaitOptions } from "./waiters.ts";

interface Parts {
  readonly ports: EnginePorts;
  readonly commits: Commits;
  readonly catalog: Catalog;
  readonly dispatcher: Dispatcher;
  /** Whether a worker is connected that could unwind an execution. */
  readonly hasWorker: (row: ExecutionRow) => boolean;
  readonly waiters: Waiters;
  readonly followers: Followers;
  readonly calls: CallResolver;
  readonly inputs: LargeInputs;
}

const UNCHECKED = { schema: null, root: "body" };

/** What callers do with executions: start, resume, cancel, signal, fork, read, wait, follow. */
export class Executions {
  readonly #ports: EnginePorts;
  readonly #store: Store;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#ports = parts.ports;
    this.#store = parts.ports.store;
  }

  /**
   * Creates an execution; with a free worker the same commit gives it to that worker. With an
   * idempotency key that is known, nothing is created: `existing` says so.
   */
  start(request: StartRequest): Promise<Changed> {
    return this.#start(this.#ports.ids(), request);
  }

  async startAndWait(request: StartRequest, options?: WaitOptions): Promise<ExecutionRow> {
    const execution_id = this.#ports.ids();
    const wait = this.#parts.waiters.open(execution_id);
    try {
      const { row, existing } = await this.#start(execution_id, request);
      return await (existing ? this.wait(row.execution_id, options) : wait.until(row, options));
    } finally {
      wait.close();
    }
  }

  /** Settles once the execution exists, so that a refusal is no stream. */
  async startAndFollow(request: StartRequest, options: FollowOptions = {}): Promise<Follower> {
    const execution_id = this.#ports.ids();
    const { events, detailed } = options;
    const view = { isLast: isSettled, events, detailed };
    const follower = this.#parts.followers.open(execution_id, view);
    try {
      const { row, existing } = await this.#start(execution_id, request);
      if (existing) {
        follower.close();
        return await this.follow({ execution_id: row.execution_id, asRun: true }, options);
      }
      follower.begin(rowBefore(row), 0);
      return this.#limit(follower, options);
    } catch (error) {
      follower.close();
      throw error;
    }
  }

  /** Answers an open pause (EXE-52). */
  async resume(request: ResumeRequest): Promise<Changed> {
    const { execution_id, workflow, pause, by } = request;
    const input =
      request.input instanceof LargeJson
        ? (await this.#parts.inputs.keep(execution_id, request.input, UNCHECKED)).input
        : encodeBody(request.input, "input");
    const { changed } = await this.#parts.commits.change(execution_id, (row) => {
      if (workflow) refuseOther(row, workflow);
      refuseLocal(row);
      const verdict = decideResume(row, { input, pause, by, now: this.#ports.clock() });
      if (verdict instanceof EngineError) throw verdict;
      return verdict;
    });
    return changed;
  }

  async resumeAndWait(request: ResumeRequest, options?: WaitOptions): Promise<ExecutionRow> {
    const wait = this.#parts.waiters.open(request.execution_id);
    try {
      const { row } = await this.resume(request);
      return await wait.until(row, options);
    } finally {
      wait.close();
    }
  }

  async resumeAndFollow(request: ResumeRequest, options: FollowOptions = {}): Promise<Follower> {
    const { execution_id } = request;
    const { events, detailed } = options;
    const view = { isLast: isSettled, events, detailed };
    const follower = this.#parts.followers.open(execution_id, view);
    try {
      const { row, events: written } = await this.resume(request);
      follower.begin(row, row.head - written.length);
      return this.#limit(follower, options);
    } catch (error) {
      follower.close();
      throw error;
    }
  }

  /** Cancels an execution and its children (EXE-21). One that is being cancelled stays as it is. */
  async cancel(request: CancelRequest): Promise<Changed> {
    const { execution_id, workflow, by, reason } = request;
    const { ports, commits } = this.#parts;
    const cancel_timeout_ms = ports.config.executions.cancel_timeout * 1000;
    const { changed } = await commits.change(execution_id, (row) => {
      if (workflow) refuseOther(row, workflow);
      const now = ports.clock();
      const verdict = decideCancel(row, {
        cause: "request",
        by,
        reason,
        cancel_timeout_ms,
        hasWorker: this.#parts.hasWorker,
        now,
      });
      if (verdict instanceof EngineError) throw verdict;
      return verdict;
    });
    return changed;
  }

  /** Cancels for a caller who has gone: there is nobody to tell that it failed, but the log. */
  async cancelForLeaver(execution_id: string, by: string | null): Promise<void> {
    try {
      await this.cancel({ execution_id, by, reason: "the caller left before the answer" });
    } catch (error) {
      // It has ended in the same moment.
      if (error instanceof EngineError && error.code === "execution_finished") return;
      this.#ports.log.error({ err: error, execution_id }, "could not cancel for a caller who left");
    }
  }

  async cancelAndWait(request: CancelRequest, options?: WaitOptions): Promise<ExecutionRow> {
    const wait = this.#parts.waiters.open(request.execution_id);
    try {
      const { row } = await this.cancel(request);
      return await wait.until(row, options);
    } finally {
      wait.close();
    }
  }

  /** Gives an execution a label, in whatever state it is. */
  async rename({ execution_id, label }: RenameRequest): Promise<ExecutionRow> {
    const { changed } = await this.#parts.commits.change(execution_id, (row) => {
      if (row.name === label) return undefined;
      return { events: [], patch: { name: label, updated_at: this.#ports.clock() } };
    });
    return changed.row;
  }

  /** Sends a signal (EXE-53); answers the `seq` under which it was recorded. */
  async signal({ execution_id, name, payload, by }: SignalRequest): Promise<number> {
    refuseSignalName(name);
    const encoded =
      payload instanceof LargeJson ? encodedLarge(payload) : encodeBody(payload, "payload");
    const limits = this.#ports.config.executions;
    const { changed } = await this.#parts.commits.change(execution_id, (row) => {
      // One of a local run, too: its process looks what others write (EXE-15).
      const now = this.#ports.clock();
      const verdict = decideSignal(row, { name, payload: encoded, by, now, limits });
      if (verdict instanceof EngineError) throw verdict;
      return verdict;
    });
    const signaled = changed.events.find(({ type }) => type === "WORKFLOW_SIGNALED");
    if (!signaled) throw new Error(`a signal of execution ${execution_id} was not recorded`);
    return signaled.seq;
  }

  /** Creates a copy that goes on from a place in the log, or begins anew (EXE-87). */
  async fork(request: ForkRequest): Promise<Changed> {
    const { execution_id, input, ...rest } = request;
    const source = await this.get(execution_id);
    refuseLocal(source);
    const hasCut = request.from_seq !== undefined || request.from_call !== undefined;
    if (hasCut && input !== undefined) {
      const message =
        "a fork with a cut keeps the input that its log was made with; leave out input, or the cut";
      throw invalidField("body.input", message);
    }
    const isWhole = input === undefined || input instanceof LargeJson;
    const encoded = isWhole ? input : encodeBody(input, "input");
    const { version, label } = request;
    const fork = { ...rest, input: encoded, version, label };
    const fresh = await forkOf(source, fork, this.#parts);
    return this.#create(fresh);
  }

  /** Waits for the end or a pause, as a sync run does. */
  async wait(execution_id: string, options?: WaitOptions): Promise<ExecutionRow> {
    const wait = this.#parts.waiters.open(execution_id);
    try {
      return await wait.until(await this.get(execution_id), options);
    } finally {
      wait.close();
    }
  }

  /**
   * Follows an execution that exists to its end, also through pauses (EXE-93), or as a run is
   * followed, to its end or next pause.
   */
  async follow(request: FollowRequest, options: FollowOptions = {}): Promise<Follower> {
    const { execution_id, after, asRun = false } = request;
    const { detailed, events } = options;
    const { followers } = this.#parts;
    const isLast = asRun ? isSettled : ({ state }: ExecutionRow) => isTerminal(state);
    const follower = followers.open(execution_id, { isLast, events, detailed });
    try {
      const row = await this.get(execution_id);
      if (after === undefined) await followNow(this.#store, follower, row);
      else await followAfter(followers.pages(execution_id), follower, row, { after, events });
      return this.#limit(follower, options);
    } catch (error) {
      follower.close();
      throw error;
    }
  }

  async history(execution_id: string): Promise<History> {
    const row = await this.get(execution_id);
    const [shown, log] = await Promise.all([this.shown(row), this.logUpTo(row)]);
    return toHistory({ ...row, input: shown.input }, log);
  }

  /** The whole value of one event as plain JSON, wherever it is kept. */
  eventValue(execution_id: string, seq: number): Promise<Json> {
    return readValue(this.#ports, execution_id, seq);
  }

  /** The row as records show it: with the values themselves, also those kept outside the log. */
  shown(row: ExecutionRow): Promise<ExecutionRow> {
    return resolveValues(row, this.#ports.values);
  }

  /** @param workflow When given, an execution of another workflow is not found. */
  async get(execution_id: string, workflow?: WorkflowRef): Promise<ExecutionRow> {
    const row = await this.#store.findExecution(execution_id);
    if (!row) throw notFound("execution", execution_id);
    if (workflow) refuseOther(row, workflow);
    return row;
  }

  list(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    return this.#store.listExecutions(filter);
  }

  /** A page of the log, oldest first; the whole log without a page. */
  log(execution_id: string, page?: LogPage): Promise<readonly LoggedEvent[]> {
    return this.#store.readLog(execution_id, page);
  }

  /** A page of the events of some types. */
  eventsOf(execution_id: string, filter: EventFilter): Promise<EventPage> {
    return this.#store.listEvents(execution_id, filter);
  }

  /** The log as it was when the row was read. */
  async logUpTo({ execution_id, head }: ExecutionRow): Promise<readonly LoggedEvent[]> {
    return (await this.#store.readLog(execution_id)).filter(({ event }) => event.seq <= head);
  }

  async #start(execution_id: string, request: StartRequest): Promise<Changed> {
    const { namespace, workflow, label, trigger, by, priority, start_at } = request;
    const given =
      request.input instanceof LargeJson ? request.input : encodeBody(request.input, "input");
    const key = keyOf(request);
    // What is there is answered for whatever became of its workflow, of its schema, of its worker.
    const holder = key === undefined ? undefined : await this.#store.findByKey(key);
    if (holder) {
      refuseMismatch(await this.#hashOf(given, request), holder);
      const recorded_at = this.#ports.clock();
      return { row: holder, events: [], recorded_at, others: [], existing: true };
    }
    const found = await this.#parts.catalog.resolve(namespace, workflow, request.version);
    const { input, request_hash } = await this.#kept(execution_id, given, {
      schema: found.record.input_schema,
      root: "body",
      ...(key !== undefined && { hashedWith: request.version ?? null }),
    });
    const pin = pinTo(found);
    const unique = key !== undefined && request_hash !== undefined && { key, request_hash };
    const changed = await this.#create({
      ...pin,
      execution_id,
      name: label ?? null,
      input,
      trigger,
      by,
      ...(priority !== undefined && { priority }),
      ...(unique && { unique }),
      not_before: start_at ?? null,
      park_ttl_ms: parkTtlMs(this.#ports.config, request.park_ttl),
      requirements: await this.#requirements(pin.requirements, request),
      seed: this.#ports.seed(),
      now: this.#ports.clock(),
    });
    if (unique && changed.existing) refuseMismatch(unique.request_hash, changed.row);
    return changed;
  }

  #hashOf(given: Encoded | LargeJson, { version }: StartRequest): Promise<string> | string {
    if (given instanceof LargeJson) return this.#parts.inputs.hashOf(given, version ?? null);
    return requestHash(given, version ?? null);
  }

  /** Checks an input; one that came as a large body is kept outside of the row. */
  async #kept(execution_id: string, given: Encoded | LargeJson, check: Check): Promise<Kept> {
    if (given instanceof LargeJson) return this.#parts.inputs.keep(execution_id, given, check);
    const { schema, root, hashedWith } = check;
    await checkInput(schema, given, root);
    const request_hash = hashedWith === undefined ? undefined : requestHash(given, hashedWith);
    return { input: given, request_hash };
  }

  /** What was kept for an execution that does not come to be goes again. */
  async #create(fresh: NewExecution): Promise<Changed> {
    const isKept = referenceOf(fresh.input) !== undefined;
    const { dispatcher, inputs } = this.#parts;
    if (!isKept) return dispatcher.create(fresh);
    try {
      const changed = await dispatcher.create(fresh);
      if (changed.existing) await inputs.forget(fresh.execution_id);
      return changed;
    } catch (error) {
      if (isRefusal(error)) await inputs.forget(fresh.execution_id);
      throw error;
    }
  }

  /** A required name that never registered is a mistake; one that is offline is waited for (DSP-7). */
  async #requirements(
    of: Requirements | null,
    { required_worker: worker, preferred_worker: prefers }: StartRequest,
  ): Promise<Requirements | null> {
    if (worker === undefined) return prefers === undefined ? of : { ...of, prefers };
    if (await this.#store.findWorker(worker)) return { ...of, worker };
    throw new EngineError("unknown_worker", `no worker ${worker} has ever registered`);
  }

  #limit(follower: Follower, { timeoutMs, signal }: FollowOptions): Follower {
    if (timeoutMs !== undefined) {
      follower.onClosed(this.#ports.setTimer(() => follower.end(), timeoutMs));
    }
    signal?.addEventListener("abort", () => follower.close(), { once: true });
    if (signal?.aborted) follower.close();
    return follower;
  }
}

function encodeBody(body: Json, root: "input" | "payload"): Json {
  try {
    return encode(body, root);
  } catch (error) {
    if (!(error instanceof UnencodableValue)) throw error;
    throw invalidField("body", error.message);
  }
}

function refuseOther(row: ExecutionRow, workflow: WorkflowRef): void {
  if (row.namespace === workflow.namespace && row.workflow === workflow.name) return;
  throw notFound("execution", row.execution_id);
}

function refuseLocal({ version, execution_id }: ExecutionRow): void {
  if (version !== null) return;
  throw new EngineError(
    "local_execution",
    `execution ${execution_id} belongs to a local run; continue it in the process that runs it`,
  );
}

/** Names beginning `engine.` are kept for signals of the engine's own (EXE-8). */
function refuseSignalName(name: string): void {
  if (!isName(name)) throw invalidField("path.name", `must be a name: ${NAME_RULE}; got "${name}"`);
  if (!name.startsWith("engine.")) return;
  throw invalidField(
    "path.name",
    `signals beginning "engine." belong to the engine; rename "${name}"`,
  );
}
