import { availableParallelism } from "node:os";
import { sep } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Assignment,
  type Config,
  EngineError,
  type Runner as RunnerKind,
} from "@engine/contract";
import type { Log, SetTimer } from "../world.ts";
import { inlineRunner } from "./inline-runner.ts";
import { ProcessRunner, type ProcessRunnerOptions } from "./process-runner.ts";
import type { Runner, RunnerEvents } from "./runner.ts";
import { processEnvironment, threadEnvironment } from "./runner-environment.ts";
import { SharedRunners } from "./shared-runners.ts";
import { SingleRunners, type SingleRunnersOptions } from "./single-runners.ts";
import { StallWatch } from "./stall-watch.ts";
import { ThreadRunner, type ThreadRunnerOptions } from "./thread-runner.ts";

const MOST_THREADS = 4;

export interface RunnerPoolOptions {
  readonly config: Config["workers"];
  /** Folder of the bundles. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly setTimer: SetTimer;
  readonly random: () => number;
  readonly log: Log;
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

/** The runners of a worker, of every kind that it offers (RUN-1). Kinds are started when needed. */
export class RunnerPool {
  readonly #options: RunnerPoolOptions;
  /** Of the folder of the bundles, with a slash at its end. */
  readonly #address: string;
  readonly #watch: StallWatch;
  readonly #shared = new Map<RunnerKind, SharedRunners>();
  #processes: SingleRunners | undefined;
  #apart: SingleRunners | undefined;
  readonly #alive = new Set<Runner>();
  #serverAtZero: number | undefined;
  #stuck = 0;

