import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CliProcess } from "../harness/cli-process.ts";
import { accessAt, type EngineAccess, type Env, ProcessGroup } from "../harness/engine-access.ts";
import { accountOf, GUARDED, secretIn } from "../harness/guarded.ts";
import { createHome, type Home } from "../harness/home.ts";
import { until } from "../harness/until.ts";
import type { Kill } from "../kill/violations.ts";
import { ARMED, linesOf, REACHED, STRUCK } from "./strike.ts";
import { Supervised } from "./supervised.ts";

const PRELOAD = fileURLToPath(new URL("./preload.ts", import.meta.url));

/** What makes a run short: nothing is waited for that a user would want to wait for. */
const QUICK: Env = {
  ENGINE_LOG_LEVEL: "warn",
  ENGINE_EXECUTIONS__INLINE_WAIT: "0.05",
  ENGINE_EXECUTIONS__INLINE_VALUE_BYTES: "1024",
  ENGINE_WORKERS__THREADS: "1",
  ENGINE_WORKERS__PROCESS_SPARES: "0",
  ENGINE_WORKERS__RUNNERS: '["thread"]',
  ENGINE_WORKERS__HEARTBEAT_INTERVAL: "1",
  ENGINE_WORKERS__DISCONNECT_GRACE: "0.2",
  ENGINE_WORKERS__SILENCE_TIMEOUT: "5",
  ENGINE_WORKERS__CLAIM_TIMEOUT: "2",
  ENGINE_WORKERS__MAX_CRASHES: "100",
  ENGINE_DISPATCH__SAFETY_INTERVAL: "2",
  // Workers that are killed register far more often than any others.
  ENGINE_SECURITY__RATE_LIMITS__REGISTER: "10000/minute",
  ENGINE_SECURITY__ENCRYPTION__KEY: Buffer.alloc(32, 7).toString("base64"),
};

/** Where a worker hangs on its server: by a stream, or by asking. */
const WORKERS = [
  ["listener", "event"],
  ["asker", "poll"],
] as const;

/**
 * One that polls has no stream whose end a server would see: killed three times within a minute, it
 * is taken for processes that fight over a name, and comes in again later.
 */
const FOUGHT_OVER = "processes took the name";

export interface PlantOptions {
  readonly channels: readonly string[];
  /** Where compiled code is kept between starts. */
  readonly compileCache: string;
  readonly databaseUrl?: string;
  readonly env?: Env;
  /** Failpoints at which processes die from the first start on. */
  readonly armed?: readonly string[];
  /** With authorization on: whoever works for the sweep has a credential. */
  readonly isGuarded?: boolean | undefined;
}

/** What they have with authorization on. */
export interface Credentials {
  /** With it a worker joins. */
  readonly bootstrap: string;
  /** A service account that may run everything. */
  readonly account: string;
}

/** A server and two workers that are started again at once whenever they end, as operators have it. */
export class Plant implements AsyncDisposable {
  readonly home: Home;
  readonly server: Supervised;
  readonly workers: ReadonlyMap<string, Supervised>;
  readonly #processes: ProcessGroup;
  #engine: EngineAccess;
  #credentials: Credentials | undefined;
  /** When somebody who works for the sweep ended a process, by its pid. */
  readonly #ended = new Map<number, number>();

