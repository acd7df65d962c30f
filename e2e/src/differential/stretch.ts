import { rm } from "node:fs/promises";
import type { Encoded, History } from "@engine/contract";
import { Random } from "@engine/simulation/random";
import { type CommandReplay, commandReplays } from "./command-replays.ts";
import type { Evidence, Violation } from "./evidence.ts";
import { gather } from "./gather.ts";
import { Installation } from "./installation.ts";
import { replaysWell } from "./judges/replays-well.ts";
import { startKiller } from "./killer.ts";
import { Operator } from "./operator.ts";
import type { ProgramPlan } from "./program-plan.ts";
import { Replayer } from "./replayer.ts";
import type { Setup } from "./setups.ts";
import { verdictOn } from "./verdict.ts";

/** What one program left, and what is wrong with it. */
export interface Judged {
  readonly plan: ProgramPlan;
  readonly evidence: Evidence;
  readonly violations: readonly Violation[];
  /** The file that its tasks wrote to; it goes when this has been looked at. */
  readonly trace: string;
  /** It was judged before, and this is what the command that replays says of it. */
  readonly isAgain: boolean;
}

export interface StretchOptions {
  readonly setup: Setup;
  readonly plans: readonly ProgramPlan[];
  readonly atATime: number;
  readonly seed: number;
  /** Of an empty PostgreSQL; without it there is SQLite. */
  readonly databaseUrl: string | undefined;
  /** Hears of each program when all of it is over. */
  readonly onJudged: (judged: Judged) => Promise<void>;
  /** Whether to begin no more. */
  readonly isOver: () => boolean;
}

/** So many of the newest executions are replayed once more, by the command that users have. */
const COMMAND_REPLAYS = 60;

/** Runs programs on an engine of their own: first those that run alone, then so many at a time. */
export async function runStretch(options: StretchOptions): Promise<void> {
  const { setup, plans, atATime, seed, databaseUrl, isOver } = options;
  await using installation = await Installation.start({ setup, databaseUrl });
  await using replayer = new Replayer(installation.values);
  const stretch = new Stretch(installation, replayer, options);
  const random = new Random(`stretch ${seed} ${plans[0]?.n}`);
  const killed = {
    workers: installation.workers,
    isAnyThere: () => installation.isAnyWorkerThere(),
    ended: () => stretch.ended,
  };
  const endKills = setup.isKilled ? startKiller(killed, random) : () => {};
  try {
    const queue = plans.toSorted((a, b) => Number(b.isAlone) - Number(a.isAlone));
    while (queue[0]?.isAlone && !isOver()) await stretch.run(queue.shift() as ProgramPlan);
    const lane = async () => {
      for (let plan = queue.shift(); plan && !isOver(); plan = queue.shift()) {
        await stretch.run(plan);
      }
    };
    await Promise.all(Array.from({ length: atATime }, lane));
  } finally {
    endKills();
    stretch.end();
  }
  await stretch.replayByCommand(random.pick(["program", "limited_program", "zod_program"]));
}

/** The programs of one engine. */
class Stretch {
  readonly #installation: Installation;
  readonly #replayer: Replayer;
  readonly #operator: Operator;
  readonly #onJudged: StretchOptions["onJudged"];
  readonly #plans = new Map<string, ProgramPlan>();
  #runs = 0;
  #ended = 0;

  constructor(installation: Installation, replayer: Replayer, { onJudged }: StretchOptions) {
    this.#installation = installation;
    this.#replayer = replayer;
    this.#operator = new Operator(installation.engine.http);
    this.#onJudged = onJudged;
  }

  /** How many programs have come to an end. */
  get ended(): number {
    return this.#ended;
  }

  async run(plan: ProgramPlan): Promise<void> {
    const { engine, values } = this.#installation;
    if (this.#installation.hasFailed) {
      throw new Error(`the server ended: ${this.#installation.report()}`);
    }
    const trace = this.#installation.traceFile(this.#runs++);
    const family = await this.#operator.run(plan, trace);
    this.#ended++;
    const deaths = () => this.#installation.deaths();
    const parts = { http: engine.http, replayer: this.#replayer, values, deaths };
    const evidence = await gather(family, trace, parts);
    for (const { execution_id } of evidence.executions) this.#plans.set(execution_id, plan);
    await this.#onJudged({
      plan,
      evidence,
      violations: verdictOn(evidence),
      trace,
      isAgain: false,
    });
    await rm(trace, { force: true });
  }

  end(): void {
    this.#operator[Symbol.dispose]();
  }

  async replayByCommand(workflow: ProgramPlan["workflow"]): Promise<void> {
    const { engine, programs } = this.#installation;
    const limit = { file: programs, limit: COMMAND_REPLAYS };
    for (const replayed of await commandReplays(engine, workflow, limit)) {
      // Values that the engine keeps for itself are not there for a command.
      if (replayed.result !== "ok" && replayed.result !== "unverifiable") {
        await this.#tell(replayed);
      }
    }
  }

  async #tell({ execution_id, result, reason }: CommandReplay): Promise<void> {
    const plan = this.#plans.get(execution_id ?? "") ?? this.#plans.values().next().value;
    if (!plan) throw new Error(reason);
    const id = execution_id ?? [...this.#plans.keys()].at(-1);
    const { body: history } = await this.#installation.engine.http.get<History>(
      `/executions/${id}/history`,
    );
    const input = history.execution.input as Encoded;
    const replay = { result, reason: `engine workflow replay: ${reason}`, told: {} };
    const execution = {
      execution_id: history.execution.execution_id,
      history,
      input,
      end: null,
      replay,
    };
    const nothing = { entries: [], deaths: [], cancels: [], looks: [], stuck: null };
    const evidence: Evidence = { plan, executions: [execution], ...nothing };
    const violations = replaysWell(evidence);
    await this.#onJudged({ plan, evidence, violations, trace: "", isAgain: true });
  }
}
