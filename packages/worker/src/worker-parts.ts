import type { Heartbeat, WorkerFrame } from "@engine/contract";
import { CheckpointLanes } from "./executions/checkpoint-lanes.ts";
import { Copies } from "./executions/copy.ts";
import { createHandBack } from "./executions/hand-back.ts";
import { HeldExecutions } from "./executions/held-executions.ts";
import { readMissing } from "./executions/missing-history.ts";
import { ProgressQueues } from "./executions/progress-queues.ts";
import { isContentRefused, refusedCheckpoint } from "./executions/refused-checkpoint.ts";
import { Reservations } from "./executions/reservations.ts";
import { ServiceDesk } from "./executions/service-desk.ts";
import { StartGate } from "./executions/start-gate.ts";
import { WarmCopies } from "./executions/warm-copies.ts";
import { received } from "./failpoints.ts";
import { Heartbeats } from "./link/heartbeats.ts";
import { Outage } from "./link/outage.ts";
import { OwnSession } from "./link/own-session.ts";
import { registrationOf } from "./link/registration.ts";
import { Renewal } from "./link/renewal.ts";
import { ServerClock } from "./link/server-clock.ts";
import { ServerStream } from "./link/server-stream.ts";
import { textCalls } from "./link/text-link.ts";
import { Health } from "./machine/health.ts";
import { openMachine } from "./machine/machine.ts";
import { Readiness } from "./machine/readiness.ts";
import { BuiltinMetrics } from "./metrics/builtin-metrics.ts";
import { openCustomMetrics } from "./metrics/open-custom-metrics.ts";
import { RunnerPool } from "./runners/runner-pool.ts";
import { messageOf } from "./transient.ts";
import type { WorkerOptions } from "./worker-options.ts";
import type { World } from "./world.ts";

/** How often a start tries to read a module or a page of history before it gives the slot back. */
const FETCH_TRIES = 8;
/** Workers of a server that stops move on within that time, each at a moment of its own (WRK-13). */
const LONGEST_DELAY_SECONDS = 1;

export interface WorkerEvents extends Pick<World, "life"> {
  welcomed(): void;
  /** An operator wants it to leave; without a time, in the time that the configuration gives. */
  drain(seconds?: number): void;
  superseded(by: { host: string; pid: number }): void;
  /** The server wants nothing of this process. */
  refused(error: unknown): void;
}

export interface WorkerParts {
  readonly session: OwnSession;
  readonly stream: ServerStream;
  readonly heartbeats: Heartbeats;
  readonly copies: Copies;
  readonly warm: WarmCopies;
  readonly executions: HeldExecutions;
  readonly gate: StartGate;
  readonly pool: RunnerPool;
}

