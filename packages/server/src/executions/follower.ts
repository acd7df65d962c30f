import {
  type EventType,
  type ExecutionRow,
  PROGRESS_QUEUE_LIMIT,
  type ProgressItem,
  referenceOf,
  type SseFrame,
  sseText,
  toPlain,
} from "@engine/contract";
import type { LoggedEvent } from "@engine/store";
import { toRecord, toRecordedEvent } from "./record.ts";
import { rowAfter } from "./row-after.ts";

/** Whoever is that far behind does not read any more. */
const MOST_BYTES = 64 * 1024 * 1024;
/** So many frames wait without being weighed. */
const FEW_FRAMES = 64;

/** Whether a stream closes after the frame that has this row. */
export type IsLast = (row: ExecutionRow) => boolean;

/** What a reader wants to see of an execution. */
export interface View {
  readonly isLast: IsLast;
  /** `all`: each event of the log is a frame, too (EXE-92). */
  readonly events?: "all" | undefined;
}

/** A frame, or the text of a comment. */
export type FollowPart = SseFrame | string;

/** The word a state frame has for each event that makes a state (EXE-91). */
const STATE_WORDS: Readonly<Partial<Record<EventType, string>>> = {
  WORKFLOW_CREATED: "created",
  WORKFLOW_CLAIMED: "claimed",
  WORKFLOW_STARTED: "running",
  WORKFLOW_PAUSED: "paused",
  WORKFLOW_RESUMING: "resuming",
  WORKFLOW_RESUMED: "running",
  WORKFLOW_CANCELLING: "cancelling",
  WORKFLOW_CANCELLED: "cancelled",
  WORKFLOW_COMPLETED: "completed",
  WORKFLOW_FAILED: "failed",
};

/** A frame whose record needs an output that is not in the log. */
interface Unresolved extends SseFrame {
  readonly row: ExecutionRow;
}

/** A part that waits for its reader, and what it weighs. */
interface Waiting {
  readonly part: FollowPart | Unresolved;
  readonly bytes: number;
}

interface News {
  readonly row: ExecutionRow;
  readonly logged: readonly LoggedEvent[];
}

/** Whether a stream has a frame for an event. */
export function makesState(type: EventType): boolean {
  return STATE_WORDS[type] !== undefined;
}

/**
 * One reader of an execution: turns commits into frames, none skipped and none repeated. Frames of
 * states and events are never dropped: a reader that does not read is cut off, and goes on where it
 * was when it comes back. Of progress it holds 1,000 and tells how many it let go (PRG-6).
 *
 * An event that makes a state has, where each event is a frame, two frames with the same number:
 * first the event, then the state that came of it. So a stream ends with the state it ended in.
 */
export class Follower {
  readonly execution_id: string;
  readonly #shown: (row: ExecutionRow) => Promise<ExecutionRow>;
  readonly #view: View;
  readonly #onClosed: (() => void)[] = [];
  /** The execution as of `#seen`; undefined until the reader knows where it begins. */
  #row: ExecutionRow | undefined;
  #seen = 0;
  #log: LoggedEvent[] | undefined;
  /** News that cannot be told yet: from before the beginning was known, or after a gap. */
  #early: News[] = [];

  readonly #parts: Waiting[] = [];
  #bytes = 0;
  #isBeginning = false;
  readonly #overflow = new AbortController();
  #progressHeld = 0;
  #progressDropped = 0;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  /** @param ports.shown The row with its real values, as records show it. */
  constructor(
    execution_id: string,
    ports: View & { readonly shown: (row: ExecutionRow) => Promise<ExecutionRow> },
  ) {
    this.execution_id = execution_id;
    this.#shown = ports.shown;
    this.#view = ports;
  }

  /** Called once, when the reader has left or everything was told. */
  onClosed(then: () => void): void {
    this.#onClosed.push(then);
  }

  /**
   * Says where it begins: with the events after `seen`, told from `row`.
   *
   * @param log With detail: everything up to `seen`; each record then has its events.
   */
  begin(row: ExecutionRow, seen: number, log?: readonly LoggedEvent[]): void {
    this.#row = row;
    this.#seen = seen;
    this.#log = log && [...log];
    this.#tellEarly();
  }

  /**
   * Begins with the state the execution is in.
   *
   * @param id `seq` of the event that made this state.
   */
  beginNow(row: ExecutionRow, id: number, log?: readonly LoggedEvent[]): void {
    this.#log = log && [...log];
    this.#pushState(row, row.state.toLowerCase(), id);
    this.begin(row, row.head, log);
  }

  /** Aborted when its reader is hopelessly behind: nothing that waits leaves any more. */
  get overflow(): AbortSignal {
    return this.#overflow.signal;
  }

  /** Up to where the log was told. */
  get seen(): number {
    return this.#seen;
  }

