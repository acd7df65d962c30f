import { fileURLToPath } from "node:url";
import { type ExecutionRecord, isTerminal } from "@engine/contract";
import { CliProcess, type CliResult } from "./cli-process.ts";
import type { Home } from "./home.ts";
import { Http } from "./http.ts";
import { until } from "./until.ts";

export type Env = Readonly<Record<string, string>>;

/** Workers at an address, and ways to talk to whatever serves there. */
export interface EngineAccess {
  readonly home: Home;
  readonly http: Http;
  readonly url: string;
  startWorker(name: string, env?: Env): CliProcess;
  /** A command that ends by itself, with this server as its server. */
  cli(...args: string[]): Promise<CliResult>;
  register(...fixtures: string[]): Promise<void>;
  /** Starts a workflow of namespace `default` and gives the id of its execution. */
  start(workflow: string, input?: unknown): Promise<string>;
  /** The first record that is as wanted; a server that is away is waited for. */
  untilIs(
    executionId: string,
    holds: (record: ExecutionRecord) => boolean,
  ): Promise<ExecutionRecord>;
  /** Parked on a wait of that kind, its slot given back. */
  untilParked(executionId: string, kind: string): Promise<ExecutionRecord>;
  untilEnded(executionId: string): Promise<ExecutionRecord>;
  /** What each process that still runs, or ended by itself, has printed last. */
  processReport(): string;
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}.ts`, import.meta.url));
}

/** The processes of one test: they have one home and one environment, and end together. */
export class ProcessGroup implements AsyncDisposable {
  readonly home: Home;
  readonly #env: Env;
  readonly #started: CliProcess[] = [];

  constructor(home: Home, env: Env) {
    this.home = home;
    this.#env = env;
  }

  start(args: readonly string[], env: Env = {}): CliProcess {
    const started = this.#spawn(args, env);
    this.#started.push(started);
    return started;
  }

  /** One that ends by itself. */
  run(args: readonly string[], env: Env): Promise<CliResult> {
    return this.#spawn(args, env).result();
  }

  report(): string {
    return this.#started.map((process) => process.report()).join("");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#started.map((started) => started.kill()));
  }

  #spawn(args: readonly string[], env: Env): CliProcess {
    return new CliProcess(args, { cwd: this.home.path, env: { ...this.#env, ...env } });
  }
}

/** @param token Of whoever asks, where authorization is on. */
export function accessAt(url: string, processes: ProcessGroup, token?: string): EngineAccess {
  const http = new Http(url, token);
  const asked: Env = { ENGINE_SERVER_URL: url, ...(token && { ENGINE_AUTH_TOKEN: token }) };
  const access: EngineAccess = {
    home: processes.home,
    http,
    url,
    startWorker: (name, env) =>
      processes.start(["start", "worker", name], { ENGINE_SERVER_URL: url, ...env }),
    cli: (...args) => processes.run(args, asked),
    async register(...fixtures) {
      for (const name of fixtures) {
        const { code, stderr } = await access.cli("workflow", "register", fixture(name));
        if (code !== 0) throw new Error(`${name} was not registered: ${stderr}`);
      }
    },
    async start(workflow, input) {
      const { status, body } = await http.post<ExecutionRecord>(
        `/workflows/default/${workflow}/run/async`,
        input ?? null,
      );
      if (status !== 202) throw new Error(`${workflow}: ${status} ${JSON.stringify(body)}`);
      return body.execution_id;
    },
    async untilIs(id, holds) {
      let found: ExecutionRecord | undefined;
      const isSo = async () => {
        found = await http.execution(id).catch(() => undefined);
        return found !== undefined && holds(found);
      };
      await until(`execution ${id} is as wanted`, isSo).catch((error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify(found)}`, { cause: error });
      });
      return found as ExecutionRecord;
    },
    untilParked: (id, kind) =>
      access.untilIs(id, ({ state, worker, waiting }) => {
        const isParked = worker === null && (state === "RUNNING" || state === "PAUSED");
        return isParked && waiting.some((wait) => wait.kind === kind);
      }),
    untilEnded: (id) => access.untilIs(id, ({ state }) => isTerminal(state)),
    processReport: () => processes.report(),
  };
  return access;
}
