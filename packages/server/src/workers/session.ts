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
 * What has happened to a session: `freed` where it may have more room, `anew` where all that was seen of
 * it may be otherwise.
 */
export type SessionNews = "changed" | "freed" | "anew";

/** Metric of how many executions a worker runs (WMD-4). */
const RUNNING = "engine.running_executions";
const NO_METRICS: Readonly<Record<string, number>> = {};

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
  /** Told of everything by which another worker may be the one for an execution. */
  onChange: ((session: Session, news: SessionNews) => void) | undefined;
  /** How long what the worker measured of itself counts. */
  metricsLastMs: number = Number.POSITIVE_INFINITY;
  #desired: WorkerActivity = "active";
  #isStopping = false;
  #isOverloaded = false;
  #ended: "superseded" | "disconnected" | "revoked" | undefined;
  readonly #clock: () => number;
  /** When it said something of itself last. */
  #saidAt: number;
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
    this.#clock = clock;
    this.heardAt = clock();
    this.#saidAt = this.heardAt;
    this.holdings = new Holdings({
      send: (frame) => this.send(frame),
      isConnected: () => this.isConnected,
      changed: (isFreed) => this.#changed(isFreed ? "freed" : "changed"),
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

  /** What operators want of the worker. */
  get desired(): WorkerActivity {
    return this.#desired;
  }

  set desired(desired: WorkerActivity) {
    this.#desired = desired;
    this.#changed();
  }

  /** The worker gave work back because it is stopping: this stream gets no more. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  set isStopping(isStopping: boolean) {
    this.#isStopping = isStopping;
    this.#changed();
  }

  /** The worker gave work back because it had too much: it gets no more until it says it has room. */
  get isOverloaded(): boolean {
    return this.#isOverloaded;
  }

  set isOverloaded(isOverloaded: boolean) {
    this.#isOverloaded = isOverloaded;
    this.#changed();
  }

  /**
   * Set when it will not come back: another process took its name, the worker said goodbye, or its
   * credential was revoked.
   */
  get ended(): "superseded" | "disconnected" | "revoked" | undefined {
    return this.#ended;
  }

  set ended(ended: "superseded" | "disconnected" | "revoked") {
    this.#ended = ended;
    this.#changed();
  }

  /** Executions that it owns; of a worker that another server holds, as that wrote it down last. */
  get load(): number {
    if (this.#isHeld || !this.#said) return this.holdings.load;
    const { slots_free, metrics } = this.#said;
    const { slots } = this.#row;
    return slots > 0 ? Math.max(slots - slots_free, 0) : (metrics[RUNNING] ?? 0);
  }

  get slots(): number {
    return this.#row.slots;
  }

  /** What the worker measured of itself; nothing, once that is too old. */
  get metrics(): Readonly<Record<string, number>> {
    const isOld = this.#clock() - this.#saidAt > this.metricsLastMs;
    return (isOld ? undefined : this.#said?.metrics) ?? NO_METRICS;
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
    const isNews = this.#attributes.see(held);
    if (isNews) this.#changed();
    return isNews;
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
    const { slots, metrics } = this;
    const load = this.load - (this.holdings.has(execution_id) ? 1 : 0);
    const hasFreeSlot = this.#row.slots === 0 || load < this.#row.slots;
    const reservations = () => this.holdings.reservations(execution_id);
    // An execution that it runs already needs no other place.
    const hasPlaceApart = () => true;
    const room = { load, hasFreeSlot, hasPlaceApart, reservations };
    const has = { worker, runners, packages, resources, labels, metadata, takesWork };
    return { ...has, slots, metrics, ...room };
  }

  /** Takes over the row from the store, unless the known one is newer. */
  see(row: SessionRow): void {
    if (row.epoch < this.#row.epoch) return;
    const isHeardSince = row.last_seen_at !== this.#row.last_seen_at;
    this.#row = row;
    this.#attributes.own(row);
    // The server that hears its heartbeats knows better than their last flush.
    if (!this.#isHeld) {
      this.#said = row.said;
      if (isHeardSince) this.#saidAt = this.#clock();
    }
    this.#changed();
  }

  hear(heartbeat: Heartbeat): void {
    const { status, healthy, slots_free, metrics, resources } = heartbeat;
    const { stuck_threads, clock_offset_ms } = heartbeat;
    const now = { status, healthy, slots_free, metrics, resources };
    this.#said = { ...now, stuck_threads, clock_offset_ms };
    this.#saidAt = this.#clock();
    this.#changed();
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
    this.#isStopping = false;
    this.#isOverloaded = false;
    this.#changed("freed");
    earlier?.close();
    return true;
  }

  /** Lets assignments through, unless another stream has taken over. */
  ready(stream: WorkerStream): void {
    if (this.#stream !== stream) return;
    this.#isReady = true;
    // They may have changed behind the welcome.
    this.tellServices();
    this.#changed("anew");
  }

  /** Its stream has room again for what it was too full for. */
  hasRoomAgain(): void {
    this.#changed("anew");
  }

  /** @returns false when the stream had been replaced already. */
  disconnected(stream: WorkerStream, now: number): boolean {
    if (this.#stream !== stream) return false;
    this.#stream = undefined;
    this.#isReady = false;
    this.closedAt = now;
    this.#changed();
    return true;
  }

  /** Notes that a poll was answered: the session stays held, and is silent until the next poll. */
  answered(stream: WorkerStream): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    this.#isReady = false;
    this.#changed();
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

  #changed(news: SessionNews = "changed"): void {
    this.onChange?.(this, news);
  }
}
