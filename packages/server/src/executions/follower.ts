import {
  EngineError,
  type EventType,
  type ExecutionRow,
  PROGRESS_QUEUE_LIMIT,
  type ProgressItem,
  referenceOf,
  type SseFrame,
} from "@engine/contract";
import type { LongFrame } from "@engine/http";
import type { LoggedEvent } from "@engine/store";
import { detailedFrame } from "./detailed-frame.ts";
import { type LogPages, weightOf } from "./log-pages.ts";
import type { PrincipalRefs } from "./principal-refs.ts";
import { type FrameData, RECORDS } from "./record.ts";
import type { FollowOptions } from "./requests.ts";
import { rowAfter } from "./row-after.ts";

/** So many frames wait without being weighed. */
const FEW_FRAMES = 8;
/** So much waits for a reader at most. It gets the rest from the store, once it has taken this. */
const MOST_FRAMES = 64;
const MOST_BYTES = 256 * 1024;
/** So much progress waits for a reader, which no store has. */
const MOST_PROGRESS_BYTES = 1024 * 1024;

/** What a reader wants to see of an execution. */
export interface View extends Pick<FollowOptions, "events" | "detailed" | "frames"> {
  /** Whether the stream closes after the frame that has this row. */
  readonly isLast: (row: ExecutionRow) => boolean;
}

interface Ports {
  /** The row with its real values, as records show it. */
  readonly shown: (row: ExecutionRow) => Promise<ExecutionRow>;
  /** Whom the record names. */
  readonly refs: Pick<PrincipalRefs, "known" | "of">;
  readonly find: (execution_id: string) => Promise<ExecutionRow | undefined>;
  readonly pages: (execution_id: string) => LogPages;
}

/** A frame, or the text of a comment. */
export type FollowPart = SseFrame | LongFrame | string;

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

/** A state frame whose data is read when it is sent. */
interface Unresolved extends Omit<SseFrame, "data"> {
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
 * One reader of an execution: turns commits into frames, none skipped and none repeated. It holds a few
 * frames. The others are read from the store when the reader comes to them, so that a reader who does
 * not read costs next to nothing and loses nothing. Of progress, which is stored nowhere, it holds 1,000
 * values and tells how many it let go (PRG-6).
 *
 * Where each event is a frame, an event that makes a state has two frames with the same number: first
 * the event, then the state. So a stream ends with the last state.
 */
export class Follower {
  readonly execution_id: string;
  readonly #ports: Ports;
  readonly #pages: LogPages;
  readonly #view: View;
  readonly #data: FrameData;
  readonly #onClosed: (() => void)[] = [];
  /** The execution as of `#seen`; undefined until the reader knows where it begins. */
  #row: ExecutionRow | undefined;
  #seen = 0;
  /** How far the log is known to go. A reader that has not seen all of that is behind. */
  #head = 0;
  /** News that came before it was known where the reader begins. */
  #early: News[] = [];

  readonly #parts: Waiting[] = [];
  #bytes = 0;
  /** Progress that came while the reader was behind, with the event that it came after. */
  readonly #later: (Waiting & { readonly after: number })[] = [];
  #progressHeld = 0;
  #progressBytes = 0;
  #progressDropped = 0;
  #hasEnded = false;
  #reading: Promise<void> | undefined;
  /** Whether the last read of the store failed. */
  #isAway = false;
  #wake: (() => void) | undefined;

  constructor(execution_id: string, options: View & Ports) {
    this.execution_id = execution_id;
    this.#ports = options;
    this.#pages = options.pages(execution_id);
    this.#view = options;
    this.#data = options.frames ?? RECORDS;
  }

  /** Calls back once, when the reader has left or everything was told. */
  onClosed(then: () => void): void {
    this.#onClosed.push(then);
  }

