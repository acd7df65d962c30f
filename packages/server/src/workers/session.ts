import type {
  Heartbeat,
  Requirements,
  Suspicion,
  WorkerActivity,
  WorkerAttributes,
  WorkerFrame,
} from "@engine/contract";
import type { HeldAttributes, SessionGuard, SessionRow } from "@engine/store";
import type { Candidate } from "../gate/gate.ts";
import { Holdings } from "./holdings.ts";
import { SessionAttributes } from "./session-attributes.ts";
import type { WorkerStream } from "./worker-stream.ts";

/**
 * One process life of a worker, as this server knows it. The server that holds the session's stream
 * knows what it owns, gives it work and counts its slots; the others only know that it exists.
 */
export class Session implements Candidate {
  readonly id: string;
  readonly worker: string;
  readonly holdings: Holdings;
  /** When the worker was heard last, by the clock that nobody sets. */
  heardAt: number;
  /** When its stream closed here, by that clock; undefined while one is open, and before the first. */
  closedAt: number | undefined;
  /** The `last_seen_at` that this server has written or read last. */
  notedAt: number | undefined;
  /** The offset of the worker's clock that was logged last; 0 while the clock is right. */
  toldOffsetMs: number = 0;
  /** What operators want of the worker. */
  desired: WorkerActivity = "active";
  /** The worker gave work back because it is stopping: this stream gets no more. */
  isStopping = false;
  /** The worker gave work back because it had too much: it gets no more until it says it has room. */
  isOverloaded = false;
  /**
   * Set when it will not come back: another process took its name, the worker said goodbye, or its
   * credential was revoked.
   */
  ended: "superseded" | "disconnected" | "revoked" | undefined;
  /** Set while everything that it owns goes back to the queue. */
  handingOver: Promise<void> | undefined;
  readonly #attributes: SessionAttributes;
  #row: SessionRow;
  #said: SessionRow["said"];
  #stream: WorkerStream | undefined;
  /** Whether the stream is open and past its welcome, so that assignments may be sent. */
  #isReady = false;
  /** Whether this server holds the session: then no other one gives it work or answers its polls. */
  #isHeld = false;

  constructor(row: SessionRow, clock: () => number) {
    this.id = row.session_id;
    this.worker = row.worker;
    this.#row = row;
    this.#attributes = new SessionAttributes(row);
    this.#said = row.said;
    this.heardAt = clock();
    this.holdings = new Holdings({
      send: (frame) => this.send(frame),
      isConnected: () => this.isConnected,
      clock,
    });
  }

  /** As the store had it when this server looked last. */
  get row(): SessionRow {
    return this.#row;
  }

  /** What the worker said of itself last. */
  get said(): SessionRow["said"] {
    return this.#said;
  }

  get load(): number {
    return this.holdings.load;
  }

  get hasFreeSlot(): boolean {
    // An assignment that cannot be sent would only wait.
    if (this.#stream?.isFull) return false;
    const { slots } = this.#row;
    return slots === 0 || this.load < slots;
  }

  /** Whether operators and the worker itself want it to get work. */
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

  /** Whether this server can send it assignments. A lost session gets none before it is back. */
  get isReady(): boolean {
    return this.#isReady && this.ended === undefined && this.#row.lost_at === null;
  }

  /** What must hold in every transaction that this server makes in the session's name. */
  get guard(): SessionGuard {
    return { session: this.id, epoch: this.#row.epoch };
  }

  get runners(): SessionRow["runners"] {
    return this.#row.runners;
  }

  /** Its own labels, and one for each service that it offers and was granted. */
  get labels(): WorkerAttributes["labels"] {
    return this.#attributes.labels;
  }

  get metadata(): WorkerAttributes["metadata"] {
    return this.#attributes.metadata;
  }

  /** Revision of its name's metadata and grants that {@link labels} and {@link metadata} are of. */
  get attributes(): number {
    return this.#attributes.revision;
  }

  /** @returns false when they are known already, or older than what is known. */
  seeAttributes(held: HeldAttributes): boolean {
    return this.#attributes.see(held);
  }

  /** Services that it offers and was granted, for a welcome that leaves now. */
  welcomedServices(): string[] {
    return this.#attributes.tell();
  }

  /** The frame that says which services it was granted; undefined while its process knows. */
  serviceNews(): WorkerFrame | undefined {
    if (this.#attributes.isTold) return undefined;
    return { event: "services", data: { granted: this.#attributes.tell() } };
  }

  /** Tells it of services; before its welcome, which does, and between polls it hears nothing. */
  tellServices(): void {
    const news = this.#isReady ? this.serviceNews() : undefined;
    if (news) this.send(news);
  }

  /** Nobody heard what it was told with an answer. */
  forgetTold(): void {
    this.holdings.forgetTold();
    this.#attributes.forgetTold();
  }

  get slots(): number {
    return this.#row.slots;
  }

  get packages(): SessionRow["packages"] {
    return this.#row.packages;
  }

  get resources(): SessionRow["resources"] {
    return this.#said?.resources ?? this.#row.resources;
  }

  reservations(): Iterable<Requirements> {
    return this.holdings.reservations();
  }

  /** The worker without one of its executions: so the gate is asked whether that one may stay. */
  beside(execution_id: string): Candidate {
    const { worker, runners, packages, resources, labels, metadata, takesWork } = this;
    const load = this.load - (this.holdings.has(execution_id) ? 1 : 0);
    const hasFreeSlot = this.#row.slots === 0 || load < this.#row.slots;
    const reservations = () => this.holdings.reservations(execution_id);
    // An execution that it runs already needs no other place.
    const hasPlaceApart = () => true;
    const room = { load, hasFreeSlot, hasPlaceApart, reservations };
    return { worker, runners, packages, resources, labels, metadata, takesWork, ...room };
  }

  /** Takes over the row from the store, unless the known one is newer. */
  see(row: SessionRow): void {
    if (row.epoch < this.#row.epoch) return;
    this.#row = row;
    this.#attributes.own(row);
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
   * Takes a new stream, under the epoch that the store gave it; the stream before it ends.
   *
   * @returns false when a later stream has taken its place meanwhile.
   */
  connect(stream: WorkerStream | undefined, row: SessionRow): boolean {
    if (row.epoch < this.#row.epoch) return false;
    const earlier = this.#stream;
    this.#row = row;
    this.#attributes.own(row);
    this.#stream = stream;
    this.#isHeld = true;
    this.#isReady = false;
    // Its executions are read anew: another server may have given it more meanwhile.
    this.holdings.owned.clear();
    this.closedAt = undefined;
    this.isStopping = false;
    this.isOverloaded = false;
    earlier?.close();
    return true;
  }

  /** Lets assignments through, unless another stream has taken over. */
  ready(stream: WorkerStream): void {
    if (this.#stream !== stream) return;
    this.#isReady = true;
    // They may have changed behind the welcome.
    this.tellServices();
  }

  /** @returns false when the stream had been replaced already. */
  disconnected(stream: WorkerStream, now: number): boolean {
    if (this.#stream !== stream) return false;
    this.#stream = undefined;
    this.#isReady = false;
    this.closedAt = now;
    return true;
  }

  /** Notes that a poll was answered: the session stays held, and is silent until the next poll. */
  answered(stream: WorkerStream): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    this.#isReady = false;
    stream.close();
  }

  /** Gives the session up: another server has it now, or nobody. Nothing known of it here counts. */
  letGo(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    this.#isReady = false;
    this.#isHeld = false;
    this.closedAt = undefined;
    this.holdings.clear();
    stream?.close();
  }

  /** Settles when its stream has closed, from either side. */
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
