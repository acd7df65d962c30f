import { startTestPostgres } from "@engine/store/test-postgres";
import type { CliProcess } from "./cli-process.ts";
import { accessAt, type EngineAccess, type Env, ProcessGroup } from "./engine-access.ts";
import { createHome } from "./home.ts";
import { Http } from "./http.ts";
import { until } from "./until.ts";

/** A server process on a home of its own, the workers it was given, and ways to talk to them. */
export interface Engine extends EngineAccess, AsyncDisposable {
  server: CliProcess;
  /** Starts the server on the same home and port, after a test has ended it. */
  startServerAgain(): void;
}

export interface EngineOptions {
  /** Those that are started with it; unless told otherwise there is one. */
  readonly workers?: readonly string[];
  readonly env?: Env;
  /** Where executions are kept; `E2E_STORE` says where when the test does not. */
  readonly store?: "sqlite" | "postgres";
}

const STORE = process.env["E2E_STORE"] === "postgres" ? "postgres" : "sqlite";

/** Starts a server and, unless told otherwise, one worker. */
export async function startEngine(options: EngineOptions = {}): Promise<Engine> {
  const { workers = ["one"], store = STORE } = options;
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await createHome());
  const env: Record<string, string> = { ENGINE_HOME: home.file(".engine"), ...options.env };
  if (store === "postgres") {
    const postgres = await startTestPostgres();
    stack.defer(() => postgres.stop());
    env["ENGINE_DATABASE_URL"] = await postgres.createDatabase();
  }
  const processes = stack.use(new ProcessGroup(home, env));
  const server = processes.start(["start", "server", "--port", "0"]);
  const url = await serverUrl(server);
  const { port } = new URL(url);
  const all = stack.move();
  const engine: Engine = {
    ...accessAt(url, processes),
    server,
    startServerAgain() {
      engine.server = processes.start(["start", "server", "--port", port]);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
  for (const name of workers) engine.startWorker(name);
  return engine;
}

/** The address a starting server prints, once it answers there. */
export async function serverUrl(server: CliProcess): Promise<string> {
  const [url] = await server.printed(/http:\/\/[\w.]+:\d+/);
  const http = new Http(url);
  await until("the server answers", () => http.isHealthy());
  return url;
}
