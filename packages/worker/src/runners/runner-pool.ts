import { availableParallelism } from "node:os";
import { sep } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Assignment,
  type Config,
  EngineError,
  type Runner as RunnerKind,
} from "@engine/contract";
import type { World } from "../world.ts";
import { inlineRunner } from "./inline-runner.ts";
import { ProcessRunner } from "./process-runner.ts";
import type { Runner, RunnerEvents } from "./runner.ts";
import { processEnvironment, threadEnvironment } from "./runner-environment.ts";
import { SharedRunners } from "./shared-runners.ts";
import { SingleRunners } from "./single-runners.ts";
import { StallWatch } from "./stall-watch.ts";
import { ThreadRunner } from "./thread-runner.ts";

const MOST_THREADS = 4;

export interface RunnerPoolOptions extends Pick<World, "setTimer" | "random" | "log"> {
  readonly config: Config["workers"];
  /** Folder of the bundles. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly events: RunnerPoolEvents;
  /** Makes runners of the main thread; those of this process when absent. */
  readonly inline?: ((events: RunnerEvents) => Runner) | undefined;
}

export interface RunnerPoolEvents {
  /** Called by every runner itself. */
  readonly said: RunnerEvents["said"];
  /** A runner ended without being asked to; one that was not ready has not run anything. */
  died(runner: Runner): void;
  /** A runner does not answer; `copy` is the number of the copy whose code it entered last. */
  stalled(runner: Runner, copy: number, seconds: number): void;
  /** A runner is being replaced, since it did not answer for too long. */
  stuck(runner: Runner, copy: number, seconds: number): void;
}

type WantedRunner = Pick<Assignment, "runner" | "runner_options" | "apart">;

/** `apart`: for executions meant for a thread and suspected of ending it, or the whole worker. */
type Place = RunnerKind | "apart";

/** The runners of a worker, of every kind that it offers (RUN-1). Kinds are started when needed. */
export class RunnerPool {
  readonly #options: RunnerPoolOptions;
  readonly #watch: StallWatch;
  readonly #places = new Map<Place, SharedRunners | SingleRunners>();
  readonly #alive = new Map<Runner, Place>();
  #serverAtZero: number | undefined;
  #granted: readonly string[] = [];
  #stuck = 0;

