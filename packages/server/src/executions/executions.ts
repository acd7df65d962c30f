import {
  decideResume,
  EngineError,
  type ExecutionRow,
  encode,
  type Json,
  notFound,
  type Trigger,
  UnencodableValue,
} from "@engine/contract";
import type { Changed, ExecutionFilter, LoggedEvent, LogPage, Page, Store } from "@engine/store";
import type { Catalog } from "../catalog/catalog.ts";
import type { Commits } from "../commits.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Sessions } from "../workers/sessions.ts";
import type { Follower } from "./follower.ts";
import type { Followers } from "./followers.ts";
import { rowBefore } from "./row-after.ts";
import type { Waiters, WaitOptions } from "./waiters.ts";

export interface StartRequest {
  readonly namespace: string;
  readonly workflow: string;
  /** The latest when absent. */
  readonly version?: number | undefined;
  /** Plain JSON. */
  readonly input: Json;
  readonly label?: string | undefined;
  readonly trigger: Trigger;
  readonly by: string | null;
}

export interface ResumeRequest {
  /** When given, an execution of another workflow is not found (EXE-79). */
  readonly workflow?: { readonly namespace: string; readonly name: string } | undefined;
  readonly execution_id: string;
  /** Plain JSON. */
  readonly input: Json;
  /** Name or `task_call_id` of the pause. */
  readonly pause?: string | undefined;
  readonly by: string | null;
}

export interface FollowOptions {
  /** Records in the frames carry their events. */
  readonly detailed?: boolean | undefined;
  /** The stream ends after this time, whatever the execution does. */
  readonly timeoutMs?: number | undefined;
  /** Fires when the reader has left. */
  readonly signal?: AbortSignal | undefined;
}

interface Parts {
  readonly ports: EnginePorts;
  readonly commits: Commits;
  readonly catalog: Catalog;
  readonly dispatcher: Dispatcher;
  readonly sessions: Sessions;
  readonly waiters: Waiters;
  readonly followers: Followers;
}

/** What callers do with executions: start, resume, read, wait, follow. */
export class Executions {
  readonly #ports: EnginePorts;
  readonly #store: Store;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#ports = parts.ports;
    this.#store = parts.ports.store;
  }

  /** Creates an execution; with a free worker the same commit gives it to that worker. */
  start(request: StartRequest): Promise<Changed> {
    return this.#start(this.#ports.ids(), request);
  }

  async startAndWait(request: StartRequest, options?: WaitOptions): Promise<ExecutionRow> {
    const execution_id = this.#ports.ids();
    const wait = this.#parts.waiters.open(execution_id);
    try {
      const { row } = await this.#start(execution_id, request);
      return await wait.until(row, options);
    } finally {
      wait.close();
    }
  }

  /** Settles once the execution exists, so that a refusal is no stream. */
  async startAndFollow(request: StartRequest, options: FollowOptions = {}): Promise<Follower> {
    const execution_id = this.#ports.ids();
    const follower = this.#parts.followers.open(execution_id);
    try {
      const { row } = await this.#start(execution_id, request);
      follower.begin(rowBefore(row), 0, options.detailed ? [] : undefined);
      return this.#limit(follower, options);
    } catch (error) {
      follower.close();
      throw error;
    }
  }

  /** Answers an open pause (EXE-52). A worker that runs the execution is told at once (EXE-19). */
  async resume(request: ResumeRequest): Promise<Changed> {
    const { execution_id, workflow, pause, by } = request;
    const input = encodeInput(request.input);
    const { changed } = await this.#parts.commits.change(execution_id, (row) => {
      if (workflow) refuseOther(row, workflow);
      if (row.version === null) throw localExecution(execution_id);
      const verdict = decideResume(row, { input, pause, by, now: this.#ports.clock() });
      if (verdict instanceof EngineError) throw verdict;
      return verdict;
    });
    this.#parts.sessions.tellOwner(changed);
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
    const follower = this.#parts.followers.open(execution_id);
    try {
      const { row, events } = await this.resume(request);
      const seen = row.head - events.length;
      const log = options.detailed
        ? (await this.#store.readLog(execution_id)).filter(({ event }) => event.seq <= seen)
        : undefined;
      follower.begin(row, seen, log);
      return this.#limit(follower, options);
    } catch (error) {
      follower.close();
      throw error;
    }
  }

  /** @param workflow When given, an execution of another workflow is not found. */
  async get(
    execution_id: string,
    workflow?: { readonly namespace: string; readonly name: string },
  ): Promise<ExecutionRow> {
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

  async #start(execution_id: string, request: StartRequest): Promise<Changed> {
    const { namespace, workflow, label, trigger, by } = request;
    const input = encodeInput(request.input);
    const { record, module_hash } = await this.#parts.catalog.resolve(
      namespace,
      workflow,
      request.version,
    );
    return this.#parts.dispatcher.create({
      execution_id,
      namespace,
      workflow,
      version: record.version,
      module_hash,
      name: label ?? null,
      input,
      trigger,
      by,
      now: this.#ports.clock(),
    });
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

function encodeInput(input: Json): Json {
  try {
    return encode(input, "input");
  } catch (error) {
    if (!(error instanceof UnencodableValue)) throw error;
    throw new EngineError("invalid_input", error.message, {
      details: { issues: [{ path: "body", message: error.message }] },
    });
  }
}

function refuseOther(
  row: ExecutionRow,
  workflow: { readonly namespace: string; readonly name: string },
): void {
  if (row.namespace === workflow.namespace && row.workflow === workflow.name) return;
  throw notFound("execution", row.execution_id);
}

function localExecution(execution_id: string): EngineError {
  return new EngineError(
    "local_execution",
    `execution ${execution_id} belongs to a local run; continue it in the process that runs it`,
  );
}
