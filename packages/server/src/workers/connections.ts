import { setImmediate } from "node:timers/promises";
import {
  EngineError,
  formatInstant,
  type Heartbeat,
  type Holding,
  type Poll,
  type WorkerFrame,
} from "@engine/contract";
import type { SessionGuard } from "@engine/store";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { InnerPorts } from "../engine-ports.ts";
import type { ProgressHub } from "../progress/progress-hub.ts";
import type { Bus } from "../replicas/bus.ts";
import { control, correction } from "./control.ts";
import type { Grants } from "./grants.ts";
import { type HandOvers, lossIfRunning, lossOfPoll } from "./hand-over.ts";
import type { Liveness } from "./liveness.ts";
import { type Reconciled, reconcile } from "./reconcile.ts";
import type { Repeats } from "./repeats.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import { type Backlog, WorkerStream } from "./worker-stream.ts";

interface Parts {
  readonly ports: InnerPorts;
  readonly sessions: Sessions;
  readonly dispatcher: Dispatcher;
  readonly progress: ProgressHub;
  readonly handOvers: HandOvers;
  readonly liveness: Liveness;
  readonly repeats: Repeats;
  readonly bus: Bus;
  readonly grants: Pick<Grants, "tell">;
}

/** A worker that is silent for some time is lost; a poll is answered after this part of that time. */
const POLLS_PER_SILENCE = 2;