/** Builds the parts of a worker and ties them to each other. */
export async function createParts(
  options: WorkerOptions,
  { life, welcomed, drain, superseded, refused }: WorkerEvents,
): Promise<WorkerParts> {
  const { link, config, log, setTimer, monotonic, random } = options;
  // First: without its provider a worker does not start, and leaves nothing that runs.
  const custom = await openCustomMetrics({ config, log, setTimer, life, env: process.env });
  const machine = options.machine ?? (await openMachine(options));
  const { folder, resources, packages } = machine;
  const metrics = config.builtin_metrics
    ? new BuiltinMetrics({ monotonic, load: machine.load })
    : undefined;
  const outage = new Outage(options);
  const serverClock = new ServerClock({
    ...options,
    onChange: (serverAtZero) => pool.setClock(serverAtZero),
    onNews: () => void heartbeats.now(),
  });
  const text = textCalls(link);
  const world = { link, log, setTimer, monotonic, random, life, outage, serverClock };
  let isPaused = false;
  const copies = new Copies();
  const warm = new WarmCopies(config.warm_executions);

  const session = new OwnSession({
    ...world,
    registration: registrationOf(options, { packages: [...packages], resources: resources.latest }),
    onRenewed: () => stream.reconnect(),
    onRefused: refused,
  });
  if ("renewCredential" in link && link.credential && link.renewCredential) {
    const renew = link.renewCredential.bind(link, options.name);
    new Renewal({ ...world, clock: options.clock, session, credential: link.credential, renew });
  }
  const pool = new RunnerPool({
    ...world,
    config,
    folder,
    env: process.env,
    inline: machine.inline,
    events: {
      said: (runner, messages) => executions.said(runner, messages),
      died: (runner) => executions.runnerDied(runner),
      stalled: (...args) => executions.runnerStalled(...args),
      stuck: (...args) => executions.runnerStuck(...args),
    },
  });
  const gate = new StartGate((on) => pool.hold(on));
  const executions: HeldExecutions = new HeldExecutions({
    copies,
    gate,
    log,
    pool,
    metrics,
    lanes: new CheckpointLanes({
      link: text,
      session,
      timed: metrics && ((request) => metrics.timed(request)),
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
      link: text,
      session,
      onUnwatched: (copy) => executions.setListening(copy, false),
    }),
    handBack: createHandBack({ link, session, log }),
    modules: machine.modules({
      size: config.module_cache_size,
      clock: options.clock,
      isUsed: (hash) => copies.all().some((copy) => copy.module_hash === hash),
      fetch: (hash) => session.persist((ref) => link.module(ref, hash), { tries: FETCH_TRIES }),
    }),
    desk: new ServiceDesk({
      link,
      session,
      values: options.values,
      reservations: new Reservations(resources.budget),
      setTimer,
      serverTime: () => serverClock.now,
      onStale: (copy) => executions.drop(copy, "stale_claim"),
    }),
    warm,
    onTrouble: (trouble) => readiness.troubled(trouble),
    onRecovered: () => stream.reconnect(),
    onCancelling: () => heartbeats.soon(),
    limits: () => session.answer.executions,
    serverProtocol: () => session.answer.protocol,
    cancelGrace: config.cancel_grace,
    missing: (assignment, from) =>
      readMissing(assignment, from, { link: text, session, tries: FETCH_TRIES }),
  });

  const stream = new ServerStream({
    ...world,
    leaveServer: () => text.leaveServer(),
    session,
    dispatch: options.dispatch,
    holdings: () => copies.holdings(),
    status,
    onFrame,
    onHeard(isHeard) {
      gate.setHeard(isHeard);
      if (isHeard) welcomed();
    },
  });
  const heartbeats = new Heartbeats({
    ...world,
    session,
    isPolling: () => stream.isPolling,
    status,
    onDrop: (entry) => executions.drop(entry, "not this session's"),
  });
  const readiness = new Readiness({
    ...world,
    onChange(isReady, { message: error }) {
      if (isReady)
        log.info({}, "the machine lets executions begin again: the worker takes new work");
      else
        log.error(
          { error },
          "the machine does not let executions begin, see error: they go to other workers, and this one takes no new work until it does",
        );
      void heartbeats.now();
    },
  });
  const health = new Health({
    setTimer,
    thresholdMs: config.loop_lag_threshold * 1000,
    lag: machine.lag,
    ...(metrics && { onProbe: (lagMs: number) => metrics.probed(lagMs) }),
    onChange(isHealthy) {
      if (isHealthy) log.info({}, "the worker keeps up again, and takes new work");
      else
        log.warn({}, "the worker's main loop is blocked too long and often: no new work for now");
      void heartbeats.now();
    },
  });
  life.addEventListener("abort", () => health[Symbol.dispose]());
  return { session, stream, heartbeats, copies, warm, executions, gate, pool };

  function status(): Heartbeat {
    const free = slotsFree();
    const { latest } = resources;
    return {
      status: executions.isDraining ? "draining" : isPaused ? "paused" : "active",
      healthy: health.healthy && readiness.isReady,
      running: copies.holdings(),
      slots_free: free,
      metrics: {
        ...custom?.values,
        ...metrics?.values({
          running: copies.size,
          slotsFree: config.slots === 0 ? undefined : free,
          memoryAvailable: latest.memory_available,
          warmModules: pool.warmModules,
          warmExecutions: warm.size,
        }),
      },
      resources: latest,
      stuck_threads: pool.stuckThreads,
      clock_offset_ms: serverClock.offsetMs,
    };
  }

  function control({ command, timeout_seconds, delay_seconds }: Control): void {
    switch (command) {
      case "pause":
      case "resume":
        isPaused = command === "pause";
        void heartbeats.now();
        break;
      case "drain":
        drain(timeout_seconds);
        break;
      case "reconnect":
        void stream.move((delay_seconds ?? random() * LONGEST_DELAY_SECONDS) * 1000);
        break;
    }
  }

  function slotsFree(): number {
    if (executions.isDraining) return 0;
    if (config.slots === 0) return Number.MAX_SAFE_INTEGER;
    return Math.max(0, config.slots - copies.size);
  }

  function onFrame(frame: WorkerFrame): void {
    if (received.hasSubscribers) received.publish({ of: [frame.event] });
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
      case "grants":
        executions.grants(frame.data);
        break;
      case "revoke":
        executions.drop(frame.data, frame.data.reason);
        break;
      case "welcome":
        pool.setGranted(frame.data.services);
        executions.welcome(frame.data);
        // The server says a pause that still holds again, right behind the welcome.
        if (!stream.isPolling) isPaused = false;
        break;
      case "superseded":
        superseded(frame.data);
        break;
      case "control":
        control(frame.data);
        break;
      case "services":
        pool.setGranted(frame.data.granted);
        break;
      case "ping":
        break;
      default:
        // A newer server may say more than this worker knows; it then does without.
        log.debug({ frame: frame satisfies never }, "an unknown frame was passed over");
    }
  }
}

type Control = Extract<WorkerFrame, { event: "control" }>["data"];
