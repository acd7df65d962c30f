import type { WorkerFrame } from "@engine/contract";
import { CheckpointLanes } from "./checkpoint-lanes.ts";
import { Copies } from "./copy.ts";
import { Executions } from "./executions.ts";
import type { HeartbeatsOptions } from "./heartbeat.ts";
import { readMissing } from "./missing-history.ts";
import { ModuleCache } from "./module-cache.ts";
import { Outage } from "./outage.ts";
import { ProgressQueues } from "./progress-queues.ts";
import { isContentRefused, refusedCheckpoint } from "./refused-checkpoint.ts";
import { registrationOf } from "./registration.ts";
import { Releases } from "./releases.ts";
import { RunnerPool } from "./runner-pool.ts";
import { modulesFolder, runnersOf } from "./runners.ts";
import { ServerStream } from "./server-stream.ts";
import { ServiceDesk } from "./service-desk.ts";
import { Session } from "./session.ts";
import { messageOf } from "./transient.ts";
import { NO_VALUES } from "./values-source.ts";
import { WarmCopies } from "./warm-copies.ts";
import type { WorkerOptions } from "./worker-options.ts";

/** How often a start tries to read a module or a page of history before it gives the slot back. */
const FETCH_TRIES = 8;

export interface WorkerEvents {
  /** Aborts when the worker ends. */
  readonly life: AbortSignal;
  welcomed(): void;
  superseded(by: { host: string; pid: number }): void;
  /** The server wants nothing of this process. */
  refused(error: unknown): void;
}

export interface WorkerParts {
  readonly session: Session;
  readonly stream: ServerStream;
  readonly heartbeats: HeartbeatsOptions;
  readonly copies: Copies;
  readonly warm: WarmCopies;
  readonly executions: Executions;
  readonly pool: RunnerPool;
}

/** Builds the parts of a worker and ties them to each other. */
export async function createParts(
  options: WorkerOptions,
  { life, welcomed, superseded, refused }: WorkerEvents,
): Promise<WorkerParts> {
  const { link, config, log, setTimer, random } = options;
  const folder = await modulesFolder(config.home);
  const runners = runnersOf(config, folder);
  const world = { link, log, setTimer, random, life, outage: new Outage(log, options.clock) };
  const copies = new Copies();
  const warm = new WarmCopies(config.warm_executions);

  const session = new Session({
    ...world,
    registration: registrationOf(options),
    onRenewed: () => stream.reconnect(),
    onRefused: refused,
  });
  const pool = new RunnerPool({
    ...world,
    ...runners,
    events: {
      message: (runner, message) => executions.message(runner, message),
      died: (runner) => executions.runnerDied(runner),
    },
  });
  const executions: Executions = new Executions({
    copies,
    log,
    pool,
    lanes: new CheckpointLanes({
      link,
      session,
      lanes: config.checkpoint_lanes,
      onStale: (copy) => executions.drop(copy, "stale_claim"),
      onRefused(copy, error) {
        if (life.aborted) return;
        const { execution_id } = copy;
        log.error({ execution_id, error: messageOf(error) }, "the server refused a checkpoint");
        if (isContentRefused(error)) {
          executions.release(copy, "load_failed", refusedCheckpoint(error));
        } else executions.release(copy, "runner_lost");
      },
    }),
    progress: new ProgressQueues({
      ...world,
      session,
      onUnwatched: (copy) => executions.setListening(copy, false),
    }),
    releases: new Releases({ link, session, log }),
    modules: new ModuleCache({
      folder,
      size: config.module_cache_size,
      isUsed: (hash) => copies.all().some((copy) => copy.module_hash === hash),
      fetch: (hash) => session.persist((ref) => link.module(ref, hash), { tries: FETCH_TRIES }),
    }),
    desk: new ServiceDesk({
      link,
      session,
      values: options.values ?? NO_VALUES,
      onStale: (copy) => executions.drop(copy, "stale_claim"),
    }),
    warm,
    onRecovered: () => stream.reconnect(),
    limits: () => session.answer.executions,
    missing: (assignment, from) =>
      readMissing(assignment, from, { link, session, tries: FETCH_TRIES }),
  });

  const stream = new ServerStream({
    ...world,
    session,
    holdings: () => copies.holdings(),
    onFrame,
  });
  const heartbeats: HeartbeatsOptions = {
    ...world,
    session,
    status: () => ({ running: copies.holdings(), slots_free: slotsFree() }),
    onDrop: (entry) => executions.drop(entry, "not this session's"),
  };
  return { session, stream, heartbeats, copies, warm, executions, pool };

  function slotsFree(): number {
    if (executions.isDraining) return 0;
    if (config.slots === 0) return Number.MAX_SAFE_INTEGER;
    return Math.max(0, config.slots - copies.size);
  }

  function onFrame(frame: WorkerFrame): void {
    switch (frame.event) {
      case "assign":
        executions.assign(frame.data);
        break;
      case "events":
        executions.events(frame.data);
        break;
      case "listen":
        executions.listen(frame.data);
        break;
      case "revoke":
        executions.drop(frame.data, frame.data.reason);
        break;
      case "welcome":
        executions.welcome(frame.data);
        welcomed();
        break;
      case "superseded":
        superseded(frame.data);
        break;
      case "control":
        stream.reconnect();
        break;
      case "ping":
        break;
      default:
        // A newer server may say more than this worker knows; it then does without.
        log.debug({ frame: frame satisfies never }, "an unknown frame was passed over");
    }
  }
}
