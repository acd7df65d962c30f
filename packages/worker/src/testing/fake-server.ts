import { createHash } from "node:crypto";
import {
  type Assignment,
  type CheckpointAnswer,
  type CheckpointItem,
  type DispatchMode,
  type Encoded,
  EngineError,
  type Event,
  type EventPage,
  type ExecutionLimits,
  type ExecutionRow,
  type ExecutionToken,
  formatEventTime,
  type Heartbeat,
  type HeartbeatAnswer,
  type Holding,
  type Json,
  type NewEvent,
  NOT_ENFORCED,
  notFound,
  type Poll,
  type ProgressAccepted,
  type ProgressItem,
  type ReleaseAnswer,
  type ReleaseItem,
  revealed,
  type SessionRef,
  stale,
  WORKER_PROTOCOL,
  type WorkerConnection,
  type WorkerFrame,
  type WorkerProtocol,
  type WorkerRegistered,
  type WorkerRegistration,
} from "@engine/contract";
import { FakeExecutions, type FakeStart } from "./fake-executions.ts";
import { FakeStorage } from "./fake-storage.ts";
import { setTimer } from "./set-timer.ts";

interface OpenStream {
  session: string;
  send(frame: WorkerFrame): void;
  close(): void;
}

/**
 * A server for tests, in memory: the contract's own rules decide what happens to an execution, one
 * worker at a time gets everything that is queued, and tests see each call.
 */
export class FakeServer implements WorkerProtocol {
  /** Called before each call of the protocol; may reject, or wait, to play trouble on the way. */
  before: (call: keyof WorkerProtocol) => void | Promise<void> = () => {};
  /** Called after a checkpoint was committed and before it is answered. */
  answering: (items: readonly CheckpointItem[]) => void | Promise<void> = () => {};
  /** Whether queued executions go to the worker at once. */
  dispatching = true;
  /** Whether a worker that reconnects gets back what was taken from it and nobody has (WRK-9). */
  adopting = false;
  heartbeatSeconds = 10;
  /** What registration answers as the way to get frames. */
  dispatch: DispatchMode = "event";
  /** What registration answers as the limits of executions. */
  limits: ExecutionLimits = {
    sibling_grace: 2,
    inline_wait: 1,
    rollback_timeout: 10,
    max_events: 100_000,
    inline_value_bytes: 262_144,
    max_value_bytes: 16_777_216,
  };
  /** The number of its protocol; it also takes workers of the one before. */
  protocol: number = WORKER_PROTOCOL;
  /** What assignments say of the rights of those that executions run as. */
  authz: Assignment["authz"] = NOT_ENFORCED;
  /** The token of an assignment; there is one unless authorization is off. */
  assignedToken: (execution_id: string) => ExecutionToken | null = () => null;
  /** The token that a worker asks for. */
  newToken: (execution_id: string) => ExecutionToken = () => {
    throw new EngineError("not_found", "authorization is off: executions have no tokens");
  };
  /** Local services that a welcome says are granted. */
  granted: readonly string[] = [];
  /** Events that an assignment frame may hold. */
  framedHistory: number = Number.POSITIVE_INFINITY;
  readonly registrations: WorkerRegistration[] = [];
  readonly connects: (readonly Holding[])[] = [];
  readonly heartbeats: Heartbeat[] = [];
  readonly polls: Poll[] = [];
  readonly batches: (readonly CheckpointItem[])[] = [];
  readonly releases: ReleaseItem[] = [];
  /** Codes with which checkpoints were refused. */
  readonly refusals: string[] = [];
  readonly progressItems: ProgressItem[] = [];
  /** What happened, in order, as far as order matters to a viewer. */
  readonly seen: string[] = [];
  readonly modules: Map<string, string> = new Map();
  readonly moduleReads: string[] = [];
  readonly secretValues: Map<string, Json> = new Map();
  readonly configValues: Map<string, Json> = new Map();
  /** What tasks asked for of these, as `secret A,B`. */
  readonly askedNames: string[] = [];
  /** What is kept beside the logs. */
  readonly storage: FakeStorage = new FakeStorage();
  readonly #executions = new FakeExecutions();
  readonly #sessions = new Map<string, string>();
  #stream: OpenStream | undefined;
  readonly #unpolled: WorkerFrame[] = [];
  #endPoll: () => void = () => {};
  #count = 0;
  #watchers = new Set<() => void>();
  #listening = new Set<string>();

  /** Stores a bundle and gives its hash. */
  addModule(bundle: string): string {
    const hash = createHash("sha256").update(bundle).digest("hex");
    this.modules.set(hash, bundle);
    return hash;
  }