  /** Begins with the events after `seen`; their states are told from `row` on. */
  begin(row: ExecutionRow, seen: number): void {
    this.#row = row;
    this.#seen = seen;
    this.#head = Math.max(this.#head, seen);
    for (const news of this.#early.splice(0)) this.#tell(news);
  }

  /**
   * Begins with the state the execution is in.
   *
   * @param id `seq` of the event that made this state.
   */
  beginNow(row: ExecutionRow, id: number): void {
    this.#pushState(row, { word: row.state.toLowerCase(), id, head: row.head });
    this.begin(row, row.head);
  }

  /** Takes a change: the row, and the events of the change as far as they are at hand. */
  see(row: ExecutionRow, logged: readonly LoggedEvent[]): void {
    if (this.#hasEnded) return;
    if (this.#row) this.#tell({ row, logged });
    else if (this.#early.length < MOST_FRAMES) this.#early.push({ row, logged });
    else this.#head = Math.max(this.#head, row.head);
  }

  seeProgress(item: ProgressItem): void {
    if (this.#hasEnded) return;
    const bytes = this.#progressHeld < FEW_FRAMES ? 0 : weightOf(item.value);
    const isFull = this.#progressHeld >= PROGRESS_QUEUE_LIMIT;
    if (isFull || this.#progressBytes + bytes > MOST_PROGRESS_BYTES) {
      this.#progressDropped++;
      return;
    }
    this.#progressHeld++;
    this.#progressBytes += bytes;
    const part = { event: "task.progress", data: { type: "TASK_PROGRESS", ...item } };
    if (this.#isBehind) this.#later.push({ part, bytes, after: this.#head });
    else this.#push(part, bytes);
  }

  /** Reads on for as long as the reader takes what it is told. */
  async catchUp(): Promise<void> {
    this.#isAway = false;
    while (this.#isBehind && this.#hasRoom && !this.#hasEnded && !this.#isAway) {
      await this.#readOn();
    }
  }

  /** Ends the stream behind the frames that were pushed, without a closing frame. */
  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  async *frames(): AsyncGenerator<FollowPart, void, undefined> {
    try {
      while (true) {
        for (let next = this.#parts.shift(); next !== undefined; next = this.#parts.shift()) {
          yield await this.#taken(next);
        }
        // This is told at once: the next frame may be long in coming.
        const dropped = this.#takeDropped();
        if (dropped !== undefined) yield dropped;
        if (this.#parts.length > 0) continue;
        if (this.#hasEnded) return;
        if (this.#isBehind && !this.#isAway) {
          await this.#readOn();
          continue;
        }
        if (this.#tellLater(Number.POSITIVE_INFINITY)) continue;
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

  get #isBehind(): boolean {
    return this.#row !== undefined && this.#seen < this.#head;
  }

  get #hasRoom(): boolean {
    return this.#parts.length < MOST_FRAMES && this.#bytes <= MOST_BYTES;
  }

  /** Reads the next page of events that the reader has not been told. */
  async #readOn(): Promise<void> {
    try {
      this.#reading ??= this.#readPage();
      await this.#reading;
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== "unavailable") throw error;
      // The next look for missed news reads on.
      this.#isAway = true;
    } finally {
      this.#reading = undefined;
    }
  }

  async #readPage(): Promise<void> {
    const row = await this.#ports.find(this.execution_id);
    if (!this.#isBehind) return;
    const logged = row && (await this.#pages.after(this.#seen));
    // Events that came between the two reads are part of the next page.
    if (row && logged?.length) this.#tellEach(row, logged, ({ event }) => event.seq <= row.head);
    // The execution has been deleted meanwhile.
    else this.end();
  }

  #tell({ row, logged }: News): void {
    this.#head = Math.max(this.#head, row.head);
    const first = logged[0]?.event.seq ?? row.head + 1;
    // Where events are missing, or there is no room, the reader goes on by the store.
    if (first <= this.#seen + 1) this.#tellEach(row, logged, () => this.#hasRoom);
    // A hand-over writes no event but changes the row.
    if (row.head === this.#seen) this.#row = row;
    if (this.#isBehind) this.#wake?.();
  }

  #tellEach(
    row: ExecutionRow,
    logged: readonly LoggedEvent[],
    goesOn: (entry: LoggedEvent) => boolean,
  ): void {
    for (const entry of logged) {
      if (entry.event.seq <= this.#seen) continue;
      if (!this.#row || this.#hasEnded || !goesOn(entry)) return;
      this.#tellLater(entry.event.seq);
      this.#seen = entry.event.seq;
      this.#head = Math.max(this.#head, this.#seen);
      this.#row = this.#seen === row.head ? row : rowAfter(this.#row, entry);
      this.#tellEvent(entry);
      this.#tellState(this.#row, entry);
    }
  }

  /** Tells the progress that came before an event. */
  #tellLater(seq: number): boolean {
    const first = this.#later.findIndex(({ after }) => after >= seq);
    const told = this.#later.splice(0, first < 0 ? this.#later.length : first);
    for (const { part, bytes } of told) this.#parts.push({ part, bytes });
    return told.length > 0;
  }

  #tellEvent(entry: LoggedEvent): void {
    if (this.#view.events !== "all") return;
    const bytes = this.#parts.length < FEW_FRAMES ? 0 : weightOf(entry.event.value);
    this.#push({ event: "event", id: entry.event.seq, data: this.#data.event(entry) }, bytes);
  }

  #tellState(row: ExecutionRow, { event }: LoggedEvent): void {
    const word = STATE_WORDS[event.type];
    if (word) this.#pushState(row, { word, id: event.seq, head: event.seq });
  }

  /** @param head The last event in the record, where it has its events. */
  #pushState(
    row: ExecutionRow,
    { word, id, head }: { readonly word: string; readonly id: number; readonly head: number },
  ): void {
    const event = `${row.workflow}.execution.${word}`;
    const bytes = this.#parts.length < FEW_FRAMES ? 0 : weightOf(row.output);
    const isElsewhere = referenceOf(row.input) ?? referenceOf(row.output);
    const who = this.#ports.refs.known(row);
    const isWhole = who && !this.#view.detailed && !isElsewhere;
    const made = isWhole ? { data: this.#data.record(row, who) } : { row: { ...row, head } };
    this.#push({ event, id, ...made }, bytes);
    if (this.#view.isLast(row)) this.end();
  }

  #push(part: SseFrame | Unresolved, bytes: number): void {
    const dropped = this.#takeDropped();
    if (dropped !== undefined) this.#parts.push({ part: dropped, bytes: 0 });
    this.#parts.push({ part, bytes });
    if (part.id !== undefined) this.#bytes += bytes;
    this.#wake?.();
  }

  #taken({ part, bytes }: Waiting): FollowPart | Promise<FollowPart> {
    if (typeof part === "string") return part;
    if (part.id === undefined) {
      this.#progressHeld--;
      this.#progressBytes -= bytes;
    } else this.#bytes -= bytes;
    return "row" in part ? this.#resolved(part) : part;
  }

  async #resolved({ row, ...frame }: Unresolved): Promise<FollowPart> {
    // A storage that is away is no reason to end the stream: the envelope is shown then.
    const { shown: show, refs } = this.#ports;
    const [shown, who] = await Promise.all([
      show(row).catch(() => row),
      refs.known(row) ?? refs.of([row]),
    ]);
    const record = this.#data.record(shown, who);
    if (!this.#view.detailed) return { ...frame, data: record };
    const pages = this.#ports.pages(this.execution_id);
    const detailed = { ...frame, data: { ...record, hook: row.hook } };
    return detailedFrame(detailed, pages.between(0, row.head), this.#data);
  }

  /** How many values were let go since the last frame, as a comment says it. */
  #takeDropped(): string | undefined {
    if (this.#progressDropped === 0) return undefined;
    const comment = `dropped ${this.#progressDropped}`;
    this.#progressDropped = 0;
    return comment;
  }
}
