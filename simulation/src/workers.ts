import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { Config, createUuidV7, EngineError, type WorkerFrame } from "@engine/contract";
import { type Host, nodeHost } from "@engine/sdk/node";
import { type RunningWorker, startWorker } from "@engine/worker";
import { InlineRunner, type Machine } from "@engine/worker/machine";
import { DESCRIBED_SERVICES } from "./descriptions.ts";
import type { AssignmentSent, CopyKept, RightsHeard } from "./evidence.ts";
import type { LoadedPrograms } from "./load-programs.ts";
import type { Network } from "./network.ts";
import { Process } from "./process.ts";
import { logOf } from "./process-log.ts";
import type { Random } from "./random.ts";
import type { ServerAddress } from "./servers.ts";
import { ShownClock } from "./shown-clock.ts";
import { workerLink } from "./worker-link.ts";
import type { World } from "./world.ts";
import type { WriteRecord } from "./write-record.ts";

export interface WorkersParts {
  readonly world: World;
  readonly random: Random;
  readonly network: () => Network;
  readonly addresses: () => readonly ServerAddress[];
  readonly programs: LoadedPrograms;
  readonly config: unknown;
  readonly writes: WriteRecord;
  readonly skews: readonly number[];
  /** Of their clocks. */
  readonly pace: number;
  readonly polls: boolean;
  /** Whether they say something of themselves: each life anew. */
  readonly places: boolean;
}

/** Labels of a worker, and local services that it has. */
export interface Shown {
  readonly labels: Readonly<Record<string, string>>;
  readonly services: readonly string[];
}

/** One life of a worker. */
export interface WorkerLife {
  readonly process: Process;
  /** What its copies take for the time. */
  readonly clock: ShownClock;
  /** Generations under which it was given executions last. */
  readonly generations: Map<string, number>;
  /** What it says of itself. */
  readonly shows: Shown;
  worker: RunningWorker | undefined;
  isLeaving: boolean;
}

/** Whose code is running: one process here runs the bodies of all workers. */
const running = new AsyncLocalStorage<WorkerLife>();

/** The worker whose code is calling. */
export function runningWorker(): WorkerLife | undefined {
  return running.getStore();
}

export class Workers {
  /** Of every life: one that leaves may not be done when the next one begins. */
  readonly processes: Process[] = [];
  readonly keeps: CopyKept[] = [];
  readonly assignments: AssignmentSent[] = [];
  readonly rights: RightsHeard[] = [];
  readonly #parts: WorkersParts;
  readonly #lives: (WorkerLife | undefined)[];
  readonly #config: Config["workers"] & Pick<Config, "home">;
  /** By the names of workers: they outlive their processes. */
  readonly #credentials = new Map<string, { token?: string }>();
  #started = 0;

  constructor(parts: WorkersParts, count: number) {
    this.#parts = parts;
    this.#lives = Array.from({ length: count }, () => undefined);
    const config = Config.parse(parts.config);
    this.#config = { ...config.workers, home: config.home };
  }

  get count(): number {
    return this.#lives.length;
  }

  get lives(): readonly WorkerLife[] {
    return this.#lives.filter((life) => life?.process.isAlive).map((life) => life as WorkerLife);
  }

  /** Executions that workers hold, or believe to hold. */
  get copies(): number {
    return this.lives.reduce((sum, { worker }) => sum + (worker?.status().running ?? 0), 0);
  }

  nameOf(at: number): string {
    return `w${at + 1}`;
  }

  life(at: number): WorkerLife | undefined {
    return this.#lives[at];
  }

  isUp(at: number): boolean {
    const life = this.#lives[at];
    return life?.process.isAlive === true && !life.isLeaving;
  }

  start(at: number): void {
    if (this.isUp(at)) return;
    const { world, random, network, addresses, skews, pace, writes, polls } = this.#parts;
    const name = this.nameOf(at);
    const id = `${name}-${++this.#started}`;
    const own = random.fork(id);
    const process = new Process(world, { name, id, random: own.fork("clock"), pace });
    process.time.skew = skews[at] ?? 0;
    const chance = own.fork("worker");
    const uuids = own.fork("ids");
    const life: WorkerLife = {
      process,
      clock: new ShownClock(process),
      generations: new Map(),
      shows: this.#parts.places ? shownBy(own.fork("shows")) : { labels: {}, services: [] },
      worker: undefined,
      isLeaving: false,
    };
    this.#lives[at] = life;
    this.processes.push(process);
    const credential = this.#credentials.get(name) ?? {};
    this.#credentials.set(name, credential);
    world.trace.say(name, () => `starts as ${process.id}`);
    const link = workerLink({
      world,
      network: network(),
      worker: process,
      addresses: addresses(),
      first: chance.below(addresses().length),
      writes,
      credential,
      onFrame: (frame, isPolled) => {
        this.#learnRights(life, { frame, is_sure: !isPolled });
        this.#learnGeneration(life, frame);
      },
      onSent: (frames, server) => this.#sent(frames, { server, worker: name }),
    });
    const starting = startWorker({
      name,
      link,
      config: this.#configOf(life),
      machine: this.#machine(life, own),
      ...(polls && { dispatch: "poll" as const }),
      log: logOf(process, world.trace),
      clock: process.clock,
      monotonic: process.monotonic,
      ids: createUuidV7(process.clock, () => uuids.uuid()),
      setTimer: process.setTimer,
      random: () => chance.next(),
      exit: (_code, message) => {
        world.trace.say(name, () => `ends: ${message}`);
        process.kill();
        world.after(chance.between(100, 3_000), () => this.start(at));
      },
    });
    void starting.then((worker) => {
      life.worker = worker;
    });
  }

