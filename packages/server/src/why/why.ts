import {
  type Event,
  type ExecutionRow,
  type Failure,
  formatInstant,
  isOutcome,
  isQueued,
  isTerminal,
  type LimitDenial,
  limitDetails,
  type NearWorker,
  type OpenWait,
  type State,
  toPlain,
  type Why,
  type WhyReason,
} from "@engine/contract";
import type { Outlook, RejectedOutlook } from "../dispatch/outlook.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { ROUTING_CONSTRAINT } from "../gate/fits.ts";

/** Newest events that are looked through for calls that are open. */
const LATEST_EVENTS = 1_000;
/** Children that are shown with a summary of their own. */
const MOST_CHILDREN = 10;
const MOST_CALLS = 20;
const NEAREST = 3;

/** The worker that has an execution, as far as a server can tell. */
export interface Owner {
  readonly name: string;
  readonly stuck_threads: number;
  /** When its stream closed, milliseconds since 1970; null while it is connected. */
  readonly disconnected_at: number | null;
}

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "clock" | "config">;
  /** What the gate makes of an execution now. */
  readonly outlook: (row: ExecutionRow) => Outlook | Promise<Outlook>;
  readonly owner: (row: ExecutionRow) => Promise<Owner | undefined>;
}

/** Whether the caller may read what a permission says. */
export type MayRead = (permission: string) => boolean;

/** Says why an execution waits (WHY-1). It reads, and asks the gate that decides; nothing is guessed. */
export class Whys {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async of(row: ExecutionRow, mayRead: MayRead): Promise<Why> {
    const { reasons, outlook } = await this.#reasons(row, mayRead);
    const { eligible = [], rejected = [] } = outlook ?? {};
    const matching = rejected.filter(({ isMatching }) => isMatching).length + eligible.length;
    return {
      execution_id: row.execution_id,
      state: row.state,
      since: formatInstant(row.updated_at),
      summary: summaryOf(row, reasons),
      reasons: [...reasons],
      workers: {
        connected: eligible.length + rejected.length,
        matching,
        free: eligible.length,
      },
      nearest: matching === 0 ? nearestOf(rejected, mayRead) : [],
      queue: { ahead: outlook?.ahead ?? 0 },
    };
  }

