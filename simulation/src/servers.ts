import {
  authSwitch,
  Config,
  createUuidV7,
  WORKER_ISSUER,
  type WorkerProtocol,
  type WorkerRegistered,
  type WorkerRegistration,
} from "@engine/contract";
import { createEngine, type Engine, type EnginePorts } from "@engine/server";
import { type KeyRing, ringOf, type Store, type ValueStore } from "@engine/store";
import type { Network } from "./network.ts";
import { Process } from "./process.ts";
import { logOf } from "./process-log.ts";
import type { Random } from "./random.ts";
import type { CommitRecord } from "./store/commit-record.ts";
import { faultyStore, type StoreFaults } from "./store/faulty-store.ts";
import { Room } from "./store/room.ts";
import type { World } from "./world.ts";

/** The key of all servers, by which what sensitive tasks take and give is kept. */
export const RING: KeyRing = ringOf({ id: "simulated", key: new Uint8Array(32).fill(1) });

/** With what servers sign the tokens of executions. */
const TOKEN_KEY = { id: "simulated", key: new Uint8Array(32).fill(2) };
const TOKEN_KEYS = {
  primary: TOKEN_KEY,
  of: (id: string): Uint8Array | undefined => (id === TOKEN_KEY.id ? TOKEN_KEY.key : undefined),
};

/** Where a server is reached: one life after another of it listens there. */
export interface ServerAddress {
  readonly name: string;
  readonly protocol: () => WorkerProtocol;
  /**
   * Registers a worker, which shows the credential of that id; with undefined the token by which
   * every worker may join.
   */
  readonly register: (
    registration: WorkerRegistration,
    credential: string | undefined,
  ) => Promise<WorkerRegistered>;
  readonly process: () => Process;
  onDeath(process: Process, then: () => void): void;
}

export interface ServersParts {
  readonly world: World;
  readonly random: Random;
  readonly network: () => Network;
  /** What the server of that number takes for the store. */
  readonly store: (at: number) => Store;
  /** Whether that is a database elsewhere, and not in this process. */
  readonly isRealStore: boolean;
  /** What workers and clients are offered, with a planted bug in it. */
  readonly offered: (engine: Engine) => { protocol: WorkerProtocol; engine: Engine };
  readonly values: ValueStore;
  /** What is registered while it runs. */
  readonly readRegistration: NonNullable<EnginePorts["readRegistration"]>;
  readonly config: unknown;
  readonly faults: Omit<StoreFaults, "random">;
  readonly record: CommitRecord;
  readonly skews: readonly number[];
  /** Of their clocks. */
  readonly pace: number;
  readonly losesNews: () => boolean;
  /** No server hears of services and workflows that another one has changed, nor that it missed that. */
  readonly isSilent: boolean;
  readonly problem: (what: string) => void;
}

interface Life {
  readonly process: Process;
  readonly engine: Engine;
  readonly store: Store;
  readonly protocol: WorkerProtocol;
  isReady: boolean;
  isStopping: boolean;
  readonly onDeath: Set<() => void>;
}

/** The servers of one store, each at its address, one life after another. */
export class Servers {
  /** Of every life: one that stops may not be done when the next one begins. */
  readonly processes: Process[] = [];
  readonly #parts: ServersParts;
  readonly #lives: (Life | undefined)[];
  readonly #config: Config;
  readonly #room: Room | undefined;
  #started = 0;

  constructor(parts: ServersParts, count: number) {
    this.#parts = parts;
    this.#lives = Array.from({ length: count }, () => undefined);
    this.#config = Config.parse(parts.config);
    const { world, losesNews, isSilent, isRealStore } = parts;
    const isElsewhere = count > 1 || isRealStore;
    const news = { losesNews, isSilent };
    this.#room = isElsewhere ? new Room({ world, network: parts.network(), ...news }) : undefined;
  }

  get count(): number {
    return this.#lives.length;
  }