  constructor(options: RunnerPoolOptions) {
    const { config, folder, setTimer } = options;
    const { runners, default_runner } = config;
    if (!runners.includes(default_runner)) {
      throw new EngineError(
        "invalid_input",
        `engine.workers: default_runner must be one of runners (${runners.join(", ")}); got "${default_runner}"`,
      );
    }
    this.#options = options;
    this.#address = pathToFileURL(folder + sep).href;
    this.#watch = new StallWatch({
      setTimer,
      stallWarnMs: config.stall_warn * 1000,
      stuckAfterMs: config.stuck_after * 1000,
      onStall: (runner, ms) => options.events.stalled(runner, runner.entered, ms / 1000),
      onStuck: (runner, ms) => this.#replace(runner, ms / 1000),
    });
    this.#start(default_runner);
  }

  /** Threads and processes that were ended because their code did not let them answer (RUN-3). */
  get stuckThreads(): number {
    return this.#stuck;
  }

  /** Whether this worker can run a workflow that asks for this kind; null = any. */
  offers(kind: RunnerKind | null): boolean {
    return kind === null || this.#options.config.runners.includes(kind);
  }

  /** Where one more execution runs; undefined while nothing is alive that could take it. */
  pick({ runner, runner_options, apart }: WantedRunner): Runner | undefined {
    const kind = runner ?? this.#options.config.default_runner;
    if (kind === "thread" && apart) {
      this.#apart ??= this.#startApart();
      return this.#apart.pick();
    }
    this.#start(kind);
    if (kind === "process") return this.#processes?.pick(runner_options?.memory_mb);
    return this.#shared.get(kind)?.pick();
  }

  /** A runner's program is loaded. */
  ready(runner: Runner): void {
    runner.isReady = true;
    this.#watch.add(runner);
    for (const runners of this.#all()) runners.ready(runner);
  }

  /** A runner has answered a `tick`. */
  answered(runner: Runner): void {
    this.#watch.answered(runner);
  }

  /** A copy has left the runner it was on. */
  left(runner: Runner): void {
    runner.load--;
    if (runner.isShared || runner.load > 0) return;
    this.#watch.remove(runner);
    this.#alive.delete(runner);
    this.#end(runner);
  }

  /** All runners go by the server's clock, those that are started later too. */
  setClock(serverAtZero: number): void {
    this.#serverAtZero = serverAtZero;
    for (const runner of this.#alive) this.#tellClock(runner, serverAtZero);
  }

  async close(): Promise<void> {
    this.#watch.close();
    await Promise.all(this.#all().map((runners) => runners.close()));
  }

  #all(): readonly (SharedRunners | SingleRunners)[] {
    const single = [this.#processes, this.#apart].flatMap((runners) => runners ?? []);
    return [...single, ...this.#shared.values()];
  }

  /** Ends a runner of a single execution. */
  #end(runner: Runner): void {
    this.#processes?.end(runner);
    this.#apart?.end(runner);
  }

  #start(kind: RunnerKind): void {
    if (kind === "process") this.#processes ??= this.#startProcesses();
    else if (!this.#shared.has(kind)) this.#shared.set(kind, this.#startShared(kind));
  }

  #startProcesses(): SingleRunners {
    const { config, env } = this.#options;
    const child = this.#child(processEnvironment(env, config));
    return this.#single({
      memoryMb: config.process_memory_mb,
      spares: config.process_spares,
      create: (memoryMb, died) => new ProcessRunner({ ...child, memoryMb }, this.#events(died)),
    });
  }

  /**
   * Runners for executions that are meant for a thread and suspected of ending it, or the whole worker:
   * nothing else dies with them there, and their code sees all that it would see on a thread.
   */
  #startApart(): SingleRunners {
    const { config } = this.#options;
    const { env, ...thread } = this.#thread();
    const child = this.#child(env);
    const mayHaveProcesses = config.runners.includes("process");
    return this.#single({
      memoryMb: config.thread_memory_mb,
      spares: 0,
      create: (memoryMb, died) =>
        mayHaveProcesses
          ? new ProcessRunner({ ...child, memoryMb }, this.#events(died))
          : new ThreadRunner({ ...thread, env, isShared: false }, this.#events(died)),
    });
  }

  #single(of: Pick<SingleRunnersOptions, "memoryMb" | "spares" | "create">): SingleRunners {
    const { random, setTimer } = this.#options;
    const create: typeof of.create = (...asked) => this.#begun(of.create(...asked));
    const died: RunnerEvents["died"] = (...args) => this.#died(...args);
    return new SingleRunners({ ...of, create, setTimer, random, died });
  }

  #child(env: NodeJS.ProcessEnv): Omit<ProcessRunnerOptions, "memoryMb"> {
    const { config, log, setTimer } = this.#options;
    return { folder: this.#address, env, graceMs: config.kill_grace * 1000, setTimer, log };
  }

  #thread(): Omit<ThreadRunnerOptions, "isShared"> {
    const { config, env } = this.#options;
    return {
      folder: this.#address,
      memoryMb: config.thread_memory_mb,
      env: threadEnvironment(env, config),
    };
  }

  #startShared(kind: "thread" | "inline"): SharedRunners {
    const { config, log, random, setTimer, inline } = this.#options;
    const folder = this.#address;
    const thread = { ...this.#thread(), isShared: true };
    const isInline = kind === "inline";
    return new SharedRunners({
      size: isInline ? 1 : config.threads || Math.min(MOST_THREADS, availableParallelism()),
      setTimer,
      random,
      log,
      died: (...args) => this.#died(...args),
      create: (died) => {
        const events = this.#events(died);
        if (!isInline) return this.#begun(new ThreadRunner(thread, events));
        return this.#begun(inline?.(events) ?? inlineRunner(folder, events));
      },
      isSilent: (runner) => this.#watch.isSilent(runner),
    });
  }

  #begun(runner: Runner): Runner {
    this.#alive.add(runner);
    if (this.#serverAtZero !== undefined) this.#tellClock(runner, this.#serverAtZero);
    return runner;
  }

  #tellClock(runner: Runner, server_at_zero: number): void {
    runner.post([{ kind: "clock", server_at_zero }]);
  }

  #events(died: RunnerEvents["died"]): RunnerEvents {
    return { said: this.#options.events.said, died };
  }

  #died(runner: Runner, why: string): void {
    const { events, log } = this.#options;
    this.#watch.remove(runner);
    this.#alive.delete(runner);
    log.error({ why, executions: runner.load }, "a runner has died; another one replaces it");
    events.died(runner);
  }

  #replace(runner: Runner, seconds: number): void {
    this.#stuck++;
    this.#watch.remove(runner);
    this.#alive.delete(runner);
    this.#options.events.stuck(runner, runner.entered, seconds);
    if (!runner.isShared) this.#end(runner);
    else for (const runners of this.#shared.values()) runners.replace(runner);
  }
}