  async #reasons(
    row: ExecutionRow,
    mayRead: MayRead,
  ): Promise<{ readonly reasons: readonly WhyReason[]; readonly outlook?: Outlook }> {
    const { state, session, version, not_before } = row;
    if (isTerminal(state)) return { reasons: [finished(row)] };
    if (version === null) return { reasons: [localRun(row)] };
    if (session !== null) return { reasons: [await this.#owned(row, mayRead)] };
    if (not_before !== null && state !== "PAUSED") return { reasons: [delayed(row)] };
    if (!isQueued(row)) return { reasons: await this.#parked(row, mayRead) };
    const outlook = await this.#parts.outlook(row);
    const { limited } = outlook;
    if (limited) return { reasons: [await this.#limited(row, limited, outlook, mayRead)], outlook };
    return { reasons: dispatchReasons(row, outlook, mayRead), outlook };
  }

  /** A limit that is full, with those who have its places as far as the caller may read of them. */
  async #limited(
    row: ExecutionRow,
    limited: LimitDenial,
    { code, message }: Outlook,
    mayRead: MayRead,
  ): Promise<WhyReason> {
    const holders: string[] = [];
    for (const id of limited.reason === "concurrency_limit" ? limited.holders : []) {
      const holder = await this.#parts.ports.store.executions.find(id);
      if (!holder || !mayRead(`workflow:${holder.namespace}:${holder.workflow}:read`)) continue;
      holders.push(id);
    }
    const isHeld = limited.reason === "concurrency_limit";
    const details = { ...limitDetails(limited), ...(isHeld && { holders }) };
    return reason(code, { message, since: row.queued_at, details });
  }

  async #owned(row: ExecutionRow, mayRead: MayRead): Promise<WhyReason> {
    const { ports } = this.#parts;
    const owner = await this.#parts.owner(row);
    const name = row.worker ?? "";
    const shown = mayRead(`worker:${name}:read`) ? name : null;
    const worker = shown === null ? "a worker" : `worker ${shown}`;
    if (owner?.disconnected_at != null) {
      const { disconnect_grace } = ports.config.workers;
      const until = formatInstant(owner.disconnected_at + disconnect_grace * 1000);
      return reason("owner_disconnected", {
        message: `${worker} has it and lost its connection; if it is not back by ${until}, another one goes on`,
        since: owner.disconnected_at,
        details: { worker: shown, grace_ends_at: until },
      });
    }
    if (row.state === "CANCELLING") {
      const deadline = row.cancelling ? formatInstant(row.cancelling.by) : null;
      return reason("cancelling", {
        message: `${worker} is undoing what it did; it ends by ${deadline} in any case`,
        since: row.updated_at,
        details: { worker: shown, deadline },
      });
    }
    if (row.state === "CLAIMED") {
      return reason("starting", {
        message: `${worker} was given it and has not recorded anything yet`,
        since: row.updated_at,
        details: { worker: shown, assigned_ago_seconds: this.#ago(row.updated_at) },
      });
    }
    const calls = await this.#openCalls(row);
    const doing = calls.length === 0 ? "its own code" : calls.map(({ name }) => name).join(", ");
    return reason("running", {
      message: `it runs on ${worker}: ${doing}`,
      since: row.started_at ?? row.updated_at,
      details: {
        worker: shown,
        generation: row.generation,
        open_calls: calls.map((call) => ({ ...call })),
        last_checkpoint_ago_seconds: this.#ago(row.updated_at),
        stuck_threads: owner?.stuck_threads ?? 0,
      },
    });
  }

  /** Calls of tasks that have begun and have no outcome, the oldest first, of the end of the log. */
  async #openCalls({
    execution_id,
    head,
  }: ExecutionRow): Promise<{ task_call_id: string; name: string; since: string }[]> {
    const log = await this.#parts.ports.store.log.read(execution_id, {
      after: Math.max(0, head - LATEST_EVENTS),
    });
    const open = new Map<string, Event>();
    for (const { event } of log) {
      if (event.type === "TASK_STARTED") open.set(event.source_id, event);
      else if (isOutcome(event.type)) open.delete(event.source_id);
    }
    return [...open.values()]
      .slice(0, MOST_CALLS)
      .map(({ source_id, name, time }) => ({ task_call_id: source_id, name, since: time }));
  }

  async #parked(row: ExecutionRow, mayRead: MayRead): Promise<readonly WhyReason[]> {
    const { waits } = row;
    const children = waits.filter(({ kind }) => kind === "child");
    const others = waits.filter(({ kind }) => kind !== "child").map((wait) => waiting(row, wait));
    if (children.length === 0) return others;
    return [...others, await this.#children(children, mayRead)];
  }

  async #children(waits: readonly OpenWait[], mayRead: MayRead): Promise<WhyReason> {
    const ids = waits.flatMap(({ execution_id }) => execution_id ?? []);
    const shown: { execution_id: string; state: State; workflow: string; summary: string }[] = [];
    for (const id of ids.slice(0, MOST_CHILDREN)) {
      const child = await this.#parts.ports.store.executions.find(id);
      if (!child || !mayRead(`workflow:${child.namespace}:${child.workflow}:read`)) continue;
      const { reasons } = await this.#reasons({ ...child, waits: withoutChildren(child) }, mayRead);
      const workflow = `${child.namespace}/${child.workflow}`;
      const summary = reasons.length > 0 ? summaryOf(child, reasons) : WAITS_FOR_CHILDREN;
      shown.push({ execution_id: id, state: child.state, workflow, summary });
    }
    const what = ids.length === 1 ? "the end of a child" : `the ends of ${ids.length} children`;
    const first = shown[0];
    const which = first
      ? `, such as ${first.workflow} ${first.execution_id}: ${first.summary}`
      : "";
    return reason("child", {
      message: `it waits for ${what}${which}`,
      since: Math.min(...waits.map(({ since }) => since)),
      details: { count: ids.length, children: shown },
    });
  }

  #ago(since: number): number {
    return Math.max(0, this.#parts.ports.clock() - since) / 1000;
  }
}

const WAITS_FOR_CHILDREN = "it waits for children of its own";

/** A child's children are not followed further: each has its own answer. */
function withoutChildren({ waits }: ExecutionRow): readonly OpenWait[] {
  return waits.filter(({ kind }) => kind !== "child");
}

interface Said {
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly since: number | null;
  readonly details?: WhyReason["details"];
}

function reason(code: WhyReason["code"], { message, since, details = {} }: Said): WhyReason {
  return { code, message, since: since === null ? null : formatInstant(since), details };
}

function finished(row: ExecutionRow): WhyReason {
  const { state, failure, finished_at, output } = row;
  const message =
    state === "COMPLETED"
      ? "it has completed"
      : state === "CANCELLED"
        ? "it was cancelled"
        : `it has failed with ${(failure as Failure | null)?.type ?? "an error"}`;
  const details = {
    state,
    ...(state === "COMPLETED" && { output: toPlain(output) }),
    ...(failure && { error: { type: failure.type, message: failure.message } }),
  };
  return reason("finished", { message, since: finished_at, details });
}

function localRun(row: ExecutionRow): WhyReason {
  return reason("local_run", {
    message:
      "it is a local run: no server gives it to a worker; the process that began it goes on with it",
    since: row.updated_at,
  });
}

function delayed({ not_before, losses, updated_at }: ExecutionRow): WhyReason {
  const until = formatInstant(not_before ?? 0);
  const last = losses.at(-1);
  const message = last
    ? `workers lost it ${losses.length === 1 ? "once" : `${losses.length} times`}, the last time by ${last.reason}; it is tried again at ${until}`
    : `it was started for ${until}; nobody gets it before`;
  const details = {
    until,
    cause: last ? "losses" : "start_at",
    ...(last && { losses: losses.length, last_reason: last.reason }),
  };
  return reason("delayed", { message, since: updated_at, details });
}

