import type { Event, ExecutionRow, Holding, WorkerFrame } from "@engine/contract";
import type { SessionRow } from "@engine/store";
import type { WorkerStream } from "./worker-stream.ts";

/** An execution the session owns, as its row says. */
interface Owned {
  readonly generation: number;
  /** Null for what a restarted server found: read from the row when somebody asks. */
  readonly module_hash: string | null;
  /** Frames that must not overtake the assignment; undefined once that has left. */
  held: WorkerFrame[] | undefined;
  /** `seq` of the newest event that was pushed to it; 0 when none was. */
  pushed: number;
}

/** One process life of a worker: what it owns, how much it can take, and the way to reach it. */
export class Session {
  readonly id: string;
  readonly worker: string;
  readonly instance_id: string;
  /** Executions at a time; 0 = unlimited. */
  readonly slots: number;
  readonly owned: Map<string, Owned> = new Map();
  /** Claims for it that are not committed yet: they take a slot already. */
  readonly claiming: Map<string, Promise<unknown>> = new Map();
  /** The clock when it was heard of last. */
  heardAt: number;
  /** The clock when its stream closed; undefined while open, and before the first one. */
  closedAt: number | undefined;
  /** It gave work back because it is stopping: no more for this stream. */
  isStopping = false;
  /** It gave work back because it had too much: no more until it says that it has room. */
  isOverloaded = false;
  /** It will not come back: another process took its name, or it said goodbye. */
  ended: "superseded" | "disconnected" | undefined;
  /** Set while everything it owns goes back to the queue. */
  handingOver: Promise<void> | undefined;
  /** Known only from the store: this server has not heard of it. */
  isInherited: boolean;
  #stream: WorkerStream | undefined;
  /** Frames may be assigned: the stream is open and past its welcome. */
  #isReady = false;

  constructor(row: SessionRow, options: { now: number; isInherited: boolean }) {
    this.id = row.session_id;
    this.worker = row.worker;
    this.instance_id = row.instance_id;
    this.slots = row.slots;
    this.heardAt = options.now;
    this.isInherited = options.isInherited;
  }

  /** Executions it owns or is about to. */
  get load(): number {
    return this.owned.size + this.claiming.size;
  }

  get hasFreeSlot(): boolean {
    return this.slots === 0 || this.load < this.slots;
  }

  get takesWork(): boolean {
    return !this.isStopping && !this.isOverloaded;
  }

  get isConnected(): boolean {
    return this.#stream !== undefined;
  }

  /** Whether assignments reach it. */
  get isReady(): boolean {
    return this.#isReady && this.ended === undefined;
  }

  /** Its stream from now on; the one before ends. */
  connect(stream: WorkerStream): void {
    const earlier = this.#stream;
    this.#stream = stream;
    this.#isReady = false;
    this.closedAt = undefined;
    this.isStopping = false;
    this.isOverloaded = false;
    earlier?.close();
  }

  /** Lets assignments through, unless another stream took over meanwhile. */
  ready(stream: WorkerStream): void {
    if (this.#stream === stream) this.#isReady = true;
  }

  /** @returns false when the stream had been replaced already. */
  disconnected(stream: WorkerStream, now: number): boolean {
    if (this.#stream !== stream) return false;
    this.#stream = undefined;
    this.#isReady = false;
    this.closedAt = now;
    return true;
  }

  send(frame: WorkerFrame): void {
    this.#stream?.send(frame);
  }

  closeStream(): void {
    this.#stream?.close();
  }

  /** Notes that a commit gave it this execution. */
  own(row: ExecutionRow): void {
    const { execution_id, generation, module_hash } = row;
    this.claiming.delete(execution_id);
    this.owned.set(execution_id, { generation, module_hash, held: [], pushed: 0 });
  }

  /** Notes what the store says it owns: assigned before this server began to look. */
  inherit({ execution_id, generation }: { execution_id: string; generation: number }): void {
    // Whatever was pushed before, its reconnect brings.
    const owned = { generation, module_hash: null, held: undefined, pushed: 0 };
    this.owned.set(execution_id, owned);
  }

  /** Notes that a commit took it away: it ended, parked or was handed over. */
  disown({ execution_id, generation }: { execution_id: string; generation: number }): void {
    if (this.owned.get(execution_id)?.generation === generation) this.owned.delete(execution_id);
  }

  owns({ execution_id, generation }: { execution_id: string; generation: number }): boolean {
    return this.owned.get(execution_id)?.generation === generation;
  }

  /** Sends the assignment, and after it what came meanwhile; nothing if it has moved on. */
  assign(frame: Extract<WorkerFrame, { event: "assign" }>): void {
    if (!this.owns(frame.data)) return;
    this.send(frame);
    this.release(frame.data.execution_id);
  }

  /** The worker has the execution: what was held for it may leave. */
  release(execution_id: string): void {
    const owned = this.owned.get(execution_id);
    const held = owned?.held ?? [];
    if (owned) owned.held = undefined;
    for (const frame of held) this.send(frame);
  }

  /** Sends events that the server wrote, of an execution it owns; `row` is as they left it. */
  push({ execution_id, generation, head }: ExecutionRow, events: readonly Event[]): void {
    const owned = this.owned.get(execution_id);
    if (!owned || owned.generation !== generation || events.length === 0) return;
    owned.pushed = head;
    const base_seq = head - events.length;
    const data = { execution_id, generation, base_seq, events: [...events] };
    this.tell(execution_id, { event: "events", data });
  }

  /** Whether the worker has not heard of something that was pushed to it. */
  hasMissed(holding: Holding): boolean {
    const owned = this.owned.get(holding.execution_id);
    return this.owns(holding) && owned?.held === undefined && holding.seq < (owned?.pushed ?? 0);
  }

  /** Sends something about an execution it owns, never before the assignment. */
  tell(execution_id: string, frame: WorkerFrame): void {
    const owned = this.owned.get(execution_id);
    if (!owned) return;
    if (owned.held) owned.held.push(frame);
    else this.send(frame);
  }
}
