import {
  type Checkpoint,
  type CheckpointAccepted,
  type CheckpointAnswer,
  type CheckpointItem,
  EngineError,
  type ExecutionRow,
  formatInstant,
  type Heartbeat,
  type HeartbeatAnswer,
  type Holding,
  notFound,
  type Poll,
  type ReleaseAnswer,
  type ReleaseItem,
  type SessionRef,
  stale,
  type WorkerConnection,
  type WorkerCredential,
  type WorkerFrame,
  type WorkerProtocol,
  type WorkerRegistered,
  type WorkerRegistration,
} from "@engine/contract";
import type { AuditedCall } from "../auth/audit-entry.ts";
import type { ExecutionTokens } from "../auth/execution-tokens.ts";
import type { RunAs } from "../auth/run-as.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CallResolver } from "../children/call-resolver.ts";
import type { Commits } from "../commits.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Domain } from "../domain.ts";
import type { InnerPorts } from "../engine-ports.ts";
import { recovered } from "../failpoints.ts";
import type { ProgressHub } from "../progress/progress-hub.ts";
import type { Bus } from "../replicas/bus.ts";
import type { BusMessage } from "../replicas/bus-message.ts";
import type { LedWork } from "../replicas/leadership.ts";
import type { Replicas } from "../replicas/replicas.ts";
import type { Admissions } from "./admissions.ts";
import { type CheckpointLine, Checkpoints } from "./checkpoints.ts";
import { warnOfClock } from "./clock-warning.ts";
import { Connections } from "./connections.ts";
import { correction } from "./control.ts";
import type { Grants } from "./grants.ts";
import { type HandOvers, lossIfRunning } from "./hand-over.ts";
import type { Held } from "./holdings.ts";
import type { Liveness } from "./liveness.ts";
import { type Registered, WorkerRegistrations } from "./registration.ts";
import { release } from "./releases.ts";
import type { Repeats } from "./repeats.ts";
import type { Session } from "./session.ts";
import type { SessionLookup } from "./session-lookup.ts";
import type { Sessions } from "./sessions.ts";
import { TaskServices } from "./task-services.ts";
import type { TaskValues } from "./task-values.ts";
import type { Backlog } from "./worker-stream.ts";

/** The workers of a stopping server are told to leave at some moment within this time. */
const LEAVE_SECONDS = 1;
/** How much longer the server waits for them. */
const LEAVE_GRACE_SECONDS = 0.5;

interface Parts {
  readonly ports: InnerPorts;
  readonly commits: Commits;
  readonly sessions: Sessions;
  readonly catalog: Catalog;
  readonly dispatcher: Dispatcher;
  readonly progress: ProgressHub;
  readonly calls: CallResolver;
  readonly handOvers: HandOvers;
  readonly liveness: Liveness;
  readonly repeats: Repeats;
  readonly lookup: SessionLookup;
  readonly bus: Bus;
  readonly replicas: Pick<Replicas, "hasPeers">;
  readonly grants: Grants;
  readonly runAs: Pick<RunAs, "find">;
  readonly tokens: Pick<ExecutionTokens, "mint"> | undefined;
  readonly admissions: Admissions;
  readonly values: Pick<TaskValues, "secrets" | "configs">;
}

/** The server's side of the worker protocol, for workers in this process and behind HTTP alike. */
export class Workers implements WorkerProtocol, Domain {
  readonly led: LedWork;
  readonly #parts: Parts;
  readonly #ports: InnerPorts;
  readonly #sessions: Sessions;
  readonly #lookup: SessionLookup;
  readonly #registrations: WorkerRegistrations;
  readonly #connections: Connections;
  readonly #checkpoints: Checkpoints;
  readonly #services: TaskServices;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#ports = parts.ports;
    this.#sessions = parts.sessions;
    this.#lookup = parts.lookup;
    this.led = parts.liveness;
    this.#services = new TaskServices(parts.ports);
    this.#registrations = new WorkerRegistrations(parts);
    this.#connections = new Connections(parts);
    this.#checkpoints = new Checkpoints(parts);
    parts.bus.listen((message) => this.#hear(message));
  }