/** How frames reach workers: down a stream, or as answers to polls (WRK-7, WRK-10). */
export class Connections {
  readonly #parts: Parts;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async connect(
    session: Session,
    running: readonly Holding[],
    onFrame: (frame: WorkerFrame) => void,
    backlog: Backlog | undefined,
  ): Promise<WorkerStream> {
    const { ports, liveness, bus, sessions, grants } = this.#parts;
    const onClose = (closed: WorkerStream, cause: unknown) => {
      if (cause) ports.log.error({ err: cause, worker: session.worker }, "a stream broke");
      if (session.disconnected(closed, ports.monotonic())) liveness.disconnected(session);
    };
    const stream = new WorkerStream(onFrame, onClose, backlog);
    backlog?.onRoom(() => {
      session.hasRoomAgain();
      sessions.tellRoom();
    });
    const guard = await this.#take(session, stream);
    void bus.send({ kind: "session", session: session.id });
    liveness.watch(session);
    try {
      session.holdings.forgetTold();
      const how = { ...this.#parts, guard, loss: lossIfRunning };
      const reconciled = await reconcile(session, running, how);
      stream.open(this.#opening(session, reconciled));
      this.#release(session, reconciled);
    } catch (error) {
      stream.close();
      throw error;
    }
    session.ready(stream);
    void grants.tell();
    sessions.tellRoom();
    return stream;
  }

  /** Reconciles, then waits for a frame if there is nothing to tell at once. */
  async poll(
    session: Session,
    { wait_seconds, ...heartbeat }: Poll,
    signal?: AbortSignal,
  ): Promise<readonly WorkerFrame[]> {
    const { ports, sessions, liveness, grants } = this.#parts;
    const frames: WorkerFrame[] = [];
    const arrived = Promise.withResolvers<void>();
    const stream = new WorkerStream(
      (frame) => {
        // The answer to a poll is proof enough that the server lives.
        if (frame.event === "ping") return;
        frames.push(frame);
        arrived.resolve();
      },
      () => arrived.resolve(),
    );
    // While this server holds a session, another one has most likely not taken it between two polls. If
    // it has, the epoch that every write names makes that write change nothing.
    const isFirst = !session.isHeld || session.row.lost_at !== null;
    if (isFirst) await this.#take(session, stream);
    else session.connect(stream, session.row);
    const { guard } = session;
    liveness.watch(session);
    try {
      const how = { ...this.#parts, guard, loss: isFirst ? lossIfRunning : lossOfPoll };
      const reconciled = await reconcile(session, heartbeat.running, how);
      stream.open(this.#news(session, heartbeat, reconciled, isFirst));
      this.#release(session, reconciled);
      session.ready(stream);
      void grants.tell();
      sessions.tellRoom();
      // The worker says nothing else while its poll waits.
      const longest = ports.config.workers.silence_timeout / POLLS_PER_SILENCE;
      const cancel = ports.setTimer(arrived.resolve, Math.min(wait_seconds, longest) * 1000);
      signal?.addEventListener("abort", () => arrived.resolve(), { once: true });
      if (signal?.aborted) arrived.resolve();
      await arrived.promise;
      cancel();
      // The answer has to bring the claims under way: the next poll would take them for lost.
      await Promise.allSettled([...session.holdings.claiming.values()].map(({ done }) => done));
      // Frames of one commit come one after another; all of them are part of the answer.
      await setImmediate();
    } finally {
      // Nobody hears the answer.
      if (signal?.aborted) session.forgetTold();
      session.answered(stream);
      liveness.watch(session);
    }
    return frames;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Takes a session for a stream; answers the guard of everything that is written for the stream. */
  async #take(session: Session, stream: WorkerStream): Promise<SessionGuard> {
    const { ports, sessions } = this.#parts;
    const { store, replica } = ports;
    if (this.#isClosed) throw new EngineError("unavailable", "the server is stopping; try again");
    const row = await store.sessions.connect(session.id, replica);
    if (!row) throw ended(session.worker);
    if (!session.connect(stream, row)) throw replaced(session.worker);
    // The session may have been forgotten, or found anew, while the store was asked.
    const isForgotten = sessions.find(session.id) !== session;
    sessions.add(session, row.token_hash);
    // What operators decided meanwhile was told to nobody.
    if (isForgotten) await sessions.lookAtWorkers(() => store.workers.find(session.worker));
    else sessions.seeAttributes(await store.workers.find(session.worker));
    // A hand-over that is under way comes first: it could take what is kept here.
    await session.handingOver?.catch(() => undefined);
    if (stream.isClosed) throw replaced(session.worker);
    return { session: session.id, epoch: row.epoch };
  }

  #opening(session: Session, { keep, drop, events }: Reconciled): WorkerFrame[] {
    const { replica, clock } = this.#parts.ports;
    const server_time = formatInstant(clock());
    const frames: WorkerFrame[] = [
      {
        event: "welcome",
        data: { replica, server_time, services: session.welcomedServices(), keep, drop },
      },
      ...events,
    ];
    // Operators may have decided this while the worker was away.
    if (session.desired !== "active") frames.push(control(session.desired));
    return frames;
  }

  /** What a poll is answered with at once: nothing, unless there is news for the worker. */
  #news(
    session: Session,
    heartbeat: Heartbeat,
    reconciled: Reconciled,
    isFirst: boolean,
  ): WorkerFrame[] {
    const { keep, drop, events } = reconciled;
    const known = new Map(heartbeat.running.map((one) => [one.execution_id, one.generation]));
    const isNews = drop.length > 0 || keep.some((k) => known.get(k.execution_id) !== k.generation);
    if (isFirst || isNews) return this.#opening(session, reconciled);
    const news = [session.serviceNews(), correction(session.desired, heartbeat)];
    return [...events, ...news.filter((frame) => frame !== undefined)];
  }

  /** Sends the frames that were held for executions which the worker has. */
  #release(session: Session, { keep }: Reconciled): void {
    for (const { execution_id, generation } of keep) {
      session.holdings.release(execution_id);
      this.#parts.repeats.watch(session, { execution_id, generation });
      session.holdings.tellListening(execution_id, this.#parts.progress.isWatched(execution_id));
    }
  }
}

function ended(worker: string): EngineError {
  return new EngineError(
    "session_unknown",
    `the session of worker ${worker} has ended; it registers again and keeps its executions`,
  );
}

function replaced(worker: string): EngineError {
  return new EngineError("unavailable", `worker ${worker} has connected anew meanwhile`);
}