  see(row: ExecutionRow, logged: readonly LoggedEvent[]): void {
    if (this.#hasEnded) return;
    this.#early.push({ row, logged });
    if (this.#row) this.#tellEarly();
  }

  /** What the log had before its reader came, however much that is. */
  seeFirst(row: ExecutionRow, logged: readonly LoggedEvent[]): void {
    this.#isBeginning = true;
    this.see(row, logged);
    this.#isBeginning = false;
  }

  seeProgress(item: ProgressItem): void {
    if (this.#hasEnded) return;
    if (this.#progressHeld >= PROGRESS_QUEUE_LIMIT) {
      this.#progressDropped++;
      return;
    }
    this.#progressHeld++;
    this.#push({ event: "task.progress", data: { type: "TASK_PROGRESS", ...item } });
  }

  /** Ends the stream after what was told, without a closing frame. */
  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  async *frames(): AsyncGenerator<FollowPart, void, undefined> {
    try {
      while (true) {
        for (let next = this.#parts.shift(); next !== undefined; next = this.#parts.shift()) {
          const { part, bytes } = next;
          this.#bytes -= bytes;
          if (typeof part !== "string" && part.id === undefined) this.#progressHeld--;
          yield await this.#resolved(part);
        }
        this.overflow.throwIfAborted();
        // Told at once, since what comes next may be long in coming.
        const dropped = this.#takeDropped();
        if (dropped !== undefined) yield dropped;
        if (this.#parts.length > 0) continue;
        if (this.#hasEnded) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.close();
    }
  }

  close(): void {
    this.end();
    for (const then of this.#onClosed.splice(0)) then();
  }

  /** Tells what follows without a gap, whatever order it came in. */
  #tellEarly(): void {
    for (let told = true; told && this.#early.length > 0; ) {
      const waiting = this.#early;
      this.#early = waiting.filter((news) => !this.#tell(news));
      told = this.#early.length < waiting.length;
    }
  }

  /** False when events before these are missing still. */
  #tell({ row, logged }: News): boolean {
    if ((logged[0]?.event.seq ?? 0) > this.#seen + 1) return false;
    for (const entry of logged) {
      if (entry.event.seq <= this.#seen || !this.#row || this.#hasEnded) continue;
      this.#seen = entry.event.seq;
      this.#row = this.#seen === row.head ? row : rowAfter(this.#row, entry);
      this.#log?.push(entry);
      this.#tellEvent(entry);
      this.#tellState(this.#row, entry);
    }
    // A hand-over writes no event but changes the row.
    if (row.head === this.#seen) this.#row = row;
    return true;
  }

  #tellEvent(entry: LoggedEvent): void {
    if (this.#view.events !== "all") return;
    this.#push({ event: "event", id: entry.event.seq, data: toRecordedEvent(entry) });
  }

  #tellState(row: ExecutionRow, { event }: LoggedEvent): void {
    const word = STATE_WORDS[event.type];
    if (word) this.#pushState(row, word, event.seq);
  }

  #pushState(row: ExecutionRow, word: string, id: number): void {
    const event = `${row.workflow}.execution.${word}`;
    const frame = { event, id, data: toRecord(row, this.#log) };
    this.#push(referenceOf(row.output) ? { ...frame, row } : frame);
    if (this.#view.isLast(row)) this.end();
  }

  async #resolved(part: FollowPart | Unresolved): Promise<FollowPart> {
    if (typeof part === "string" || !("row" in part)) return part;
    const { row, data, ...frame } = part;
    // A storage that is away is no reason to end the stream: the envelope is shown then.
    const { output } = await this.#shown(row).catch(() => row);
    return { ...frame, data: { ...(data as object), output: toPlain(output) } };
  }

  #push(frame: SseFrame | Unresolved): void {
    const dropped = this.#takeDropped();
    if (dropped !== undefined) this.#parts.push({ part: dropped, bytes: 0 });
    const bytes = this.#weigh(frame);
    if (this.#bytes + bytes > MOST_BYTES) this.#giveUp();
    if (this.overflow.aborted) return;
    this.#parts.push({ part: frame, bytes });
    this.#bytes += bytes;
    this.#wake?.();
  }

  /** To weigh a frame costs as much as to send it, so nobody's is who keeps up. */
  #weigh({ event, id, data }: SseFrame): number {
    const isBounded = id === undefined || this.#isBeginning;
    if (isBounded || this.#parts.length < FEW_FRAMES) return 0;
    return Buffer.byteLength(sseText({ event, id, data }));
  }

  #giveUp(): void {
    this.#parts.length = 0;
    this.#bytes = 0;
    this.#overflow.abort(new Error("more than 64 MiB are unsent: the reader does not keep up"));
    this.end();
  }

  /** How many values were let go since the last frame, as a comment says it. */
  #takeDropped(): string | undefined {
    if (this.#progressDropped === 0) return undefined;
    const comment = `dropped ${this.#progressDropped}`;
    this.#progressDropped = 0;
    return comment;
  }
}
