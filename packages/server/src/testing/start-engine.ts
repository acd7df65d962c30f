import { randomUUID } from "node:crypto";
import { Config, createUuidV7, EngineError, type ExecutionRow, type Json } from "@engine/contract";
import { readRegistration } from "@engine/sources/reading";
import {
  interposed,
  type KeyRing,
  openSqliteStore,
  ringOf,
  type Store,
  type StoreMethod,
} from "@engine/store";
import { type MemoryValues, memoryValues } from "@engine/store/memory-values";
import { createEngine, type Engine } from "../engine.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { StartRequest } from "../executions/requests.ts";
import type { Log } from "../log.ts";
import { ManualTime } from "./manual-time.ts";
import { ScriptedWorker } from "./scripted-worker.ts";

let instances = 0;

/** The key of every test: what one engine sealed another one opens. */
const TEST_RING: KeyRing = ringOf({ id: "test", key: new Uint8Array(32).fill(7) });

/** What several servers have in common; the test that made it closes it. */
interface Shared {
  readonly store: Store;
  readonly time: ManualTime;
}

interface TestEngineOptions {
  readonly path?: string;
  readonly shared?: Shared;
  readonly ports?: Partial<EnginePorts>;
}

/** An engine on a store of its own, in memory unless said otherwise, under a clock that the test moves. */
export class TestEngine implements AsyncDisposable {
  readonly time: ManualTime;
  readonly store: Store;
  readonly values: MemoryValues = memoryValues();
  /** Methods of the store that reject for now, as when the database is away. */
  readonly failing: Set<StoreMethod> = new Set();
  readonly #ids: () => string;
  readonly config: Config;
  readonly #ports: Partial<EnginePorts>;
  engine: Engine;
  readonly #ownsStore: boolean;
  #tokens = 0;
  #seeds = 0;
  #replicas = 0;
  readonly #instance = ++instances;

  private constructor(parts: {
    store: Store;
    time: ManualTime;
    config: Config;
    ownsStore: boolean;
    ports: Partial<EnginePorts>;
  }) {
    const { store, time, config, ownsStore, ports } = parts;
    this.store = store;
    this.time = time;
    this.config = config;
    this.#ownsStore = ownsStore;
    this.#ports = ports;
    this.#ids = createUuidV7(time.clock, randomUUID);
    this.engine = this.#create();
  }

  /**
   * @param config Keys of the `[engine]` table that are not at their defaults.
   * @param options.ports In place of those of tests.
   */
  static async start(
    config: unknown = {},
    { path = ":memory:", shared, ports = {} }: TestEngineOptions = {},
  ): Promise<TestEngine> {
    const time = shared?.time ?? new ManualTime();
    const { clock } = time;
    const parsed = Config.parse(config);
    const { hooks } = parsed;
    const open = () => openSqliteStore({ path, synchronous: "normal", clock, hooks });
    const started = new TestEngine({
      store: shared?.store ?? (await open()),
      time,
      config: parsed,
      ownsStore: !shared,
      ports,
    });
    await started.engine.start();
    await started.engine.catalog.register({ source: HELLO }, { by: null });
    return started;
  }

  /** The server's process ends and another one takes up the same store. */
  async restart(): Promise<void> {
    await this.engine.close();
    this.engine = this.#create();
    await this.engine.start();
  }

  /** A registered and connected worker. */
  async worker(
    name = "w",
    options: { slots?: number; instance_id?: string } = {},
  ): Promise<ScriptedWorker> {
    const worker = this.strangeWorker(name);
    await worker.register(options);
    await worker.connect();
    return worker;
  }

  /** A worker that has not registered. */
  strangeWorker(name = "w"): ScriptedWorker {
    return new ScriptedWorker(name, this.engine.workers, this.time.clock);
  }

  async run(input: Json = null): Promise<ExecutionRow> {
    return (await this.engine.executions.start(hello(input))).row;
  }

  async row(execution_id: string): Promise<ExecutionRow> {
    return this.engine.executions.get(execution_id);
  }

  async types(execution_id: string): Promise<string[]> {
    return (await this.store.log.read(execution_id)).map(({ event }) => event.type);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine.close();
    if (this.#ownsStore) await this.store.close();
  }

  /** The store as the engine sees it. */
  get breakable(): Store {
    return interposed(this.store, ({ name }, call) => {
      if (!call) return undefined;
      return (...args) => {
        if (!this.failing.has(name)) return call(...args);
        return Promise.reject(new EngineError("unavailable", "the database is away"));
      };
    });
  }

  #create(): Engine {
    return createEngine({
      store: this.breakable,
      values: this.values,
      config: this.config,
      clock: this.time.clock,
      monotonic: this.time.monotonic,
      ids: this.#ids,
      token: () => `token-${++this.#tokens}-${this.#instance}`,
      seed: () => `seed-${++this.#seeds}`,
      random: () => 0.5,
      replica: `replica-${++this.#replicas}-${this.#instance}`,
      setTimer: this.time.setTimer,
      log: silent,
      // Hundreds of tests need no process each for one small file.
      readRegistration,
      ring: TEST_RING,
      ...this.#ports,
    });
  }
}

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

export const HELLO = `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async (input) => input);
`;

export function hello(input: Json = null): StartRequest {
  return {
    namespace: "default",
    workflow: "hello",
    input,
    trigger: { kind: "api" },
    by: null,
  };
}
