import { type CallKind, createdLabel, type Event, isOutcome, referenceOf } from "@engine/contract";
import { parentOf } from "../calls/call-ids.ts";
import type { Host } from "../port.ts";

/** A call the log already knows. */
export interface RecordedCall {
  readonly id: string;
  readonly name: string;
  readonly kind: CallKind;
  readonly started: Event;
  /** Its other events: retries, fallback, rollback (after a cancel behind the outcome), pause. */
  readonly steps: Event[];
  readonly children: RecordedCall[];
  /** Some enclosing call is a user's task: the code that made it need not be deterministic. */
  readonly inTask: boolean;
  outcome: Event | undefined;
  /** A server has said that the delay before its newest attempt is over. */
  isRestOver: boolean;
  /** The code has made this call again. */
  asked: boolean;
}

/** Kinds whose outcome follows from their branches: these run again on replay (see combinator). */
function isCombinator(kind: CallKind): boolean {
  return kind === "parallel" || kind === "map" || kind === "pipeline" || kind === "graph";
}

/**
 * The calls whose wait a server ended because its time had come, by the event that woke the execution.
 * Of a sleep or a signal the outcome says it too; of a delay before a retry nothing else does.
 */
export function restEndedBy({ type, meta }: Event): readonly string[] {
  const { cause, task_call_id } = meta ?? {};
  if (type !== "WORKFLOW_RESUMING" || cause !== "timer") return [];
  return typeof task_call_id === "string" ? [task_call_id] : [];
}

/** The log of an execution, arranged for replay. */
export class Journal {
  readonly calls: Map<string, RecordedCall> = new Map();
  readonly top: RecordedCall[] = [];
  /** What replay hands back, in the order it was recorded: outcomes, and a cancel. */
  readonly outcomes: Event[] = [];
  readonly warned: Set<string> = new Set();
  /** The WORKFLOW_STARTED, once there is one. */
  started: Event | undefined;
  cancelling: Event | undefined;
  hasWarnedLarge = false;
  /** The label that the execution was created with; undefined in logs from before they had it. */
  readonly label: string | null | undefined;
  /** The first WORKFLOW_CLAIMED. */
  #claimed: Event | undefined;
  /** The WORKFLOW_RESUMING no WORKFLOW_RESUMED has followed yet. */
  resuming: Event | undefined;
  /** No copy has said yet that it runs under the newest claim. */
  isClaimUnanswered = false;

  constructor(history: readonly Event[]) {
    this.label = createdLabel(history);
    for (const event of history) this.#add(event);
  }

  /** The execution was cancelled before a copy could say that its code had begun. */
  get isCancelledUnseen(): boolean {
    return this.cancelling !== undefined && this.started === undefined;
  }

  /**
   * What the code's first look at the clock shows. For code that has not said that it runs it is the
   * first claim, which is durable before the code runs: a worker that begins it anew begins at the same
   * instant.
   */
  get clock(): string | undefined {
    const clock = this.started?.meta?.["clock"];
    if (typeof clock === "string") return clock;
    return this.started?.time ?? this.#claimed?.time;
  }

  childrenOf(parent_id: string | null): readonly RecordedCall[] {
    return parent_id === null ? this.top : (this.calls.get(parent_id)?.children ?? []);
  }

  /** A call of the workflow's own code that was recorded but not made again. */
  findUnasked(): RecordedCall | undefined {
    for (const call of this.calls.values()) if (!call.asked && !call.inTask) return call;
    return undefined;
  }

  /**
   * An outcome that came after the history, for a call that the code has not made again yet. True:
   * replay hands it back; inside a task it is found when the call is made.
   */
  addOutcome(event: Event): boolean {
    const { length } = this.outcomes;
    this.#continue(event);
    return this.outcomes.length > length;
  }

  /** A cancel that came after the history, and before the replay began. */
  addCancel(event: Event): void {
    this.cancelling = event;
    this.outcomes.push(event);
  }

  #add(event: Event): void {
    switch (event.type) {
      case "WORKFLOW_CLAIMED":
        this.#claimed ??= event;
        this.isClaimUnanswered = true;
        return;
      case "WORKFLOW_STARTED":
        this.started = event;
        this.isClaimUnanswered = false;
        return;
      case "WORKFLOW_CANCELLING":
        this.addCancel(event);
        return;
      case "WORKFLOW_RESUMING":
        this.resuming = event;
        for (const id of restEndedBy(event)) {
          const call = this.calls.get(id);
          if (call) call.isRestOver = true;
        }
        return;
      case "WORKFLOW_RESUMED":
        this.resuming = undefined;
        this.isClaimUnanswered = false;
        return;
      case "WORKFLOW_WARNING": {
        const { code, task_call_id } = event.value as { code: string; task_call_id?: string };
        if (task_call_id) this.warned.add(task_call_id);
        if (code === "history_large") this.hasWarnedLarge = true;
        return;
      }
      case "TASK_STARTED":
        this.#open(event);
        return;
      default:
        if (event.type.startsWith("TASK_")) this.#continue(event);
    }
  }

  #open(started: Event): void {
    const { source_id: id, name, kind } = started;
    const parent = this.calls.get(parentOf(id) ?? "");
    const inTask = parent !== undefined && (parent.kind === null || parent.inTask);
    const call: RecordedCall = {
      id,
      name,
      kind,
      started,
      steps: [],
      children: [],
      inTask,
      outcome: undefined,
      isRestOver: false,
      asked: false,
    };
    this.calls.set(id, call);
    (parent?.children ?? this.top).push(call);
  }

  #continue(event: Event): void {
    const call = this.calls.get(event.source_id);
    if (!call) return;
    if (!isOutcome(event.type)) {
      if (event.type === "TASK_RETRY_STARTED") call.isRestOver = false;
      call.steps.push(event);
      return;
    }
    call.outcome = event;
    if (!call.inTask && !isCombinator(call.kind)) this.outcomes.push(event);
  }
}

/** Whether a recorded call was made with the argument that is stored as `started`. */
export function isSameInput(
  { started: { value } }: RecordedCall,
  started: string | null,
  host: Pick<Host, "hash">,
): boolean {
  const reference = referenceOf(value);
  if (!reference) return JSON.stringify(value) === (started ?? "null");
  // The argument lies outside of the log, under the hash of its text.
  return started !== null && reference.reference_id.endsWith(`/${host.hash(started)}`);
}
