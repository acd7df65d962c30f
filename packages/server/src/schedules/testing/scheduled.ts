import { randomUUID } from "node:crypto";
import {
  Config,
  createUuidV7,
  EngineError,
  type ExecutionRow,
  engineFailure,
  type NewExecution,
  NewSchedule,
  type ScheduleRow,
} from "@engine/contract";
import { readRegistration } from "@engine/sources/reading";
import { interposed, openSqliteStore, type Store, type StoreMethod } from "@engine/store";
import { memoryValues } from "@engine/store/memory-values";
import { Catalog } from "../../catalog/catalog.ts";
import { Commits } from "../../commits.ts";
import { LargeInputs } from "../../executions/large-inputs.ts";
import { HookDeclarations } from "../../hooks/hook-declarations.ts";
import type { Log } from "../../log.ts";
import { Starts } from "../../starts/starts.ts";
import { ManualTime, settled } from "../../testing/manual-time.ts";
import type { AuthorizeSchedule } from "../authorize-schedule.ts";
import { Firing } from "../firing.ts";
import { RoutingSeals } from "../routing-seals.ts";
import { ScheduleDeclarations } from "../schedule-declarations.ts";
import { ScheduledStarts } from "../scheduled-starts.ts";
import { Scheduler } from "../scheduler.ts";
import { Schedules } from "../schedules.ts";

const HELLO = `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async (input) => input);
`;

/** Schedules on a store of their own, under a clock that the test moves, without workers. */
export class Scheduled implements AsyncDisposable {
  readonly time: ManualTime;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly schedules: Schedules;
  /** Refuses accounts while it is set. */
  refusal: EngineError | undefined;
  /** The store's methods that reject for now. */
  readonly failing: Set<StoreMethod> = new Set();
  readonly #commits: Commits;
  readonly #ids: () => string;
  readonly #schedulers: Scheduler[] = [];

  private constructor(store: Store, time: ManualTime, config: Config) {
    this.time = time;
    this.store = store;
    this.#ids = createUuidV7(time.clock, randomUUID);
    const ports = { ...this.#ports, config };
    const changed = () => {
      for (const scheduler of this.#schedulers) void scheduler.wake();
    };
    const schedules = new ScheduleDeclarations({ ports, changed });
    this.catalog = new Catalog({
      ...{ store, schedules, read: readRegistration, canSeal: false },
      hooks: new HookDeclarations(ports),
      knownSecrets: async () => new Set(),
    });
    const { log } = ports;
    this.#commits = new Commits({ store: this.#breakable(), log });
    this.#config = config;
    const routing = new RoutingSeals(ports);
    this.schedules = new Schedules({ ports, routing, starts: this.#starts(), changed });
  }

  readonly #config: Config;

  static async open(config: unknown = {}): Promise<Scheduled> {
    const time = new ManualTime();
    const store = await openSqliteStore({
      path: ":memory:",
      synchronous: "normal",
      clock: time.clock,
    });
    return Scheduled.over(store, time, config);
  }

  /** One of several servers on a database, by the same clock. */
  static async over(store: Store, time: ManualTime, config: unknown = {}): Promise<Scheduled> {
    const opened = new Scheduled(store, time, Config.parse(config));
    await opened.catalog.register({ source: HELLO }, { by: null });
    return opened;
  }

  /** A server that fires schedules. */
  async scheduler(): Promise<Scheduler> {
    const ports = { ...this.#ports, store: this.#breakable(), config: this.#config };
    const cancel = (execution_id: string) => this.end(execution_id, "CANCELLED");
    const firing = new Firing({ ports, starts: this.#starts(), cancel });
    const scheduler = new Scheduler({ ports, firing });
    this.#schedulers.push(scheduler);
    this.#commits.listen((changed) => scheduler.onCommit(changed));
    await scheduler.start();
    return scheduler;
  }

  /** A schedule of the workflow hello. */
  create(fields: Partial<NewSchedule> & Pick<NewSchedule, "spec">): Promise<ScheduleRow> {
    return this.schedules.create(
      NewSchedule.parse({ name: "nightly", workflow: "hello", ...fields }),
    );
  }

  get(name = "nightly"): Promise<ScheduleRow> {
    return this.schedules.get(name);
  }

  /** Its executions, oldest first. */
  async runs(name = "nightly"): Promise<readonly ExecutionRow[]> {
    const page = { schedule: name, order: "created_asc", limit: 1000, offset: 0 } as const;
    return (await this.store.executions.list(page)).items;
  }

  /** The instants its executions were due at, as ISO text, oldest first. */
  async instants(name = "nightly"): Promise<readonly (string | null)[]> {
    return (await this.runs(name)).map(({ scheduled_for }) =>
      scheduled_for === null ? null : new Date(scheduled_for).toISOString(),
    );
  }

  async end(
    execution_id: string,
    state: "COMPLETED" | "FAILED" | "CANCELLED" = "COMPLETED",
  ): Promise<void> {
    const now = this.time.now;
    await this.#commits.change(execution_id, () => ({
      events: [],
      patch: {
        state,
        failure: state === "FAILED" ? engineFailure("WorkerLostError", "its worker is lost") : null,
        finished_at: now,
        updated_at: now,
        session: null,
      },
    }));
  }

  /** The server is down and the clock goes on. */
  async jump(ms: number): Promise<void> {
    this.time.now += ms;
    await this.time.advance(1000);
    await settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#schedulers.map((scheduler) => scheduler.close()));
    await this.store.close();
  }

  get #ports() {
    const { time, store } = this;
    const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
    return { store, clock: time.clock, setTimer: time.setTimer, ids: this.#ids, log };
  }

  #starts(): ScheduledStarts {
    const authorize: AuthorizeSchedule = ({ run_as }) => {
      if (this.refusal) throw this.refusal;
      return run_as;
    };
    const ports = { ...this.#ports, seed: () => "seed", config: this.#config };
    const starts = new Starts({
      ports,
      catalog: this.catalog,
      inputs: new LargeInputs({ ...ports, values: memoryValues() }),
      create: async (fresh: NewExecution) => (await this.#commits.create(fresh)).changed,
    });
    return new ScheduledStarts({ starts, routing: new RoutingSeals(ports), authorize });
  }

  #breakable(): Store {
    return interposed(this.store, ({ name }, call) => {
      if (!call) return undefined;
      return (...args) => {
        if (!this.failing.has(name)) return call(...args);
        return Promise.reject(new EngineError("unavailable", "the database is away"));
      };
    });
  }
}
