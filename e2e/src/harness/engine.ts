import { fileURLToPath } from "node:url";
import { type ExecutionRecord, isTerminal } from "@engine/contract";
import { CliProcess, type CliResult } from "./cli-process.ts";
import { createHome, type Home } from "./home.ts";
import { Http } from "./http.ts";
import { until } from "./until.ts";

type Env = Readonly<Record<string, string>>;

/** A server process on a home of its own, the workers it was given, and ways to talk to them. */
export interface Engine extends AsyncDisposable {
  readonly home: Home;
  readonly http: Http;
  readonly url: string;
  server: CliProcess;
  startWorker(name: string, env?: Env): CliProcess;
  /** Starts the server on the same home and port, after a test has ended it. */
  startServerAgain(): void;
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

/** Starts a server and, unless told otherwise, one worker. */
export async function startEngine(
  options: { workers?: readonly string[]; env?: Env } = {},
): Promise<Engine> {
  const home = await createHome();
  const env = { ENGINE_HOME: home.file(".engine"), ...options.env };
  const processes: CliProcess[] = [];
  const start = (args: readonly string[], extra: Env = {}) => {
    const started = new CliProcess(args, { cwd: home.path, env: { ...env, ...extra } });
    processes.push(started);
    return started;
  };
  const dispose = async () => {
    await Promise.all(processes.map((started) => started.kill()));
    await home[Symbol.asyncDispose]();
  };

  try {
    const server = start(["start", "server", "--port", "0"]);
    const url = await serverUrl(server);
    const http = new Http(url);
    const port = new URL(url).port;
    const engine: Engine = {
      home,
      http,
      url,
      server,
      startWorker: (name, extra) =>
        start(["start", "worker", name], { ENGINE_SERVER_URL: url, ...extra }),
      startServerAgain() {
        engine.server = start(["start", "server", "--port", port]);
      },
      cli: (...args) =>
        new CliProcess(args, {
          cwd: home.path,
          env: { ...env, ENGINE_SERVER_URL: url },
        }).result(),
      async register(...fixtures) {
        for (const name of fixtures) {
          const { code, stderr } = await engine.cli("workflow", "register", fixture(name));
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
        engine.untilIs(id, ({ state, worker, waiting }) => {
          const isParked = worker === null && (state === "RUNNING" || state === "PAUSED");
          return isParked && waiting.some((wait) => wait.kind === kind);
        }),
      untilEnded: (id) => engine.untilIs(id, ({ state }) => isTerminal(state)),
      processReport: () => processes.map((process) => process.report()).join(""),
      [Symbol.asyncDispose]: dispose,
    };
    for (const name of options.workers ?? ["one"]) engine.startWorker(name);
    return engine;
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** The address a starting server prints, once it answers there. */
export async function serverUrl(server: CliProcess): Promise<string> {
  const [url] = await server.printed(/http:\/\/[\w.]+:\d+/);
  const http = new Http(url);
  await until("the server answers", () => http.isHealthy());
  return url;
}
