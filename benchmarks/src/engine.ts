import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BenchProcess } from "./bench-process.ts";
import { type Cleanup, stopAll, stopOnFailure } from "./cleanup.ts";
import { CHECKOUT, engineProcess } from "./engine-process.ts";
import { createHome } from "./home.ts";
import { HttpClient } from "./http-client.ts";
import { startCluster } from "./postgres-cluster.ts";
import type { Setup } from "./setup.ts";

const WORKFLOWS = "benchmarks/src/workflows/bench-workflows.ts";
const SLOTS = "256";

/** Where measurements send their load. */
export interface Engine {
  readonly client: HttpClient;
  stop(): Promise<void>;
}

export interface TwoProcesses extends Engine {
  readonly url: string;
  /** A folder of its own. */
  readonly home: string;
  readonly server: BenchProcess;
  /** The first worker. */
  readonly worker: BenchProcess;
  /** Starts one more worker; it has connected when this resolves. */
  startWorker(name: string): Promise<BenchProcess>;
  /** Ends the worker and starts a new one, which knows nothing of what the first one ran. */
  restartWorker(): Promise<void>;
}

export interface TwoProcessesOptions {
  /** Configuration of both processes that differs from what the other measurements run on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whose engine and whose workflows; this one's unless given. */
  readonly checkout?: string;
  /** For the server's Node. */
  readonly nodeArgs?: readonly string[];
  /** Everybody has to say who they are: the client is the first admin. */
  readonly auth?: boolean;
}

/** One server and one worker as two processes. */
export function startTwoProcesses(
  setup: Setup,
  options: TwoProcessesOptions = {},
): Promise<TwoProcesses> {
  const { nodeArgs = [], checkout = CHECKOUT, auth = false } = options;
  return stopOnFailure(async (cleanup) => {
    const place = await preparePlace(setup, cleanup);
    const { cwd } = place;
    const env = { ...place.env, ...(auth && authEnv()), ...options.env };
    const server = engineProcess(["start", "server", "--port", "0"], {
      cwd,
      env,
      nodeArgs,
      checkout,
    });
    cleanup.push(() => server.stop());
    const url = await printedUrl(server);
    const token = auth ? (await readFile(join(cwd, "admin-key"), "utf8")).trim() : undefined;
    const client = new HttpClient(url, token);
    cleanup.push(() => Promise.resolve(client.close()));
    await register(url, cwd, { checkout, token });

    const workerEnv = { ...env, ENGINE_SERVER_URL: url };
    const startWorker = async (name: string) => {
      const worker = engineProcess(["start", "worker", name], { cwd, env: workerEnv, checkout });
      cleanup.push(() => worker.stop());
      await worker.printed(/connected/);
      return worker;
    };
    let worker = await startWorker("bench");
    await client.run("chain", 0);

    const restartWorker = async () => {
      await worker.stop();
      worker = await startWorker("bench");
      // The module is loaded and every connection open before anything is measured.
      await client.run("chain", 0);
    };
    const first = worker;
    const stop = () => stopAll(cleanup);
    return { url, home: cwd, server, worker: first, client, startWorker, restartWorker, stop };
  });
}

/** Server and worker in one process, as `npm start` has them. */
export function startOneProcess(setup: Setup): Promise<Engine> {
  return stopOnFailure(async (cleanup) => {
    const place = await preparePlace(setup, cleanup);
    const engine = engineProcess(
      ["dev", "--no-watch", "--port", "0", join(CHECKOUT, WORKFLOWS)],
      place,
    );
    cleanup.push(() => engine.stop());
    const client = new HttpClient(await printedUrl(engine));
    cleanup.push(() => Promise.resolve(client.close()));
    await client.untilRegistered("chain");
    await client.run("chain", 0);
    return { client, stop: () => stopAll(cleanup) };
  });
}

/** A home folder, a database, and the configuration that names both. */
export async function preparePlace(
  { store, runner }: Setup,
  cleanup: Cleanup,
): Promise<{ cwd: string; env: Record<string, string> }> {
  const home = await createHome();
  cleanup.push(() => home.remove());
  const env: Record<string, string> = {
    ENGINE_HOME: home.path,
    ENGINE_WORKERS__SLOTS: SLOTS,
    ENGINE_WORKERS__RUNNERS: JSON.stringify([runner]),
    ENGINE_WORKERS__DEFAULT_RUNNER: runner,
  };
  if (store === "sqlite") {
    env["ENGINE_STORE__SYNCHRONOUS"] = "full";
  } else {
    const cluster = await startCluster();
    cleanup.push(() => cluster.stop());
    env["ENGINE_DATABASE_URL"] = cluster.url;
  }
  return { cwd: home.path, env };
}

/** What server and workers need to know each other, on either database. */
function authEnv(): Record<string, string> {
  return {
    ENGINE_SECURITY__AUTH__ENABLED: "true",
    ENGINE_SECURITY__ENCRYPTION__KEY: randomBytes(32).toString("base64"),
    ENGINE_WORKERS__BOOTSTRAP_TOKEN: randomBytes(32).toString("base64url"),
  };
}

interface RegisterOptions {
  readonly checkout?: string;
  readonly token?: string | undefined;
  /** A file of the checkout; those of all measurements unless given. */
  readonly workflows?: string;
}

export async function register(
  url: string,
  cwd: string,
  { checkout = CHECKOUT, token, workflows = WORKFLOWS }: RegisterOptions = {},
): Promise<void> {
  const env = { ENGINE_SERVER_URL: url, ...(token !== undefined && { ENGINE_AUTH_TOKEN: token }) };
  const file = join(checkout, workflows);
  await engineProcess(["workflow", "register", file], { cwd, env, checkout }).succeeded();
}

async function printedUrl(server: BenchProcess): Promise<string> {
  const [url] = await server.printed(/http:\/\/[\w.]+:\d+/);
  return url;
}