  constructor(options: RunnerPoolOptions) {
    const { config, setTimer } = options;
    const { runners, default_runner } = config;
    if (!runners.includes(default_runner)) {
      throw new EngineError(
        "invalid_input",
        `engine.workers: default_runner must be one of runners (${runners.join(", ")}); got "${default_runner}"`,
      );
    }
    this.#options = options;
    this.#watch = new StallWatch({
      setTimer,
      stallWarnMs: config.stall_warn * 1000,
      stuckAfterMs: config.stuck_after * 1000,
      onStall: (runner, ms) => options.events.stalled(runner, runner.entered, ms / 1000),
      onStuck: (runner, ms) => this.#replace(runner, ms / 1000),
    });
    this.#at(default_runner);
  }

  /** Threads and processes that were ended because their code did not let them answer (RUN-3). */
  get stuckThreads(): number {
    return this.#stuck;
  }

  /** Bundles that runners for many executions have been given. */
  get warmModules(): number {
    const shared = [...this.#alive.keys()].filter((runner) => runner.isShared);
    return new Set(shared.flatMap((runner) => [...runner.loaded])).size;
  }

  /** Whether this worker can run a workflow that asks for this kind; null = any. */
  offers(kind: RunnerKind | null): boolean {
    return kind === null || this.#options.config.runners.includes(kind);
  }

  /** Where one more execution runs; undefined while nothing is alive that could take it. */
  pick({ runner, runner_options, apart }: WantedRunner): Runner | undefined {
    const kind = runner ?? this.#options.config.default_runner;
    if (kind === "process") return this.#at(kind).pick(runner_options?.memory_mb);
    return this.#at(kind === "thread" && apart ? "apart" : kind).pick();
  }

  /** A runner's program is loaded. */
  ready(runner: Runner): void {
    runner.isReady = true;
    this.#watch.add(runner);
    this.#runnersWith(runner)?.ready();
  }

  /** A runner has answered a `tick`. */
  answered(runner: Runner): void {
    this.#watch.answered(runner);
  }

  /** A copy has left the runner it was on. */
  left(runner: Runner): void {
    runner.load--;
    if (!runner.isShared && runner.load === 0) this.#remove(runner)?.end(runner);
  }

  /** Keeps functions of tasks from starting on all runners, or lets them. */
  hold(on: boolean): void {
    for (const runner of this.#alive.keys()) runner.post([{ kind: "hold", on }]);
  }

  /** All runners go by the server's clock, those that are started later too. */
  setClock(serverAtZero: number): void {
    this.#serverAtZero = serverAtZero;
    for (const runner of this.#alive.keys()) this.#tellClock(runner);
  }

  /** These of the services that the worker offers are granted, on runners that are started later too. */
  setGranted(granted: readonly string[]): void {
    this.#granted = granted;
    for (const runner of this.#alive.keys()) this.#tellServices(runner);
  }

  async close(): Promise<void> {
    this.#watch.close();
    await Promise.all([...this.#places.values()].map((runners) => runners.close()));
  }

  #at(place: Place): SharedRunners | SingleRunners {
    const started = this.#places.get(place) ?? this.#start(place);
    this.#places.set(place, started);
    return started;
  }

  #start(place: Place): SharedRunners | SingleRunners {
    const { config, env, folder, inline, log, random, setTimer } = this.#options;
    const events: RunnerEvents = {
      said: this.#options.events.said,
      died: (runner, why) => this.#died(runner, why),
    };
    const begun = (runner: Runner) => {
      this.#alive.set(runner, place);
      this.#tellClock(runner);
      this.#tellServices(runner);
      return runner;
    };
    const address = pathToFileURL(folder + sep).href;
    const threadEnv = threadEnvironment(env, config);
    const thread = { folder: address, memoryMb: config.thread_memory_mb, env: threadEnv };
    const child = { folder: address, graceMs: config.kill_grace * 1000, setTimer, log };

    if (place === "process") {
      const processEnv = processEnvironment(env, config);
      return new SingleRunners({
        memoryMb: config.process_memory_mb,
        spares: config.process_spares,
        setTimer,
        random,
        create: (memoryMb) =>
          begun(new ProcessRunner({ ...child, memoryMb, env: processEnv }, events)),
      });
    }
    if (place === "apart") {
      // Nothing else dies with them there, and their code sees all that it would see on a thread.
      const create = config.runners.includes("process")
        ? (memoryMb: number) => new ProcessRunner({ ...child, memoryMb, env: threadEnv }, events)
        : () => new ThreadRunner({ ...thread, isShared: false }, events);
      return new SingleRunners({
        memoryMb: config.thread_memory_mb,
        spares: 0,
        setTimer,
        random,
        create: (memoryMb) => begun(create(memoryMb)),
      });
    }
    const create =
      place === "thread"
        ? () => new ThreadRunner({ ...thread, isShared: true }, events)
        : () => inline?.(events) ?? inlineRunner(address, events);
    const threads = config.threads || Math.min(MOST_THREADS, availableParallelism());
    return new SharedRunners({
      size: place === "thread" ? threads : 1,
      setTimer,
      random,
      log,
      create: () => begun(create()),
      isSilent: (runner) => this.#watch.isSilent(runner),
    });
  }

  #tellClock(runner: Runner): void {
    const server_at_zero = this.#serverAtZero;
    if (server_at_zero !== undefined) runner.post([{ kind: "clock", server_at_zero }]);
  }

  #tellServices(runner: Runner): void {
    const { services: offered } = this.#options.config;
    const services = { offered, granted: this.#granted };
    // Most workers offer none, and their runners begin with none.
    if (Object.keys(offered).length > 0) runner.post([{ kind: "services", services }]);
  }

  #died(runner: Runner, why: string): void {
    const { events, log } = this.#options;
    log.error({ why, executions: runner.load }, "a runner has died; another one replaces it");
    this.#remove(runner)?.died(runner);
    events.died(runner);
  }

  #replace(runner: Runner, seconds: number): void {
    this.#stuck++;
    const runners = this.#remove(runner);
    this.#options.events.stuck(runner, runner.entered, seconds);
    runners?.end(runner);
  }

  /** Those among which the runner is, for as long as it is alive and of use. */
  #runnersWith(runner: Runner): SharedRunners | SingleRunners | undefined {
    const place = this.#alive.get(runner);
    return place && this.#places.get(place);
  }

  /** The runner is of no more use. Gives those among which it was. */
  #remove(runner: Runner): SharedRunners | SingleRunners | undefined {
    const runners = this.#runnersWith(runner);
    this.#watch.remove(runner);
    this.#alive.delete(runner);
    return runners;
  }
}