function waiting(row: ExecutionRow, wait: OpenWait): WhyReason {
  const { kind, name, since, task_call_id } = wait;
  const until = wait.until === undefined ? null : formatInstant(wait.until);
  const { namespace, workflow, execution_id } = row;
  switch (kind) {
    case "pause": {
      const resume = `/workflows/${namespace}/${workflow}/resume/${execution_id}`;
      const how = `engine execution resume ${execution_id}`;
      const end = until === null ? "" : `, or at ${until}`;
      return reason("paused", {
        message: `it is paused at ${name}; resume it with \`${how}\`${end}`,
        since,
        details: { name, task_call_id, resume_url: resume, until },
      });
    }
    case "approval":
      return reason("waiting_approval", {
        message: `call ${name} waits for somebody to approve it`,
        since,
        details: { task: name, task_call_id, until },
      });
    case "signal":
      return reason("signal", {
        message: `it waits for the signal ${name}; send it with \`engine execution signal ${execution_id} ${name}\``,
        since,
        details: { name, task_call_id, until },
      });
    default: {
      const what = kind === "retry" ? `the next attempt of ${name}` : "a sleep to end";
      return reason("timer", {
        message: `it waits for ${what}, at ${until}`,
        since,
        details: { name, task_call_id, wakes_at: until },
      });
    }
  }
}

/**
 * What the gate says, with the facts that it said it by. Of terms that read routing input no more is said
 * than that nobody meets them: what one worker has would tell what they ask (WHY-2).
 */
function dispatchReasons(
  row: ExecutionRow,
  outlook: Outlook,
  mayRead: MayRead,
): readonly WhyReason[] {
  const { code, rejected } = outlook;
  const hasHidden = row.requirements?.hidden !== undefined;
  if (code !== "no_matching_worker" || !hasHidden) return [dispatchReason(row, outlook, mayRead)];
  const isHiddenUnmet = rejected.every(({ failing }) => failing.includes(ROUTING_CONSTRAINT));
  const isOpenUnmet = rejected.every(({ failing }) => failing.some(isOpen));
  const hidden = reason(code, {
    message: `${ROUTING_CONSTRAINT}: no connected worker satisfies it`,
    since: row.queued_at,
  });
  if (!isOpenUnmet) return [hidden];
  const open = dispatchReason(row, outlook, mayRead);
  return isHiddenUnmet ? [open, hidden] : [open];
}

function isOpen(failing: string): boolean {
  return failing !== ROUTING_CONSTRAINT;
}

function dispatchReason(row: ExecutionRow, outlook: Outlook, mayRead: MayRead): WhyReason {
  const { code, message, rejected, ahead } = outlook;
  const named = rejected
    .filter(({ worker, isMatching }) => isMatching && mayRead(`worker:${worker}:read`))
    .slice(0, MOST_CHILDREN)
    .map(({ worker, takesWork, load, slots, failing }) => ({
      worker,
      takes_work: takesWork,
      load,
      slots,
      missing: [...failing],
    }));
  const since = row.queued_at;
  switch (code) {
    case "workers_unavailable":
    case "workers_full":
      return reason(code, { message, since, details: { workers: named, ahead } });
    case "required_worker": {
      const worker = row.requirements?.worker ?? null;
      if (worker !== null && mayRead(`worker:${worker}:read`))
        return reason(code, { message, since, details: { worker } });
      const hidden =
        "the worker that it must have is not connected or lacks what it needs; start it";
      return reason(code, { message: hidden, since, details: { worker: null } });
    }
    default:
      return reason(code, { message, since });
  }
}

function nearestOf(workers: readonly RejectedOutlook[], mayRead: MayRead): NearWorker[] {
  return workers
    .map(({ worker, failing }) => ({ worker, failing: failing.filter(isOpen) }))
    .filter(({ worker, failing }) => failing.length > 0 && mayRead(`worker:${worker}:read`))
    .toSorted((a, b) => a.failing.length - b.failing.length || (a.worker < b.worker ? -1 : 1))
    .slice(0, NEAREST);
}

const STATES: Readonly<Partial<Record<State, string>>> = {
  COMPLETED: "Completed",
  FAILED: "Failed",
  CANCELLED: "Cancelled",
};

/** One sentence: what it does, or the first thing that it waits for. */
function summaryOf({ state }: Pick<ExecutionRow, "state">, reasons: readonly WhyReason[]): string {
  const [first, ...rest] = reasons;
  if (!first) return `${STATES[state] ?? state}: nothing is known to keep it`;
  const more = rest.length === 0 ? "" : ` (and ${rest.length} more)`;
  return `${STATES[state] ?? state}: ${first.message}${more}`;
}