  private constructor(parts: { home: Home; processes: ProcessGroup; port: number }) {
    const { home, processes, port } = parts;
    this.home = home;
    this.#processes = processes;
    this.#engine = accessAt(`http://127.0.0.1:${port}`, processes);
    const { url } = this.engine;
    this.server = new Supervised(() => processes.start(["start", "server", "--port", `${port}`]));
    this.workers = new Map(
      WORKERS.map(([name, dispatch]) => {
        const args = ["start", "worker", name, "--dispatch", dispatch];
        const env = () => ({
          ENGINE_SERVER_URL: url,
          ...(this.#credentials && {
            ENGINE_WORKERS__BOOTSTRAP_TOKEN: this.#credentials.bootstrap,
          }),
        });
        return [name, new Supervised(() => processes.start(args, env()))];
      }),
    );
  }

  static async start(options: PlantOptions): Promise<Plant> {
    const { channels, compileCache, databaseUrl, armed = [], env = {}, isGuarded } = options;
    const home = await createHome();
    const processes = new ProcessGroup(home, {
      ...QUICK,
      ...(isGuarded && GUARDED),
      ...env,
      ENGINE_HOME: home.file(".engine"),
      ...(databaseUrl && { ENGINE_DATABASE_URL: databaseUrl }),
      SWEEP_FOLDER: home.path,
      SWEEP_CHANNELS: channels.join(),
      NODE_COMPILE_CACHE: compileCache,
      NODE_OPTIONS: `--import=${PRELOAD}`,
    });
    const plant = new Plant({ home, processes, port: await freePort() });
    plant.arm(armed);
    plant.server.start();
    await plant.untilUp();
    if (isGuarded) await plant.#letIn();
    return plant;
  }

  get engine(): EngineAccess {
    return this.#engine;
  }

  /** Undefined with authorization off: then nobody asks for any. */
  get credentials(): Credentials | undefined {
    return this.#credentials;
  }

  get file(): string {
    return this.home.file("bodies.txt");
  }

  /** Processes are to die at these, one after the other. */
  arm(failpoints: readonly string[]): void {
    writeFileSync(join(this.home.path, ARMED), failpoints.map((one) => `${one}\n`).join(""));
  }

  /** Those that nobody has come by yet. */
  armed(): readonly string[] {
    return linesOf(join(this.home.path, ARMED));
  }

  /** Every failpoint that any process has come by. */
  reached(): ReadonlySet<string> {
    return new Set(linesOf(join(this.home.path, REACHED)));
  }

  async untilUp(): Promise<void> {
    await until("the server answers", () => this.engine.http.isHealthy());
  }

  async startWorkers(): Promise<void> {
    for (const worker of this.workers.values()) worker.start();
    await until("the workers are there", async () => {
      const { body } = await this.engine.http.get<{ items: { status: string }[] }>("/workers");
      return body.items.filter(({ status }) => status === "online").length === WORKERS.length;
    });
  }

  kill(which: Supervised): void {
    this.dismissed(which);
    which.process.signal("SIGKILL");
  }

  /** It ends because it was asked to. */
  dismissed(which: Supervised): void {
    this.#ended.set(which.process.pid, Date.now());
  }

  /** Every end of a process: those at a failpoint, and those that the sweep wanted. */
  kills(): readonly Kill[] {
    const struck = linesOf(join(this.home.path, STRUCK)).map((line) => line.split("\t"));
    const at = new Map(struck.map(([pid, time]) => [Number(pid), Number(time)]));
    return this.#ends().flatMap(({ target, pid, to }) => {
      const from = at.get(pid) ?? this.#ended.get(pid);
      return from === undefined ? [] : [{ target, pid, from, to }];
    });
  }

  /** What is said by processes that ended without a reason. */
  unexplained(): readonly string[] {
    const explained = new Set(this.kills().map(({ pid }) => pid));
    return this.#ends()
      .filter(({ pid, process }) => !explained.has(pid) && !process.output.includes(FOUGHT_OVER))
      .map(({ target, process }) => `a ${target} ended by itself: ${process.report()}`);
  }

  struck(): readonly string[] {
    return linesOf(join(this.home.path, STRUCK)).map((line) => line.split("\t")[2] ?? "");
  }

  async #letIn(): Promise<void> {
    const { url } = this.engine;
    this.#engine = accessAt(url, this.#processes, await secretIn(this.home, "admin-key"));
    const account = "sweeper";
    await accountOf(this.engine.http, account, "admin");
    this.#credentials = { account, bootstrap: await secretIn(this.home, "bootstrap-token") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of [this.server, ...this.workers.values()]) one.letEnd();
    await this.#processes[Symbol.asyncDispose]();
    await this.home[Symbol.asyncDispose]();
  }

  #ends(): readonly End[] {
    const of = (target: Kill["target"], supervised: Supervised): End[] =>
      supervised.ends.map((end) => ({ target, pid: end.process.pid, ...end }));
    const workers = [...this.workers.values()].flatMap((worker) => of("worker", worker));
    return [...of("server", this.server), ...workers];
  }
}

interface End {
  readonly target: Kill["target"];
  readonly pid: number;
  readonly to: number;
  readonly process: CliProcess;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
