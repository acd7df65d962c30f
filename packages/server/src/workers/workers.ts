import {
  type Checkpoint,
  type CheckpointAccepted,
  type CheckpointAnswer,
  type CheckpointItem,
  EngineError,
  type Event,
  type ExecutionRow,
  formatInstant,
  type Heartbeat,
  type HeartbeatAnswer,
  type Holding,
  notFound,
  type OwnCacheKey,
  type ProgressAccepted,
  type ProgressBatch,
  type ReleaseAnswer,
  type ReleaseItem,
  type SessionRef,
  type StoredReference,
  stale,
  type WorkerConnection,
  type WorkerFrame,
  type WorkerProtocol,
  type WorkerRegistered,
  type WorkerRegistration,
} from "@engine/contract";
import type { Catalog } from "../catalog/catalog.ts";
import type { CallResolver } from "../children/call-resolver.ts";
import type { Commits } from "../commits.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { ProgressHub } from "../progress/progress-hub.ts";
import { Checkpoints } from "./checkpoints.ts";
import { HandOvers } from "./hand-over.ts";
import { Liveness } from "./liveness.ts";
import { missedEvents, reconcile } from "./reconcile.ts";
import { type Registered, tokenHash, WorkerRegistrations } from "./registration.ts";
import { release } from "./releases.ts";
import { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import { TaskServices } from "./task-services.ts";
import { WorkerStream } from "./worker-stream.ts";

interface Parts {
  readonly ports: EnginePorts;
  readonly commits: Commits;
  readonly sessions: Sessions;
  readonly catalog: Catalog;
  readonly dispatcher: Dispatcher;
  readonly progress: ProgressHub;
  readonly calls: CallResolver;
}

/** The server's side of the worker protocol, for workers in this process and behind HTTP alike. */
export class Workers implements WorkerProtocol {
  readonly #parts: Parts;
  readonly #ports: EnginePorts;
  readonly #sessions: Sessions;
  readonly #handOvers: HandOvers;
  readonly #liveness: Liveness;
  readonly #registrations: WorkerRegistrations;
  readonly #checkpoints: Checkpoints;
  readonly #services: TaskServices;
  #isClosed = false;

  constructor(parts: Parts) {
    const { ports, sessions, commits, calls } = parts;
    this.#parts = parts;
    this.#ports = ports;
    this.#sessions = sessions;
    this.#services = new TaskServices(ports);
    this.#handOvers = new HandOvers({ ports, commits });
    this.#liveness = new Liveness({ ports, sessions, handOvers: this.#handOvers });
    this.#registrations = new WorkerRegistrations({
      ports,
      sessions,
      handOvers: this.#handOvers,
      liveness: this.#liveness,
    });
    this.#checkpoints = new Checkpoints({ ports, commits, calls });
  }

  /** Learns of the sessions an earlier life of this server left; they count from now (LIV-2). */
  async load(): Promise<void> {
    const { store, clock } = this.#ports;
    for (const row of await store.listLiveSessions()) {
      const session = new Session(row, { now: clock(), isInherited: true });
      for (const owned of await store.listOwned(session.id)) session.inherit(owned);
      this.#sessions.add(session, row.token_hash);
      this.#liveness.watch(session);
    }
  }

  /** Does again what failed while the store was away. */
  retry(): Promise<void> {
    return this.#handOvers.retry();
  }

  /** Sends every worker away to find a server that runs, and forgets the timers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const session of this.#sessions.all()) {
      session.send({ event: "control", data: { command: "reconnect" } });
      session.closeStream();
    }
    await this.#liveness.close();
  }

  /** {@link register}, and whether the name is new. */
  open(registration: WorkerRegistration): Promise<Registered> {
    return this.#registrations.register(registration);
  }

  async register(registration: WorkerRegistration): Promise<WorkerRegistered> {
    return (await this.open(registration)).registered;
  }

  async connect(
    ref: SessionRef,
    running: readonly Holding[],
    onFrame: (frame: WorkerFrame) => void,
  ): Promise<WorkerConnection> {
    const session = await this.#identify(ref);
    if (this.#isClosed) throw new EngineError("unavailable", "the server is stopping; try again");
    const stream = new WorkerStream(onFrame, (closed, cause) => {
      if (cause) this.#ports.log.error({ err: cause, worker: session.worker }, "a stream broke");
      if (session.disconnected(closed, this.#ports.clock())) this.#liveness.watch(session);
    });
    session.connect(stream);
    this.#liveness.watch(session);
    try {
      // A loss that was being settled first: else what is kept here could be taken there.
      await session.handingOver;
      const { keep, drop, events } = await reconcile(session, running, {
        store: this.#ports.store,
        dispatcher: this.#parts.dispatcher,
        handOvers: this.#handOvers,
      });
      const server_time = formatInstant(this.#ports.clock());
      stream.open([{ event: "welcome", data: { server_time, keep, drop } }, ...events]);
      for (const { execution_id } of keep) {
        session.release(execution_id);
        const on = this.#parts.progress.isWatched(execution_id);
        session.tell(execution_id, { event: "listen", data: { execution_id, on } });
      }
    } catch (error) {
      stream.close();
      throw error;
    }
    session.ready(stream);
    this.#parts.dispatcher.wake();
    return stream;
  }

  async heartbeat(ref: SessionRef, { running, slots_free }: Heartbeat): Promise<HeartbeatAnswer> {
    const session = await this.#identify(ref);
    if (session.isOverloaded && slots_free > 0) {
      session.isOverloaded = false;
      this.#parts.dispatcher.wake();
    }
    for (const holding of running) if (session.hasMissed(holding)) this.#repeat(session, holding);
    const drop = running
      .filter((holding) => !session.owns(holding))
      .map(({ execution_id, generation }) => ({ execution_id, generation }));
    return { server_time: formatInstant(this.#ports.clock()), drop };
  }

  async checkpoints(
    ref: SessionRef,
    items: readonly CheckpointItem[],
  ): Promise<readonly CheckpointAnswer[]> {
    return this.#checkpoints.accept(await this.#identify(ref), items);
  }

  /** One item by itself: what a batch answers as its error is thrown. */
  async checkpoint(
    ref: SessionRef,
    execution_id: string,
    item: Checkpoint,
  ): Promise<CheckpointAccepted> {
    return this.#checkpoints.acceptOne(await this.#identify(ref), execution_id, item);
  }

  async release(ref: SessionRef, items: readonly ReleaseItem[]): Promise<readonly ReleaseAnswer[]> {
    const session = await this.#identify(ref);
    return release(session, items, { commits: this.#parts.commits, ports: this.#ports });
  }

  async progress(
    ref: SessionRef,
    execution_id: string,
    { generation, items }: ProgressBatch,
  ): Promise<ProgressAccepted> {
    const session = await this.#identify(ref);
    await this.#refuseOthers(session, { execution_id, generation });
    this.#parts.progress.publish(execution_id, items);
    return { accepted: items.length, listening: this.#parts.progress.isWatched(execution_id) };
  }

  async module(ref: SessionRef, hash: string): Promise<string> {
    const session = await this.#identify(ref);
    for (const [execution_id, { module_hash }] of session.owned) {
      const owned =
        module_hash ?? (await this.#ports.store.findExecution(execution_id))?.module_hash;
      if (owned === hash) return this.#parts.catalog.readBundle(hash);
    }
    throw notFound("module", hash);
  }

  async events(
    ref: SessionRef,
    execution_id: string,
    page: { generation: number; after: number; limit: number },
  ): Promise<{ events: readonly Event[]; head: number }> {
    const session = await this.#identify(ref);
    const { generation, after, limit } = page;
    await this.#refuseOthers(session, { execution_id, generation });
    const logged = await this.#ports.store.readLog(execution_id, { after, limit });
    const { head } = await this.#row(execution_id);
    return { events: logged.map(({ event }) => event), head };
  }

  async saveValue(
    ref: SessionRef,
    execution_id: string,
    { generation, text }: { generation: number; text: string },
  ): Promise<StoredReference> {
    await this.#owned(ref, { execution_id, generation });
    return this.#services.saveValue(execution_id, text);
  }

  async loadValue(
    ref: SessionRef,
    execution_id: string,
    { generation, reference_id }: { generation: number; reference_id: string },
  ): Promise<string> {
    await this.#owned(ref, { execution_id, generation });
    return this.#services.loadValue(execution_id, reference_id);
  }

  async cacheLookup(
    ref: SessionRef,
    execution_id: string,
    { generation, key }: { generation: number; key: OwnCacheKey },
  ): Promise<{ text: string | null }> {
    await this.#owned(ref, { execution_id, generation });
    return { text: (await this.#services.cacheLookup(execution_id, key)) ?? null };
  }

  async cacheKeep(
    ref: SessionRef,
    execution_id: string,
    entry: { generation: number; key: OwnCacheKey; text: string; ttl_ms: number },
  ): Promise<void> {
    const { generation } = entry;
    await this.#owned(ref, { execution_id, generation });
    await this.#services.cacheKeep(execution_id, entry);
  }

  async disconnect(ref: SessionRef): Promise<void> {
    const session = await this.#identify(ref);
    session.ended = "disconnected";
    session.closeStream();
    this.#liveness.unwatch(session);
    await this.#handOvers.all(session);
    await this.#ports.store.endSession(session.id, "disconnected");
    this.#sessions.remove(session);
  }

  /** Pushes again what a worker shows not to have heard of (EXE-43). */
  #repeat(session: Session, holding: Holding): void {
    const { execution_id, generation } = holding;
    missedEvents(this.#ports.store, holding, generation).then(
      (frame) => {
        if (frame && session.owns(holding)) session.tell(execution_id, frame);
      },
      (error: unknown) => this.#ports.log.warn({ err: error }, "could not push events again"),
    );
  }

  /** The session whose secret this is; every call of it says that it lives. */
  async #identify({ worker, session: token }: SessionRef): Promise<Session> {
    const token_hash = tokenHash(token);
    const session = this.#sessions.findByToken(token_hash);
    if (!session) throw await this.#unknown(worker, token_hash);
    if (session.worker !== worker) {
      const message = `the session belongs to another worker than ${worker}`;
      throw new EngineError("permission_denied", message);
    }
    if (session.ended === "superseded") throw superseded(worker);
    if (session.ended) throw sessionUnknown(worker);
    this.#liveness.heard(session);
    return session;
  }

  async #unknown(worker: string, token_hash: string): Promise<EngineError> {
    const row = await this.#ports.store.findSession(worker, token_hash);
    return row?.end_reason === "superseded" ? superseded(worker) : sessionUnknown(worker);
  }

  /** Refuses a session that is not the execution's owner under that generation. */
  async #owned(
    ref: SessionRef,
    claim: { execution_id: string; generation: number },
  ): Promise<void> {
    await this.#refuseOthers(await this.#identify(ref), claim);
  }

  async #refuseOthers(
    session: Session,
    claim: { execution_id: string; generation: number },
  ): Promise<void> {
    if (!session.owns(claim)) throw stale(await this.#row(claim.execution_id));
  }

  async #row(execution_id: string): Promise<ExecutionRow> {
    const row = await this.#ports.store.findExecution(execution_id);
    if (!row) throw notFound("execution", execution_id);
    return row;
  }
}

function sessionUnknown(worker: string): EngineError {
  return new EngineError(
    "session_unknown",
    `worker ${worker} has no such session; it registers again and keeps its executions`,
  );
}

function superseded(worker: string): EngineError {
  return new EngineError(
    "session_superseded",
    `another process has taken over the name ${worker}; this one stops`,
  );
}