  #configOf({ shows: { labels, services } }: WorkerLife): Config["workers"] & { home: string } {
    const sockets = services.map((service) => [service, `/run/${service}.sock`]);
    return { ...this.#config, labels, services: Object.fromEntries(sockets) };
  }

  kill(at: number): void {
    const process = this.#lives[at]?.process;
    if (!process?.isAlive) return;
    this.#parts.world.trace.say(process.name, () => "is killed");
    process.kill();
  }

  /** It leaves as SIGTERM makes it. */
  async drain(at: number): Promise<void> {
    const life = this.#lives[at];
    if (!life?.process.isAlive || life.isLeaving || !life.worker) return;
    life.isLeaving = true;
    this.#parts.world.trace.say(life.process.name, () => "drains");
    await life.worker.stop();
    life.process.kill();
  }

  stall(at: number, ms: number): void {
    const process = this.#lives[at]?.process;
    if (!process?.isAlive) return;
    this.#parts.world.trace.say(process.name, () => `stands still for ${ms} ms`);
    process.standStill(ms);
  }

  #learnRights(
    { process: { id: process } }: WorkerLife,
    { frame, is_sure }: { readonly frame: WorkerFrame; readonly is_sure: boolean },
  ): void {
    const { now: at } = this.#parts.world;
    if (frame.event === "assign" && frame.data.authz?.enforced) {
      const { execution_id, generation } = frame.data;
      this.rights.push({ at, process, execution_id, generation, hold: false, is_sure: true });
    }
    if (frame.event !== "grants") return;
    const { execution_id, generation, hold = false } = frame.data;
    this.rights.push({ at, process, execution_id, generation, hold, is_sure });
  }

  /** Of frames that leave together the later ones say what counts. */
  #sent(frames: readonly WorkerFrame[], of: Pick<AssignmentSent, "server" | "worker">): void {
    const { now: at } = this.#parts.world;
    for (const frame of frames) {
      if (frame.event !== "assign" || !frame.data.authz?.enforced) continue;
      const { execution_id, generation } = frame.data;
      const isHeld = frames.some(
        ({ event, data }) => event === "grants" && data.execution_id === execution_id && data.hold,
      );
      if (!isHeld) this.assignments.push({ at, ...of, execution_id, generation });
    }
  }

  #learnGeneration({ generations, process }: WorkerLife, frame: WorkerFrame): void {
    if (frame.event === "assign") generations.set(frame.data.execution_id, frame.data.generation);
    if (frame.event !== "welcome") return;
    for (const { execution_id, generation } of frame.data.keep) {
      generations.set(execution_id, generation);
      this.keeps.push({
        at: this.#parts.world.now,
        execution_id,
        generation,
        process: process.id,
      });
    }
  }

  #machine(life: WorkerLife, random: Random): Machine {
    const { programs, world } = this.#parts;
    // What a body said must not make the worker's own work look like the body's.
    const outside = AsyncLocalStorage.snapshot();
    const resources = {
      cpu_total: 4,
      cpu_available: 4,
      memory_total: 2 ** 33,
      memory_available: 2 ** 33,
      disk_total: 2 ** 40,
      disk_free: 2 ** 40,
      gpus: [],
    };
    const known = new Set<string>();
    return {
      folder: "/bundles",
      resources: { latest: resources, budget: { cpu: 4, memory: 2 ** 33, gpu: 0 } },
      packages: [],
      lag: { take: () => 0, close() {} },
      modules: ({ fetch }) => ({
        file: (hash) => `/bundles/${hash}.mjs`,
        readable: async () => {},
        async ensure(hash) {
          if (known.has(hash)) return;
          const bundle = await fetch(hash);
          if (createHash("sha256").update(bundle).digest("hex") !== hash) {
            throw new EngineError("internal", "a bundle arrived with another content");
          }
          known.add(hash);
        },
      }),
      inline: (events) =>
        new InlineRunner({
          events: {
            ...events,
            said: (runner, messages) => outside(() => events.said(runner, messages)),
          },
          host: (log) => virtualHost({ log, life, world, random: random.fork("host") }),
          load: ({ hash }) => Promise.resolve(programs.workflows(hash)),
          clock: life.clock,
        }),
    };
  }
}

function shownBy(random: Random): Shown {
  const disk = random.pick(["none", "ssd", "ssd", "hdd"]);
  return {
    labels: disk === "none" ? {} : { disk },
    services: DESCRIBED_SERVICES.filter(() => random.chance(0.7)),
  };
}

/** The replay core's host under virtual time, which says whose code is running. */
function virtualHost(parts: {
  readonly log: Host["log"];
  readonly life: WorkerLife;
  readonly world: World;
  readonly random: Random;
}): Host {
  const { life, world, random } = parts;
  const real = nodeHost({ log: parts.log });
  return {
    ...real,
    runInScope: (scope, body) => running.run(life, () => real.runInScope(scope, body)),
    drain(then) {
      world.busy++;
      real.drain(() => {
        world.busy--;
        then();
      });
    },
    now: life.process.clock,
    setTimer: life.process.setTimer,
    random: () => random.next(),
    uuid: () => random.uuid(),
    callSite: () => undefined,
  };
}