  async recover(): Promise<void> {
    await this.#lookup.refresh();
    if (recovered.hasSubscribers) recovered.publish({ of: ["sessions"] });
  }

  async refresh(): Promise<void> {
    await Promise.all([
      this.#retry(),
      ...(this.#parts.bus.isShared ? [this.#lookup.refresh()] : []),
    ]);
  }

  /** Sends every worker away to find a server that runs, not all at one moment (WRK-13). */
  async close(): Promise<void> {
    this.#connections.close();
    this.#parts.repeats.close();
    for (const session of this.#sessions.all()) {
      const delay_seconds = this.#ports.random() * LEAVE_SECONDS;
      session.send({ event: "control", data: { command: "reconnect", delay_seconds } });
    }
    if (this.#parts.replicas.hasPeers) await this.#untilAllLeft();
    for (const session of this.#sessions.all()) session.letGo();
    await this.#parts.liveness.close();
  }

  /** Hands over what could not be handed over while the store was away. */
  async #retry(): Promise<void> {
    await this.#parts.handOvers.retry();
    // Slots of claims that came to nothing are free again.
    this.#sessions.tellRoom();
  }

  /** Where there is another server, workers keep their stream to this one until they have one there. */
  async #untilAllLeft(): Promise<void> {
    const connected = [...this.#sessions.all()].filter(({ isConnected }) => isConnected);
    if (connected.length === 0) return;
    const late = Promise.withResolvers<void>();
    const cancel = this.#ports.setTimer(late.resolve, (LEAVE_SECONDS + LEAVE_GRACE_SECONDS) * 1000);
    await Promise.race([late.promise, Promise.all(connected.map((session) => session.left()))]);
    cancel();
  }

  /**
   * As {@link register}, for a worker that comes by the network and shows who it is; also says whether
   * the name is new.
   */
  open(registration: WorkerRegistration, call?: AuditedCall): Promise<Registered> {
    return this.#registrations.register(registration, call);
  }

  /** The successor of the credential with which the request came (AUTH-51). */
  renewCredential(worker: string, call: AuditedCall): Promise<WorkerCredential> {
    return this.#parts.admissions.renew(worker, call);
  }

  async register(registration: WorkerRegistration): Promise<WorkerRegistered> {
    return (await this.open(registration)).registered;
  }

  /** @param backlog The frames that have not left yet, where they may become many. */
  async connect(
    ref: SessionRef,
    running: readonly Holding[],
    onFrame: (frame: WorkerFrame) => void,
    backlog?: Backlog,
  ): Promise<WorkerConnection> {
    return this.#connections.connect(await this.#lookup.identify(ref), running, onFrame, backlog);
  }

  /** @param options.signal Aborted when nobody waits for the answer any more. */
  async poll(
    ref: SessionRef,
    poll: Poll,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<readonly WorkerFrame[]> {
    const session = await this.#lookup.identify(ref);
    this.#noteSaid(session, poll);
    return this.#connections.poll(session, poll, signal);
  }

  async heartbeat(ref: SessionRef, heartbeat: Heartbeat): Promise<HeartbeatAnswer> {
    const session = await this.#lookup.identify(ref);
    this.#noteSaid(session, heartbeat);
    const server_time = formatInstant(this.#ports.clock());
    if (!session.isHeld) {
      // The server that has the stream knows what the session owns.
      void this.#parts.bus.send({ kind: "beat", session: session.id, heartbeat });
      return { server_time, drop: [] };
    }
    const drop = this.#compare(session, heartbeat);
    return { server_time, drop };
  }

  async checkpoints(
    ref: SessionRef,
    items: readonly CheckpointItem[],
  ): Promise<readonly CheckpointAnswer[]> {
    return this.#checkpoints.accept(await this.#lookup.identify(ref), items);
  }

  /** Takes the batches of one open request. Rejects at once for an unknown session. */
  async openCheckpoints(ref: SessionRef): Promise<CheckpointLine> {
    return this.#checkpoints.lineOf(await this.#lookup.follow(ref));
  }

  /**
   * Takes one item by itself: an error that a batch would answer is thrown. The session alone says which
   * worker it is; where the request names a worker too, the two have to agree.
   */
  async checkpoint(
    { session, worker }: { readonly session: string; readonly worker: string | undefined },
    execution_id: string,
    item: Checkpoint,
  ): Promise<CheckpointAccepted> {
    const named = worker ?? (await this.#lookup.workerOf(session, execution_id));
    const ref = { session, worker: named };
    return this.#checkpoints.acceptOne(await this.#lookup.identify(ref), execution_id, item);
  }

  async release(ref: SessionRef, items: readonly ReleaseItem[]): Promise<readonly ReleaseAnswer[]> {
    const session = await this.#lookup.identify(ref);
    return release(session, items, this.#parts);
  }

  readonly progress: WorkerProtocol["progress"] = async (ref, execution_id, batch) => {
    const { generation, items } = batch;
    await this.#refuseOthers(ref, { execution_id, generation });
    await this.#parts.progress.publish(execution_id, items);
    return { accepted: items.length, listening: this.#parts.progress.isWatched(execution_id) };
  };

  async module(ref: SessionRef, hash: string): Promise<string> {
    const session = await this.#lookup.identify(ref);
    const isIts = ({ module_hash }: { readonly module_hash: string | null }) =>
      module_hash === hash;
    // While another server holds the session, or takes it over, not all it owns is known here.
    const owned = [...session.holdings.owned.values()].some(isIts)
      ? undefined
      : await this.#ports.store.queue.listOwned(session.id);
    if (owned && !owned.some(isIts)) throw notFound("module", hash);
    return (await this.#parts.catalog.loadModule(hash)).bundle;
  }

  readonly events: WorkerProtocol["events"] = async (ref, execution_id, page) => {
    const { generation, after, limit } = page;
    await this.#refuseOthers(ref, { execution_id, generation });
    const logged = await this.#ports.store.log.read(execution_id, { after, limit });
    const { head } = await this.#row(execution_id);
    const events = await this.#ports.seals.revealed(
      execution_id,
      logged.map(({ event }) => event),
    );
    return { events, head };
  };

  readonly saveValue: WorkerProtocol["saveValue"] = async (ref, execution_id, value) => {
    await this.#refuseOthers(ref, { execution_id, generation: value.generation });
    return this.#services.saveValue(execution_id, value);
  };

  readonly loadValue: WorkerProtocol["loadValue"] = async (ref, execution_id, value) => {
    await this.#refuseOthers(ref, { execution_id, generation: value.generation });
    return this.#services.loadValue(execution_id, value.reference_id);
  };

  readonly cacheLookup: WorkerProtocol["cacheLookup"] = async (ref, execution_id, asked) => {
    await this.#refuseOthers(ref, { execution_id, generation: asked.generation });
    return { text: (await this.#services.cacheLookup(execution_id, asked.key)) ?? null };
  };

  readonly cacheKeep: WorkerProtocol["cacheKeep"] = async (ref, execution_id, entry) => {
    await this.#refuseOthers(ref, { execution_id, generation: entry.generation });
    await this.#services.cacheKeep(execution_id, entry);
  };

  readonly executionToken: WorkerProtocol["executionToken"] = async (ref, execution_id, of) => {
    const { runAs, tokens } = this.#parts;
    const row = await this.#ownRow(ref, execution_id, of);
    if (!tokens) {
      throw new EngineError("not_found", "authorization is off: executions have no tokens");
    }
    const account = row.run_as === null ? undefined : await runAs.find(row.run_as);
    if (account?.state === "usable") return tokens.mint(row, account);
    const message = `the principal that execution ${execution_id} runs as cannot be used now`;
    throw new EngineError("permission_denied", message);
  };

  readonly secrets: WorkerProtocol["secrets"] = async (ref, execution_id, asked) =>
    this.#parts.values.secrets(await this.#ownRow(ref, execution_id, asked), asked);

  readonly configs: WorkerProtocol["configs"] = async (ref, execution_id, asked) =>
    this.#parts.values.configs(await this.#ownRow(ref, execution_id, asked), asked);

  /** What is known of the session may be older than the row. */
  async #ownRow(
    ref: SessionRef,
    execution_id: string,
    { generation }: { readonly generation: number },
  ): Promise<ExecutionRow> {
    await this.#refuseOthers(ref, { execution_id, generation });
    const row = await this.#row(execution_id);
    if (row.generation !== generation || row.session === null) throw stale(row);
    return row;
  }

  async disconnect(ref: SessionRef): Promise<void> {
    const session = await this.#lookup.identify(ref);
    session.isStopping = true;
    // The store is told first: should that fail, the worker says it again, or is given up as silent.
    await this.#ports.store.sessions.end(session.id, "disconnected");
    session.ended = "disconnected";
    session.letGo();
    this.#parts.liveness.unwatch(session);
    await this.#parts.handOvers.all(session);
    this.#sessions.remove(session);
    void this.#parts.bus.send({ kind: "session", session: session.id });
  }

  /** Hears what other servers say of workers. */
  #hear(message: BusMessage): void {
    if (message.kind === "session") {
      const { session, superseded_by } = message;
      if (superseded_by) this.#registrations.end(session, superseded_by);
      void this.#lookup.look(session);
    } else if (message.kind === "desired") {
      this.#sessions.desire(message);
    } else if (message.kind === "beat") {
      const session = this.#sessions.find(message.session);
      if (!session?.isHeld) return;
      this.#noteSaid(session, message.heartbeat);
      this.#compare(session, message.heartbeat);
    }
  }

  #noteSaid(session: Session, heartbeat: Heartbeat): void {
    session.hear(heartbeat);
    if (heartbeat.slots_free > 0) session.isOverloaded = false;
    warnOfClock(session, this.#ports.log);
    this.#parts.liveness.heard(session, { hasSaid: true });
    this.#sessions.tellRoom();
  }

  /**
   * Compares what a worker says with what is known of it: what it lists with what its session owns
   * (LIV-1), of which it answers what that does not own, and whether it does what operators want.
   */
  #compare(session: Session, heartbeat: Heartbeat): HeartbeatAnswer["drop"] {
    const { repeats } = this.#parts;
    const { running } = heartbeat;
    // It may have missed a frame with its last stream. A drain comes once, since only that has its timeout.
    const corrected = correction(session.desired, heartbeat);
    if (corrected && session.desired !== "draining") session.send(corrected);
    for (const holding of running) {
      session.holdings.acknowledged(holding);
      if (session.holdings.hasMissed(holding)) repeats.send(session, holding, holding.seq);
    }
    const { claim_timeout } = this.#ports.config.workers;
    const before = this.#ports.monotonic() - claim_timeout * 1000;
    for (const missing of session.holdings.unlisted(running, before)) {
      this.#takeBack(session, missing);
    }
    return running
      .filter((holding) => !session.holdings.hasSince(holding))
      .map(({ execution_id, generation }) => ({ execution_id, generation }));
  }

  /** Puts an execution back that its worker does not have, unless it has already gone elsewhere. */
  #takeBack(session: Session, missing: Held): void {
    const { id, guard } = session;
    this.#parts.handOvers.one(id, missing, { guard, loss: lossIfRunning }).then(
      (row) => {
        if (row.session === id && row.generation === missing.generation) return;
        session.holdings.disown(missing);
        this.#sessions.tellRoom();
      },
      (error: unknown) => {
        this.#ports.log.warn({ err: error, ...missing }, "could not take back what a worker lost");
      },
    );
  }

  /** Refuses a session that is not the execution's owner under that generation. */
  async #refuseOthers(ref: SessionRef, claim: Held): Promise<void> {
    const session = await this.#lookup.identify(ref);
    if (session.isHeld && session.holdings.owns(claim)) return;
    const row = await this.#row(claim.execution_id);
    // The server that holds the stream knows at once; any other server reads the row.
    if (row.session !== session.id || row.generation !== claim.generation) throw stale(row);
  }

  async #row(execution_id: string): Promise<ExecutionRow> {
    const row = await this.#ports.store.executions.find(execution_id);
    if (!row) throw notFound("execution", execution_id);
    return row;
  }
}