  start(
    workflow: string,
    module_hash: string,
    { watched = false, ...of }: { watched?: boolean } & FakeStart = {},
  ): string {
    const execution_id = `execution-${++this.#count}`;
    this.#executions.create(execution_id, { workflow, module_hash, ...of });
    if (watched) this.#listening.add(execution_id);
    this.#changed();
    return execution_id;
  }

  row(execution_id: string): ExecutionRow {
    return this.#executions.row(execution_id);
  }

  log(execution_id: string): readonly Event[] {
    return this.#executions.log(execution_id);
  }

  types(execution_id: string): string[] {
    return this.log(execution_id).map((event) => event.type);
  }

  resume(execution_id: string, input: Encoded): void {
    this.#executions.resume(execution_id, input);
    this.#changed();
  }

  /** The same for an execution that a worker runs, and tells it. */
  resumeRunning(execution_id: string, input: Encoded): void {
    const { head: base_seq, generation } = this.row(execution_id);
    this.resume(execution_id, input);
    const events = this.log(execution_id).slice(base_seq);
    this.send({ event: "events", data: { execution_id, generation, base_seq, events } });
  }

  /** Cancels an execution that a worker runs, and tells it. */
  cancel(execution_id: string): void {
    const { head: base_seq, generation } = this.row(execution_id);
    this.#executions.cancel(execution_id);
    const events = this.log(execution_id).slice(base_seq);
    if (events.length === 0) return;
    this.send({ event: "events", data: { execution_id, generation, base_seq, events } });
    this.#changed();
  }

