import type { ExecutionRow } from "@engine/contract";
import { readInProcess } from "@engine/sources";
import { Catalog } from "./catalog/catalog.ts";
import { CallResolver } from "./children/call-resolver.ts";
import { Commits } from "./commits.ts";
import { Dispatcher } from "./dispatch/dispatcher.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { Executions } from "./executions/executions.ts";
import { Followers } from "./executions/followers.ts";
import { LargeInputs } from "./executions/large-inputs.ts";
import { Waiters } from "./executions/waiters.ts";
import { recovered } from "./failpoints.ts";
import { ProgressHub } from "./progress/progress-hub.ts";
import { followRemoteChanges } from "./remote-changes.ts";
import { Bus } from "./replicas/bus.ts";
import { ChangeNews } from "./replicas/change-news.ts";
import { Leadership } from "./replicas/leadership.ts";
import { Replicas } from "./replicas/replicas.ts";
import { Retention } from "./retention/retention.ts";
import { ScheduleDeclarations } from "./schedules/schedule-declarations.ts";
import type { Schedules } from "./schedules/schedules.ts";
import { createScheduling, type Scheduling } from "./schedules/scheduling.ts";
import { Timers } from "./timers/timers.ts";
import { resolveValues } from "./values/resolve-values.ts";
import { Fleet } from "./workers/fleet.ts";
import { HandOvers } from "./workers/hand-over.ts";
import { Liveness } from "./workers/liveness.ts";
import { Repeats } from "./workers/repeats.ts";
import type { Session } from "./workers/session.ts";
import { Sessions } from "./workers/sessions.ts";
import { Workers } from "./workers/workers.ts";

/** The engine without a network: what HTTP carries, and what a worker in this process calls. */
export interface Engine {
  readonly executions: Executions;
  readonly catalog: Catalog;
  readonly schedules: Schedules;
  readonly workers: Workers;
  readonly fleet: Fleet;
  /** Whether other servers serve the same database now. */
  readonly hasPeers: boolean;
  /** Takes up what an earlier life of this server left. Before that it assigns nothing. */
  start(): Promise<void>;
  /** Answers every wait, ends every stream, sends the workers away. The store stays open. */
  close(): Promise<void>;
}

