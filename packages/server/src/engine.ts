import type { ExecutionRow } from "@engine/contract";
import { Catalog } from "./catalog/catalog.ts";
import { CallResolver } from "./children/call-resolver.ts";
import { Commits } from "./commits.ts";
import { Dispatcher } from "./dispatch/dispatcher.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { Executions } from "./executions/executions.ts";
import { Followers } from "./executions/followers.ts";
import { Waiters } from "./executions/waiters.ts";
import { ProgressHub } from "./progress/progress-hub.ts";
import { Timers } from "./timers/timers.ts";
import { resolveOutput } from "./values/resolve-output.ts";
import { Sessions } from "./workers/sessions.ts";
import { Workers } from "./workers/workers.ts";

/** The engine without a network: what HTTP carries, and what a worker in this process calls. */
export interface Engine {
  readonly executions: Executions;
  readonly catalog: Catalog;
  readonly workers: Workers;
  /** Takes up what an earlier life of this server left. Before that it assigns nothing. */
  start(): Promise<void>;
  /** Answers every wait, ends every stream, sends the workers away. The store stays open. */
  close(): Promise<void>;
}

export function createEngine(ports: EnginePorts): Engine {
  const { store, values, setTimer, config, log } = ports;
  const commits = new Commits(store);
  const sessions = new Sessions();
  const catalog = new Catalog(ports);
  const progress = new ProgressHub({
    setTimer,
    tellOwner: (execution_id, on) => sessions.tellListening(execution_id, on),
  });
  const waiters = new Waiters({ store, setTimer });
  const shown = (row: ExecutionRow) => resolveOutput(row, values);
  const followers = new Followers({ store, progress, shown });
  const dispatcher = new Dispatcher({ ports, commits, sessions, catalog, progress });
  const calls = new CallResolver({ ports, catalog });
  const workers = new Workers({ ports, commits, sessions, catalog, dispatcher, progress, calls });
  const executions = new Executions({
    ports,
    commits,
    catalog,
    dispatcher,
    sessions,
    waiters,
    followers,
    calls,
  });
  const timers = new Timers({ ports, commits, hasWorker: () => sessions.hasReady() });

  // Who owns what comes first: the dispatcher looks for free slots by it.
  commits.listen((changed, ownerHas) => sessions.onCommit(changed, ownerHas));
  commits.listen((changed) => waiters.onCommit(changed));
  commits.listen((changed) => followers.onCommit(changed));
  commits.listen((changed) => timers.onCommit(changed));
  commits.listen((changed) => dispatcher.onCommit(changed));

  let isClosed = false;
  let cancelTick: (() => void) | undefined;

  return {
    executions,
    catalog,
    workers,
    async start() {
      await workers.load();
      await dispatcher.refresh();
      await timers.start();
      scheduleTick();
    },
    async close() {
      isClosed = true;
      cancelTick?.();
      timers.close();
      dispatcher.close();
      waiters.close();
      followers.close();
      progress.close();
      await workers.close();
    },
  };

  /** The slow look at the store that makes up for a wake-up that was missed. */
  function scheduleTick(): void {
    if (isClosed) return;
    cancelTick = setTimer(() => void tick().finally(scheduleTick), interval());
  }

  function interval(): number {
    return config.dispatch.safety_interval * 1000;
  }

  async function tick(): Promise<void> {
    const looks = [
      workers.retry(),
      dispatcher.refresh(),
      timers.refresh(),
      waiters.reread(),
      followers.reread(),
    ];
    for (const look of await Promise.allSettled(looks)) {
      if (look.status === "rejected") log.error({ err: look.reason }, "the safety tick failed");
    }
  }
}
