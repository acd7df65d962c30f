import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { CliProcess } from "../harness/cli-process.ts";
import { serverUrl } from "../harness/engine.ts";
import { accessAt, type EngineAccess, ProcessGroup } from "../harness/engine-access.ts";
import { createHome, type Home } from "../harness/home.ts";
import { until } from "../harness/until.ts";
import { Supervised } from "../sweep/supervised.ts";
import type { Death } from "./evidence.ts";
import type { Setup } from "./setups.ts";

const TRACES = "traces";
const WORKERS = ["one", "two"];
const PROGRAMS = fileURLToPath(import.meta.resolve("@engine/simulation/real-programs"));

export interface InstallationOptions {
  readonly setup: Setup;
  /** Of an empty PostgreSQL; without it there is SQLite. */
  readonly databaseUrl: string | undefined;
}

/** A server with two workers that are started again whenever they end, and the programs registered. */
export class Installation implements AsyncDisposable {
  readonly home: Home;
  readonly engine: EngineAccess;
  /** The file that was registered. */
  readonly programs: string = PROGRAMS;
  readonly workers: readonly Supervised[];
  readonly #server: CliProcess;
  readonly #processes: ProcessGroup;

  private constructor(parts: {
    home: Home;
    processes: ProcessGroup;
    server: CliProcess;
    url: string;
  }) {
    const { home, processes, server, url } = parts;
    this.home = home;
    this.#processes = processes;
    this.#server = server;
    this.engine = accessAt(url, processes);
    this.workers = WORKERS.map((name) => new Supervised(() => this.engine.startWorker(name)));
  }

  static async start({ setup, databaseUrl }: InstallationOptions): Promise<Installation> {
    const home = await createHome();
    const processes = new ProcessGroup(home, {
      ...setup.env,
      // The source of programs has a sensitive task, which takes a key also where no program calls it.
      ENGINE_SECURITY__ENCRYPTION__KEY: Buffer.alloc(32, 1).toString("base64"),
      ENGINE_HOME: home.file(".engine"),
      ...(databaseUrl !== undefined && { ENGINE_DATABASE_URL: databaseUrl }),
    });
    const server = processes.start(["start", "server", "--port", "0"]);
    const installation = new Installation({
      home,
      processes,
      server,
      url: await serverUrl(server),
    });
    await mkdir(home.file(TRACES));
    await installation.#open();
    return installation;
  }

  /** Where the tasks of a program write to. */
  traceFile(number: number): string {
    return this.home.file(`${TRACES}/${number}.trace`);
  }

  /** Where the engine keeps large values. */
  get values(): string {
    return this.home.file(".engine/values");
  }

  deaths(): readonly Death[] {
    return this.workers.flatMap(({ ends }) =>
      ends.map(({ process, to }) => ({ pid: process.pid, at: to })),
    );
  }

  /** What processes said that were not meant to end, or that still run. */
  report(): string {
    return this.#processes.report();
  }

  /** The server is not meant to end. */
  get hasFailed(): boolean {
    return this.#server.ended;
  }

  /** Whether some worker is online, as far as the server answers. */
  async isAnyWorkerThere(): Promise<boolean> {
    return (await this.#online().catch(() => 0)) > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.workers) worker.letEnd();
    await this.#processes[Symbol.asyncDispose]();
    await this.home[Symbol.asyncDispose]();
  }

  async #online(): Promise<number> {
    const { body } = await this.engine.http.get<{ items: { status: string }[] }>("/workers");
    return body.items.filter(({ status }) => status === "online").length;
  }

  async #open(): Promise<void> {
    const registered = await this.engine.cli("workflow", "register", PROGRAMS);
    if (registered.code !== 0) throw new Error(`the programs were refused: ${registered.stderr}`);
    for (const worker of this.workers) worker.start();
    await until("the workers are there", async () => (await this.#online()) === WORKERS.length);
  }
}
