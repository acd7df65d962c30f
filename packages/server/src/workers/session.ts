import type {
  Heartbeat,
  Requirements,
  Suspicion,
  WorkerActivity,
  WorkerFrame,
} from "@engine/contract";
import type { SessionGuard, SessionRow } from "@engine/store";
import type { Candidate } from "../gate/gate.ts";
import { Holdings } from "./holdings.ts";
import type { WorkerStream } from "./worker-stream.ts";

/**
 * One process life of a worker, as this server knows it. The server that holds its stream knows what
 * it owns, gives it work and counts its slots; the others only know that there is such a session.
 */
export class Session implements Candidate {
  readonly id: string;
  readonly worker: string;
  readonly instance_id: string;
  readonly holdings: Holdings;
  /** When it was heard of last, by the clock that nobody sets. */
  heardAt: number;
  /** When its stream closed here, by that clock; undefined while open, and before the first one. */
  closedAt: number | undefined;
  /** The `last_seen_at` that this server has written last, or has taken notice of. */
  notedAt: number | undefined;
  /** The offset of its clock that was told last; 0 while it is right. */
  toldOffsetMs: number = 0;
  /** What operators want of it. */
  desired: WorkerActivity = "active";
  /** It gave work back because it is stopping: no more for this stream. */
  isStopping = false;
  /** It gave work back because it had too much: no more until it says that it has room. */
  isOverloaded = false;
  /** It will not come back: another process took its name, or it said goodbye. */
  ended: "superseded" | "disconnected" | undefined;
  /** Set while everything it owns goes back to the queue. */
  handingOver: Promise<void> | undefined;
  #row: SessionRow;
  #said: SessionRow["said"];
  #stream: WorkerStream | undefined;
  /** Frames may be assigned: the stream is open and past its welcome. */
  #isReady = false;
  /** This server holds the session: no other one gives it work, or answers its polls. */
  #isHeld = false;

  constructor(row: SessionRow, clock: () => number) {
    this.id = row.session_id;
    this.worker = row.worker;
    this.instance_id = row.instance_id;
    this.#row = row;
    this.#said = row.said;
    this.heardAt = clock();
    this.holdings = new Holdings({
      send: (frame) => this.send(frame),
      isConnected: () => this.isConnected,
      clock,
    });
  }

  /** As it was stored when this server looked last. */
  get row(): SessionRow {
    return this.#row;
  }

  /** What the worker said of itself last. */
  get said(): SessionRow["said"] {
    return this.#said;
  }

  /** Executions at a time; 0 = unlimited. */
  get slots(): number {
    return this.#row.slots;
  }

  /** Executions it owns or is about to. */
  get load(): number {
    return this.holdings.load;
  }

  get hasFreeSlot(): boolean {
    // What it cannot be sent would only wait for it.
    if (this.#stream?.isFull) return false;
    return this.slots === 0 || this.load < this.slots;
  }

  /** Whether it is to get work, wanted by operators and by itself. */
  get takesWork(): boolean {
    const { status = "active", healthy = true } = this.#said ?? {};
    const isWilling = status === "active" && healthy && !this.isStopping && !this.isOverloaded;
    return isWilling && this.desired === "active";
  }

  hasPlaceApart(suspicion: Suspicion): boolean {
    return this.holdings.hasPlaceApart(suspicion);
  }

  get isConnected(): boolean {
    return this.#stream !== undefined;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Whether assignments reach it from here. What is lost gets nothing before it is back. */
  get isReady(): boolean {
    return this.#isReady && this.ended === undefined && this.#row.lost_at === null;
  }

  /** What must hold in the transaction of whatever this server does in the session's name. */
  get guard(): SessionGuard {
    return { session: this.id, epoch: this.#row.epoch };
  }

  get runners(): SessionRow["runners"] {
    return this.#row.runners;
  }

  get packages(): SessionRow["packages"] {
    return this.#row.packages;
  }

  /** As it reported last. */
  get resources(): SessionRow["resources"] {
    return this.#said?.resources ?? this.#row.resources;
  }

  /** What its executions have reserved of the worker's resources. */
  reservations(): Iterable<Requirements> {
    return this.holdings.reservations();
  }

  /** The worker as it is beside one of its executions: whether that may stay is asked so. */
  beside(execution_id: string): Candidate {
    const { worker, runners, packages, resources, takesWork } = this;
    const load = this.load - (this.holdings.has(execution_id) ? 1 : 0);
    const hasFreeSlot = this.slots === 0 || load < this.slots;
    const reservations = () => this.holdings.reservations(execution_id);
    // What it runs it may keep, wherever on it that is.
    const hasPlaceApart = () => true;
    const room = { load, hasFreeSlot, hasPlaceApart, reservations };
    return { worker, runners, packages, resources, takesWork, ...room };
  }

  /** Takes over what the store says of it, unless that is older than what is known. */
  see(row: SessionRow): void {
    if (row.epoch < this.#row.epoch) return;
    this.#row = row;
    // The server that hears its heartbeats knows better than their last flush.
    if (!this.#isHeld) this.#said = row.said;
  }

  hear(heartbeat: Heartbeat): void {
    const { status, healthy, slots_free, metrics, resources } = heartbeat;
    const { stuck_threads, clock_offset_ms } = heartbeat;
    const now = { status, healthy, slots_free, metrics, resources };
    this.#said = { ...now, stuck_threads, clock_offset_ms };
  }

  /**
   * Its stream from now on, under the epoch that the store gave it; the one before ends.
   *
   * @returns false when it was given to a later one meanwhile.
   */
  connect(stream: WorkerStream | undefined, row: SessionRow): boolean {
    if (row.epoch < this.#row.epoch) return false;
    const earlier = this.#stream;
    this.#row = row;
    this.#stream = stream;
    this.#isHeld = true;
    this.#isReady = false;
    // What it owns is read anew: another server may have given it more meanwhile.
    this.holdings.owned.clear();
    this.closedAt = undefined;
    this.isStopping = false;
    this.isOverloaded = false;
    earlier?.close();
    return true;
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

  /** A poll was answered: it stays held, and is silent until the next one. */
  answered(stream: WorkerStream): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    this.#isReady = false;
    stream.close();
  }

  /** Another server has it now, or nobody: what is known of it here does not count any more. */
  letGo(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    this.#isReady = false;
    this.#isHeld = false;
    this.closedAt = undefined;
    this.holdings.clear();
    stream?.close();
  }

  /** Settles when its stream has closed, whoever closed it. */
  left(): Promise<void> {
    return this.#stream?.closed ?? Promise.resolve();
  }

  send(frame: WorkerFrame): void {
    this.#stream?.send(frame);
  }

  closeStream(): void {
    this.#stream?.close();
  }
}