  /** Lets the time come that a parked execution waits for. */
  wake(execution_id: string): void {
    if (!this.#executions.wake(execution_id)) throw new Error(`${execution_id} waits for no time`);
    this.#changed();
  }

  /** Plays another worker that claims an execution and writes these events, the last one pausing it. */
  runElsewhere(execution_id: string, events: readonly Omit<NewEvent, "time" | "meta">[]): void {
    const isClaimed = this.#executions.claim(execution_id, { worker: "other", session: "other" });
    if (!isClaimed) throw new Error(`${execution_id} is not in the queue`);
    const { generation, head: base_seq } = this.row(execution_id);
    const time = formatEventTime(Date.now());
    const answer = this.#checkpoint("other", {
      execution_id,
      generation,
      base_seq,
      state: "PAUSED",
      events: events.map((event) => ({ ...event, time, meta: null })),
    });
    if ("error" in answer) throw EngineError.from(answer);
  }

  send(frame: WorkerFrame): void {
    this.#stream?.send(frame);
  }

  listen(execution_id: string, on: boolean): void {
    if (on) this.#listening.add(execution_id);
    else this.#listening.delete(execution_id);
    this.send({ event: "listen", data: { execution_id, on } });
  }

  /** Grants these local services and no others. */
  grant(...granted: string[]): void {
    this.granted = granted;
    this.send({ event: "services", data: { granted } });
  }

  /** Cuts the stream, as a proxy would. */
  cut(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  /** Forgets every session, as after a lost database. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  /** Takes an execution from its worker without telling it. */
  takeAway(execution_id: string): void {
    this.#executions.handOver(execution_id);
  }

  get isConnected(): boolean {
    return this.#stream !== undefined;
  }

  /** Settles as soon as the condition holds. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  async finished(execution_id: string): Promise<ExecutionRow> {
    await this.until(() => this.row(execution_id).finished_at !== null);
    return this.row(execution_id);
  }

  async register(registration: WorkerRegistration): Promise<WorkerRegistered> {
    await this.#enter("register");
    this.registrations.push(registration);
    const supported = [this.protocol, this.protocol - 1].filter((n) => n >= 1);
    if (!supported.includes(registration.protocol)) {
      const message = `the worker speaks protocol ${registration.protocol}`;
      throw new EngineError("incompatible_worker", message, { details: { supported } });
    }
    const session = `session-${++this.#count}`;
    // The same process again goes on with its session: only the secret is new.
    this.#sessions.set(session, registration.instance_id);
    this.#changed();
    const { name, labels, slots } = registration;
    return {
      worker: { name, labels, slots },
      protocol: this.protocol,
      session,
      dispatch: this.dispatch,
      heartbeat_seconds: this.heartbeatSeconds,
      executions: this.limits,
      credential: null,
    };
  }

  async connect(
    ref: SessionRef,
    running: readonly Holding[],
    onFrame: (frame: WorkerFrame) => void,
  ): Promise<WorkerConnection> {
    await this.#enter("connect");
    const session = this.#session(ref);
    this.cut();
    const closed = Promise.withResolvers<void>();
    let open = true;
    const stream: OpenStream = {
      session,
      send: (frame) => open && onFrame(frame),
      close: () => {
        open = false;
        closed.resolve();
      },
    };
    this.#stream = stream;
    this.connects.push(running);
    for (const frame of this.#reconcile(session, running)) stream.send(frame);
    this.#changed();
    return {
      close: () => {
        stream.close();
        if (this.#stream === stream) this.#stream = undefined;
        this.#changed();
      },
      closed: closed.promise,
    };
  }

  async poll(ref: SessionRef, poll: Poll): Promise<readonly WorkerFrame[]> {
    await this.#enter("poll");
    const session = this.#session(ref);
    this.polls.push(poll);
    const [welcome, ...behind] = this.#reconcile(session, poll.running);
    const isNews = welcome?.event === "welcome" && welcome.data.drop.length > 0;
    const frames: WorkerFrame[] = isNews ? [welcome, ...behind] : behind;
    this.#endPoll();
    const over = Promise.withResolvers<void>();
    const cancel = setTimer(over.resolve, poll.wait_seconds * 1000);
    this.#endPoll = over.resolve;
    // Between two polls frames wait.
    const send = (frame: WorkerFrame) => {
      this.#unpolled.push(frame);
      this.#endPoll();
    };
    this.#stream = { session, send, close: () => this.#endPoll() };
    if (frames.length + this.#unpolled.length > 0) over.resolve();
    this.#changed();
    await over.promise;
    cancel();
    return [...frames, ...this.#unpolled.splice(0)];
  }

  async heartbeat(ref: SessionRef, heartbeat: Heartbeat): Promise<HeartbeatAnswer> {
    await this.#enter("heartbeat");
    const session = this.#session(ref);
    this.heartbeats.push(heartbeat);
    this.#changed();
    return {
      server_time: new Date().toISOString(),
      drop: heartbeat.running.filter((holding) => !this.#executions.owns(session, holding)),
    };
  }

  async checkpoints(
    ref: SessionRef,
    items: readonly CheckpointItem[],
  ): Promise<CheckpointAnswer[]> {
    await this.#enter("checkpoints");
    const session = this.#session(ref);
    this.batches.push(items);
    const answers = items.map((item) =>
      this.#checkpoint(session, { ...item, events: item.events.map(revealed) }),
    );
    this.#changed();
    await this.answering(items);
    return answers;
  }

  async release(ref: SessionRef, items: readonly ReleaseItem[]): Promise<ReleaseAnswer[]> {
    await this.#enter("release");
    const session = this.#session(ref);
    const answers = items.map(({ execution_id, ...item }) => {
      const owns = this.#executions.owns(session, { execution_id, generation: item.generation });
      if (!owns) return { execution_id, error: stale(this.row(execution_id)).toBody().error };
      this.releases.push({ execution_id, ...item });
      this.#executions.handOver(execution_id);
      if (item.error) this.#executions.fail(execution_id, item.error);
      return { execution_id, ok: true as const };
    });
    this.#changed();
    return answers;
  }

  async progress(
    ref: SessionRef,
    execution_id: string,
    { items }: { items: readonly ProgressItem[] },
  ): Promise<ProgressAccepted> {
    await this.#enter("progress");
    this.#session(ref);
    for (const item of items) {
      this.progressItems.push(item);
      this.seen.push(`progress ${JSON.stringify(item.value)}`);
    }
    this.#changed();
    return { accepted: items.length, listening: this.#listening.has(execution_id) };
  }

  async module(ref: SessionRef, hash: string): Promise<string> {
    await this.#enter("module");
    this.#session(ref);
    this.moduleReads.push(hash);
    const bundle = this.modules.get(hash);
    if (bundle === undefined) throw notFound("module", hash);
    return bundle;
  }

  async events(
    ref: SessionRef,
    execution_id: string,
    { after, limit }: { generation: number; after: number; limit: number },
  ): Promise<EventPage> {
    await this.#enter("events");
    this.#session(ref);
    const events = this.log(execution_id).slice(after, after + limit);
    return { events, head: this.row(execution_id).head };
  }

  readonly saveValue: WorkerProtocol["saveValue"] = async (ref, execution_id, value) => {
    await this.#enterOwned("saveValue", ref, { execution_id, generation: value.generation });
    return this.storage.save(execution_id, value.text);
  };

  readonly loadValue: WorkerProtocol["loadValue"] = async (ref, execution_id, value) => {
    await this.#enterOwned("loadValue", ref, { execution_id, generation: value.generation });
    return this.storage.load(value.reference_id);
  };

  readonly cacheLookup: WorkerProtocol["cacheLookup"] = async (ref, execution_id, asked) => {
    await this.#enterOwned("cacheLookup", ref, { execution_id, generation: asked.generation });
    return { text: this.storage.lookUp(asked.key) };
  };

  readonly cacheKeep: WorkerProtocol["cacheKeep"] = async (ref, execution_id, entry) => {
    await this.#enterOwned("cacheKeep", ref, { execution_id, generation: entry.generation });
    this.storage.keep(entry.key, entry.text);
  };

  readonly executionToken: WorkerProtocol["executionToken"] = async (ref, execution_id, of) => {
    await this.#enterOwned("executionToken", ref, { execution_id, generation: of.generation });
    return this.newToken(execution_id);
  };

  readonly secrets: WorkerProtocol["secrets"] = async (ref, execution_id, asked) => {
    await this.#enterOwned("secrets", ref, { execution_id, generation: asked.generation });
    return this.#named("secret", this.secretValues, asked.names);
  };

  readonly configs: WorkerProtocol["configs"] = async (ref, execution_id, asked) => {
    await this.#enterOwned("configs", ref, { execution_id, generation: asked.generation });
    return this.#named("config", this.configValues, asked.names);
  };

  #named(
    kind: string,
    all: ReadonlyMap<string, Json>,
    names: readonly string[],
  ): Readonly<Record<string, Json>> {
    this.askedNames.push(`${kind} ${names.join()}`);
    const missing = names.filter((name) => !all.has(name));
    if (missing.length === 0) return Object.fromEntries(names.map((n) => [n, all.get(n) ?? null]));
    const message = `no ${kind} ${missing.join(", ")}`;
    throw new EngineError("not_found", message, { details: { resource: kind, names: missing } });
  }

  async disconnect(ref: SessionRef): Promise<void> {
    await this.#enter("disconnect");
    this.#sessions.delete(ref.session);
    this.cut();
    this.#changed();
  }

  async #enter(call: keyof WorkerProtocol): Promise<void> {
    await this.before(call);
  }

  async #enterOwned(
    call: keyof WorkerProtocol,
    ref: SessionRef,
    claim: Omit<Holding, "seq">,
  ): Promise<void> {
    await this.#enter(call);
    if (!this.#executions.owns(this.#session(ref), claim))
      throw stale(this.row(claim.execution_id));
  }

  #session({ session }: SessionRef): string {
    const instance = this.#sessions.get(session);
    if (!instance) throw new EngineError("session_unknown", "no such session");
    return instance;
  }

  #checkpoint(session: string, item: CheckpointItem): CheckpointAnswer {
    const { execution_id } = item;
    const verdict = this.#executions.checkpoint(session, item);
    if (verdict.kind === "refuse") {
      this.refusals.push(verdict.error.code);
      return { execution_id, error: verdict.error.toBody().error };
    }
    const { state, generation, head } = this.row(execution_id);
    this.seen.push(state);
    return {
      execution_id,
      seq: verdict.kind === "repeat" ? verdict.seq : head,
      state,
      generation,
    };
  }

  #changed(): void {
    const stream = this.#stream;
    if (stream && this.dispatching) {
      for (const id of this.#executions.queued) this.#assign(id, stream);
    }
    for (const wake of [...this.#watchers]) {
      this.#watchers.delete(wake);
      wake();
    }
  }

  /** A welcome, and what the owned ones have not heard of (WRK-9). */
  #reconcile(session: string, running: readonly Holding[]): WorkerFrame[] {
    if (this.adopting) for (const holding of running) this.#adopt(session, holding);
    const isOwned = ({ execution_id }: Holding) => this.row(execution_id).session === session;
    const owned = running.filter(isOwned);
    const keep = owned.map(({ execution_id }) => ({
      execution_id,
      generation: this.row(execution_id).generation,
    }));
    const drop = running
      .filter((holding) => !isOwned(holding))
      .map(({ execution_id, generation }) => ({ execution_id, generation, reason: "not owned" }));
    const server_time = new Date().toISOString();
    const frames: WorkerFrame[] = [
      {
        event: "welcome",
        data: { replica: "replica", server_time, services: [...this.granted], keep, drop },
      },
    ];
    for (const { execution_id, seq: base_seq } of owned) {
      const { generation } = this.row(execution_id);
      const events = this.log(execution_id).slice(base_seq);
      if (events.length === 0) continue;
      frames.push({ event: "events", data: { execution_id, generation, base_seq, events } });
    }
    return frames;
  }

  #adopt(session: string, { execution_id, generation }: Holding): void {
    if (this.row(execution_id).generation !== generation) return;
    this.#executions.claim(execution_id, { worker: "worker", session });
  }

  #assign(execution_id: string, { session, send }: OpenStream): void {
    const listen = this.#listening.has(execution_id);
    const of = { session, listen, framedHistory: this.framedHistory };
    const assignment = this.#executions.assign(execution_id, of);
    if (!assignment) return;
    const { authz } = this;
    const execution_token = this.assignedToken(execution_id);
    const data = { ...assignment, ...(authz && { authz }), execution_token };
    send({ event: "assign", data });
  }
}