export function createEngine(ports: EnginePorts): Engine {
  const { store, values, setTimer, config, log, replica, ids, monotonic } = ports;
  const commits = new Commits({ store, log });
  const sessions = new Sessions(monotonic);
  // Registering writes schedules, and what fires them needs the catalog.
  const declarations = new ScheduleDeclarations({ ports, changed: () => scheduling.changed() });
  const bus = new Bus({ store, replica, ids, log });
  const tellOthers = () => bus.send({ kind: "catalog" });
  const { readRegistration = readInProcess } = ports;
  const catalog = new Catalog({
    store,
    schedules: declarations,
    read: readRegistration,
    changed: tellOthers,
  });
  bus.listen(({ kind }) => {
    if (kind === "catalog") catalog.forget();
  });
  const replicas = new Replicas({ me: replica, store, bus, setTimer, monotonic, log });
  const leadership = new Leadership({ store, setTimer, log });
  const news = new ChangeNews({ bus, replicas, setTimer });
  const progress: ProgressHub = new ProgressHub({
    setTimer,
    bus,
    replicas,
    log,
    redact: ports.redactProgress ?? ((items) => items),
    caughtUp: (execution_id, then) => followers.look(execution_id, then),
    tellOwner: (execution_id, on) => sessions.tellListening(execution_id, on),
  });
  const waiters = new Waiters({ store, setTimer });
  const shown = (row: ExecutionRow) => resolveValues(row, values);
  const followers: Followers = new Followers({ store, progress, shown });
  const lookAgain = (session: Session) => workers.lookAgain(session);
  const dispatcher = new Dispatcher({
    ports,
    commits,
    sessions,
    catalog,
    progress,
    replicas,
    lookAgain,
    unsure: (session, execution_id) => handOvers.unsure(session, execution_id),
  });
  const calls = new CallResolver({ ports, catalog });
  const handOvers = new HandOvers({ ports, commits });
  const liveness = new Liveness({ ports, sessions, handOvers, replicas });
  const repeats = new Repeats({ ports, sessions });
  const workers: Workers = new Workers({
    ports,
    commits,
    sessions,
    catalog,
    dispatcher,
    progress,
    calls,
    handOvers,
    liveness,
    repeats,
    bus,
    replicas,
  });
  const hasWorker = (row: ExecutionRow) => dispatcher.isMatched(row);
  const inputs = new LargeInputs(ports);
  const executions = new Executions({
    ports,
    inputs,
    commits,
    catalog,
    dispatcher,
    hasWorker,
    waiters,
    followers,
    calls,
  });
  const scheduling: Scheduling = createScheduling({
    ports,
    catalog,
    bus,
    create: (fresh) => dispatcher.create(fresh),
    cancel: (execution_id, reason) => executions.cancel({ execution_id, reason, by: null }),
  });
  const { schedules, scheduler } = scheduling;
  const waitsFor = (row: ExecutionRow) => dispatcher.waitsFor(row);
  const timers = new Timers({ ports, commits, hasWorker, waitsFor });

  // Who owns what comes first: the dispatcher looks for free slots by it.
  commits.listen((changed, ownerHas) => sessions.onCommit(changed, ownerHas));
  commits.listen((changed) => waiters.onCommit(changed));
  commits.listen((changed) => followers.onCommit(changed));
  commits.listen((changed) => timers.onCommit(changed));
  commits.listen((changed) => dispatcher.onCommit(changed));
  commits.listen((changed) => scheduler.onCommit(changed));
  commits.listen((changed, ownerHas) => news.onCommit(changed, ownerHas));
  commits.afterwards(() => dispatcher.wake());

  followRemoteChanges({ store, bus, sessions, dispatcher, timers, waiters, followers, log });
  bus.onMissed(() => void look());
  leadership.add(timers);
  leadership.add(liveness);
  leadership.add(new Retention(ports));
  leadership.add(scheduler);

  let isClosed = false;
  let cancelTick: (() => void) | undefined;

  return {
    get hasPeers() {
      return replicas.hasPeers;
    },
    executions,
    catalog,
    schedules,
    workers,
    fleet: new Fleet({ ports, sessions, dispatcher, bus }),
    async start() {
      await bus.start();
      await replicas.start();
      await workers.refresh();
      if (recovered.hasSubscribers) recovered.publish({ of: ["sessions"] });
      await dispatcher.refresh();
      if (recovered.hasSubscribers) recovered.publish({ of: ["queue"] });
      await leadership.start();
      scheduleTick();
    },
    async close() {
      isClosed = true;
      cancelTick?.();
      timers.close();
      await scheduler.close();
      dispatcher.close();
      waiters.close();
      followers.close();
      progress.close();
      await workers.close();
      news.flush();
      await leadership.close();
      await replicas.close();
      bus.close();
      await inputs.close();
    },
  };

  /** The slow look at the store that makes up for a wake-up that was missed. */
  function scheduleTick(): void {
    if (isClosed) return;
    cancelTick = setTimer(() => void look().finally(scheduleTick), interval());
  }

  function interval(): number {
    return config.dispatch.safety_interval * 1000;
  }

  async function look(): Promise<void> {
    // What was said of it may have been lost.
    if (bus.isShared) catalog.forget();
    const looks = [
      workers.retry(),
      ...(bus.isShared ? [workers.refresh()] : []),
      dispatcher.refresh(),
      timers.refresh(),
      waiters.reread(),
      followers.reread(),
      progress.refresh(),
    ];
    for (const look of await Promise.allSettled(looks)) {
      if (look.status === "rejected") log.error({ err: look.reason }, "the safety tick failed");
    }
  }
}