  /** Whether authorization is on. */
  get hasRights(): boolean {
    return authSwitch(this.#config.security.auth).isOn;
  }

  /** Whether they start what hooks are to start at once. */
  get drainsAtOnce(): boolean {
    return this.#config.hooks.event_drain;
  }

  get addresses(): readonly ServerAddress[] {
    return this.#lives.map((_, i) => this.#address(i));
  }

  listening(name: string): Process | undefined {
    const life = this.#lives[Number(name.slice(1)) - 1];
    return life?.isReady && life.process.isAlive ? life.process : undefined;
  }

  engine(at: number): Engine {
    const life = this.#lives[at];
    if (!life) throw new Error(`server ${at + 1} does not run`);
    return life.engine;
  }

  /** As the server of that number sees it. */
  store(at: number): Store {
    const life = this.#lives[at];
    if (!life) throw new Error(`server ${at + 1} does not run`);
    return life.store;
  }

  process(at: number): Process | undefined {
    return this.#lives[at]?.process;
  }

  isUp(at: number): boolean {
    const life = this.#lives[at];
    return life?.process.isAlive === true && !life.isStopping;
  }

  /** A process that does not come up is started again after a while, as an operator's tools would. */
  start(at: number): void {
    if (this.isUp(at)) return;
    const { world, random, pace } = this.#parts;
    const name = `s${at + 1}`;
    const id = `${name}-${++this.#started}`;
    const own = random.fork(id);
    const process = new Process(world, { name, id, random: own.fork("clock"), pace });
    process.time.skew = this.#parts.skews[at] ?? 0;
    const store = this.#store(at, process, own);
    const { engine, protocol } = this.#parts.offered(this.#engine(store, process, own));
    const life: Life = {
      process,
      engine,
      store,
      protocol,
      isReady: false,
      isStopping: false,
      onDeath: new Set(),
    };
    this.#lives[at] = life;
    this.processes.push(process);
    world.trace.say(name, () => "starts");
    life.engine.start().then(
      () => {
        life.isReady = process.isAlive;
        world.trace.say(name, () => "is ready");
      },
      (error: unknown) => {
        if (!process.isAlive) return;
        world.trace.say(name, () => `does not come up: ${String(error)}`);
        this.kill(at);
        world.after(1_000, () => this.start(at));
      },
    );
  }

  /** Its memory is gone; what it has written stays. */
  kill(at: number): void {
    const life = this.#lives[at];
    if (!life?.process.isAlive) return;
    this.#parts.world.trace.say(life.process.name, () => "is killed");
    this.#end(life);
  }

  /** It stops as SIGTERM makes it. */
  async stop(at: number): Promise<void> {
    const life = this.#lives[at];
    if (!life?.process.isAlive || life.isStopping) return;
    life.isStopping = true;
    this.#parts.world.trace.say(life.process.name, () => "stops");
    await life.engine.close().catch((error: unknown) => {
      this.#parts.problem(`stopping ${life.process.name} failed: ${String(error)}`);
    });
    // Connections that are still open end with the process.
    if (life.process.isAlive) this.#end(life);
  }

  stall(at: number, ms: number): void {
    const process = this.#lives[at]?.process;
    if (!process?.isAlive) return;
    this.#parts.world.trace.say(process.name, () => `stands still for ${ms} ms`);
    process.standStill(ms);
    this.#room?.standsStill(process);
  }

  #end(life: Life): void {
    life.process.kill();
    this.#room?.died(life.process);
    this.#parts.network().died(life.process);
    for (const then of life.onDeath) then();
  }

  #store(at: number, process: Process, random: Random): Store {
    const { world, store, isRealStore, faults, record } = this.#parts;
    return faultyStore({
      store: store(at),
      world,
      server: process,
      room: this.#room,
      isReal: isRealStore,
      faults: { ...faults, random: random.fork("store") },
      record,
    });
  }

  #engine(store: Store, process: Process, random: Random): Engine {
    const { world, values, readRegistration } = this.#parts;
    const uuids = random.fork("ids");
    const secrets = random.fork("secrets");
    const engine = random.fork("engine");
    const sealing = random.fork("sealing");
    const ids = createUuidV7(process.clock, () => uuids.uuid());
    return createEngine({
      store,
      values,
      readRegistration,
      config: this.#config,
      clock: process.clock,
      monotonic: process.monotonic,
      ids,
      token: () => secrets.hex(43),
      seed: () => secrets.hex(32),
      ring: ringOf(RING.primary, [], (length) => Buffer.from(sealing.hex(2 * length), "hex")),
      random: () => engine.next(),
      ...(this.hasRights && { tokenKeys: TOKEN_KEYS }),
      replica: ids(),
      setTimer: process.setTimer,
      log: logOf(process, world.trace),
    });
  }

  #address(at: number): ServerAddress {
    const current = () => {
      const life = this.#lives[at];
      if (!life) throw new Error("nobody listens");
      return life;
    };
    return {
      name: `s${at + 1}`,
      protocol: () => current().protocol,
      register: async (registration, credential) => {
        const { engine, protocol } = current();
        if (!this.hasRights) return protocol.register(registration);
        const call = joiningCall(registration.name, credential);
        return (await engine.workers.open(registration, call)).registered;
      },
      process: () => current().process,
      onDeath: (process, then) => {
        const life = this.#lives[at];
        if (life?.process === process && process.isAlive) life.onDeath.add(then);
        else then();
      },
    };
  }
}

/** A request to register, as it is let in that shows what it shows. */
function joiningCall(
  subject: string,
  credential: string | undefined,
): Parameters<Engine["workers"]["open"]>[1] {
  const kind = credential === undefined ? "bootstrap_token" : "worker_credential";
  const worker = { id: null, subject, issuer: WORKER_ISSUER, type: "worker" } as const;
  const holds = { roles: [], grants: [], narrowed_to: null, via_execution: null };
  const shown = { credential: { kind, id: credential ?? null, expires_at: null } } as const;
  const request = { action: "workers.register", address: undefined, request_id: "simulated" };
  return { ...request, caller: { principal: null, identity: { ...worker, ...holds, ...shown } } };
}
