import {
  decideCancel,
  decideResume,
  decideSignal,
  EngineError,
  type ExecutionRow,
  encode,
  type History,
  invalidField,
  isName,
  isTerminal,
  type Json,
  NAME_RULE,
  notFound,
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
import type { CallResolver } from "../children/call-resolver.ts";
import type { Commits } from "../commits.ts";
import type { InnerPorts } from "../engine-ports.ts";
import type { Lineages } from "../hooks/lineages.ts";
import type { Starts } from "../starts/starts.ts";
import { readValue } from "../values/read-value.ts";
import { resolveValues } from "../values/resolve-values.ts";
import { followAfter, lastStateSeq } from "./follow-from.ts";
import type { Follower } from "./follower.ts";
import type { Followers } from "./followers.ts";
import { forkOf } from "./fork.ts";
import { keyOf } from "./idempotency.ts";
import { encodedLarge, type LargeInputs } from "./large-inputs.ts";
import type { PrincipalRefs, Who } from "./principal-refs.ts";
import type {
  CancelRequest,
  FollowOptions,
  FollowRequest,
  ForkRequest,
  PrincipalRequest,
  ResumeRequest,
  SignalRequest,
  StartRequest,
  WorkflowRef,
} from "./requests.ts";
import { rowBefore } from "./row-after.ts";
import { isSettled, type Waiters, type WaitOptions } from "./waiters.ts";

interface Parts {
  readonly ports: InnerPorts;
  readonly commits: Commits;
  readonly catalog: Catalog;
  readonly starts: Starts;
  readonly lineages: Pick<Lineages, "of">;
  /** Whether a worker is connected that could unwind an execution. */
  readonly hasWorker: (row: ExecutionRow) => boolean;
  readonly waiters: Waiters;
  readonly followers: Followers;
  readonly calls: CallResolver;
  readonly inputs: LargeInputs;
  readonly refs: PrincipalRefs;
}

/** How an execution is by now, and whether it was there before the start (EXE-84). */
export interface Settled {
  readonly row: ExecutionRow;
  readonly existing: boolean;
}

export interface Followed {
  readonly follower: Follower;
  readonly existing: boolean;
}

const UNCHECKED = { schema: null, root: "body" };

/** What callers do with executions: start, resume, cancel, signal, fork, read, wait, follow. */
export class Executions {
  readonly #ports: InnerPorts;
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

  startAndWait(request: StartRequest, options?: WaitOptions): Promise<Settled> {
    const execution_id = this.#ports.ids();
    return this.#andWait(execution_id, () => this.#start(execution_id, request), options);
  }

  /** Settles once the execution exists, so that a refusal is not answered with a stream. */
  startAndFollow(request: StartRequest, options?: FollowOptions): Promise<Followed> {
    const execution_id = this.#ports.ids();
    return this.#andFollow(execution_id, () => this.#start(execution_id, request), options);
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

  resumeAndWait(request: ResumeRequest, options?: WaitOptions): Promise<Settled> {
    return this.#andWait(request.execution_id, () => this.resume(request), options);
  }

  resumeAndFollow(request: ResumeRequest, options?: FollowOptions): Promise<Followed> {
    return this.#andFollow(request.execution_id, () => this.resume(request), options);
  }

  /** Cancels an execution and its children (EXE-21). Nothing changes where that was done before. */
  async cancel(request: CancelRequest): Promise<Changed> {
    const { execution_id, workflow, by, reason } = request;
    const { ports, commits, hasWorker } = this.#parts;
    const cancel_timeout_ms = ports.config.executions.cancel_timeout * 1000;
    const cancel = { cause: "request", by, reason, cancel_timeout_ms, hasWorker } as const;
    const { changed } = await commits.change(execution_id, (row) => {
      if (workflow) refuseOther(row, workflow);
      const verdict = decideCancel(row, { ...cancel, now: ports.clock() });
      if (verdict instanceof EngineError) throw verdict;
      return verdict;
    });
    return changed;
  }

  /** Cancels for a caller who has gone. A failure is told to the log, as nobody else is there. */
  async cancelForLeaver(execution_id: string, by: string | null): Promise<void> {
    try {
      await this.cancel({ execution_id, by, reason: "the caller left before the answer" });
    } catch (error) {
      // The execution has ended in the same moment.
      if (error instanceof EngineError && error.code === "execution_finished") return;
      this.#ports.log.error({ err: error, execution_id }, "could not cancel for a caller who left");
    }
  }

  cancelAndWait(request: CancelRequest, options?: WaitOptions): Promise<Settled> {
    return this.#andWait(request.execution_id, () => this.cancel(request), options);
  }

  /** Gives an execution a label, in whatever state it is; null takes the label away. */
  async rename(execution_id: string, label: string | null): Promise<ExecutionRow> {
    const { changed } = await this.#parts.commits.change(execution_id, (row) => {
      if (row.name === label) return undefined;
      return { events: [], patch: { name: label, updated_at: this.#ports.clock() } };
    });
    return changed.row;
  }

  /**
   * Gives an execution the rights of another principal (AUTH-37).
   *
   * @throws EngineError `conflict` once it has ended.
   */
  async setPrincipal({ execution_id, run_as, from }: PrincipalRequest): Promise<ExecutionRow> {
    const { changed } = await this.#parts.commits.change(execution_id, (row) => {
      refuseLocal(row);
      if (isTerminal(row.state)) throw ended(row);
      if (row.run_as === run_as || (from !== undefined && row.run_as !== from)) return undefined;
      return { events: [], patch: { run_as, updated_at: this.#ports.clock() } };
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
      // Local runs take signals too: their process looks for what others write (EXE-15).
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
    const { input } = request;
    const source = await this.get(request.execution_id);
    refuseLocal(source);
    const hasCut = request.from_seq !== undefined || request.from_call !== undefined;
    if (hasCut && input !== undefined) {
      const message =
        "a fork with a cut keeps the input that its log was made with; leave out input, or the cut";
      throw invalidField("body.input", message);
    }
    const isWhole = input === undefined || input instanceof LargeJson;
    const encoded = isWhole ? input : encodeBody(input, "input");
    const start = await forkOf(source, { ...request, input: encoded }, this.#parts);
    return this.#parts.starts.start(start);
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
   * Follows an existing execution to its end, through pauses (EXE-93), or as a run is followed: to its
   * end or next pause.
   */
  async follow(request: FollowRequest, options: FollowOptions = {}): Promise<Follower> {
    const { execution_id, after, asRun = false } = request;
    const { events } = options;
    const { followers } = this.#parts;
    const isLast = asRun ? isSettled : ({ state }: ExecutionRow) => isTerminal(state);
    const follower = followers.open(execution_id, { ...options, isLast });
    try {
      const row = await this.get(execution_id);
      if (after === undefined) follower.beginNow(row, await lastStateSeq(this.#store, row));
      else await followAfter(followers.pages(execution_id), follower, row, { after, events });
      return this.#limit(follower, options);
    } catch (error) {
      follower.close();
      throw error;
    }
  }

  /** @param masked How many parts of a value readers do not see. */
  async history(execution_id: string, masked?: (value: unknown) => number): Promise<History> {
    const row = await this.get(execution_id);
    const [shown, log] = await Promise.all([this.shown(row), this.logUpTo(row)]);
    return toHistory({ ...row, input: shown.input }, log, masked);
  }

  eventValue(execution_id: string, seq: number): Promise<Json> {
    return readValue(this.#ports, execution_id, seq);
  }

  /** The row as records show it: with its values, also those that are kept outside the log. */
  shown(row: ExecutionRow): Promise<ExecutionRow> {
    return resolveValues(row, this.#ports.values);
  }

  /** Who started these, and whose rights they have, as their records show it. */
  who(...rows: readonly ExecutionRow[]): Who | Promise<Who> {
    const { refs } = this.#parts;
    const [row] = rows;
    return (rows.length === 1 && row ? refs.known(row) : undefined) ?? refs.of(rows);
  }

  /** @param workflow When given, an execution of another workflow is not found. */
  async get(execution_id: string, workflow?: WorkflowRef): Promise<ExecutionRow> {
    const row = await this.#store.executions.find(execution_id);
    if (!row) throw notFound("execution", execution_id);
    if (workflow) refuseOther(row, workflow);
    return row;
  }

  list(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    return this.#store.executions.list(filter);
  }

  /** A page of the log, oldest first; the whole log without a page. */
  log(execution_id: string, page?: LogPage): Promise<readonly LoggedEvent[]> {
    return this.#store.log.read(execution_id, page);
  }

  /** A page of the events of some types. */
  eventsOf(execution_id: string, filter: EventFilter): Promise<EventPage> {
    return this.#store.log.ofTypes(execution_id, filter);
  }

  /** The log, or a page of it, as it was when the row was read. */
  async logUpTo(
    { execution_id, head }: ExecutionRow,
    page?: LogPage,
  ): Promise<readonly LoggedEvent[]> {
    const log = await this.log(execution_id, page);
    return log.filter(({ event }) => event.seq <= head);
  }

  async #start(execution_id: string, request: StartRequest): Promise<Changed> {
    const { input: body } = request;
    const input = body instanceof LargeJson ? body : encodeBody(body, "input");
    const text = keyOf(request);
    const key = text === undefined ? undefined : { text };
    const { via = null, ...rest } = request;
    const parent = via === null ? undefined : await this.#parentOf(via);
    return this.#parts.starts.start({
      ...rest,
      ...(parent && { parent, last_worker: parent.worker }),
      hook: parent ? parent.hook : (value) => this.#parts.lineages.of(value, request.by),
      execution_id,
      of: request,
      input,
      root: "body",
      key,
    });
  }

  /** The execution that starts another one with its token. */
  async #parentOf(via: string) {
    const { execution_id, depth, worker, hook } = await this.get(via);
    const { max_depth } = this.#ports.config.executions;
    const of = { execution_id, depth, worker, hook };
    if (depth < max_depth) return { ...of, call_id: null, detached: false };
    const message = `execution ${execution_id} is ${depth} deep already, as executions.max_depth says`;
    throw new EngineError("conflict", message);
  }

  /** Waits from before the change on, so that no commit is missed. */
  async #andWait(
    execution_id: string,
    change: () => Promise<Changed>,
    options?: WaitOptions,
  ): Promise<Settled> {
    const wait = this.#parts.waiters.open(execution_id);
    try {
      const { row, existing = false } = await change();
      if (existing) return { row: await this.wait(row.execution_id, options), existing };
      return { row: await wait.until(row, options), existing };
    } finally {
      wait.close();
    }
  }

  async #andFollow(
    execution_id: string,
    change: () => Promise<Changed>,
    options: FollowOptions = {},
  ): Promise<Followed> {
    const view = { ...options, isLast: isSettled };
    const follower = this.#parts.followers.open(execution_id, view);
    try {
      const { row, events, existing = false } = await change();
      if (existing) {
        follower.close();
        const there = { execution_id: row.execution_id, asRun: true };
        return { follower: await this.follow(there, options), existing };
      }
      const seen = row.head - events.length;
      follower.begin(seen === 0 ? rowBefore(row) : row, seen);
      return { follower: this.#limit(follower, options), existing };
    } catch (error) {
      follower.close();
      throw error;
    }
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

function ended({ execution_id, state }: ExecutionRow): EngineError {
  const message = `execution ${execution_id} is ${state}: nobody can take it over any more`;
  return new EngineError("conflict", message, { details: { state } });
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
