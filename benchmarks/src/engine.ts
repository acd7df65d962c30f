import { rmSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HttpClient } from "./http-client.ts";
import { EngineProcess } from "./processes.ts";
import { RESULTS } from "./results-file.ts";

const WORKFLOWS = fileURLToPath(new URL("./workflows/bench-workflows.ts", import.meta.url));
const SLOTS = "256";

/** Where measurements send their load. */
export interface Engine {
  readonly client: HttpClient;
  stop(): Promise<void>;
}

export interface TwoProcesses extends Engine {
  readonly server: EngineProcess;
  /** Ends the worker and starts a new one, which knows nothing of what the first one ran. */
  restartWorker(): Promise<void>;
}

/** A folder on the disk of the checkout: the system's temporary folder may be memory. */
export async function createHome(): Promise<{ path: string; remove(): Promise<void> }> {
  await mkdir(RESULTS, { recursive: true });
  const path = await mkdtemp(join(RESULTS, "home-"));
  const onExit = () => rmSync(path, { recursive: true, force: true });
  process.on("exit", onExit);
  return {
    path,
    async remove() {
      process.off("exit", onExit);
      await rm(path, { recursive: true, force: true });
    },
  };
}

export interface TwoProcessesOptions {
  /** Configuration of both processes that differs from what the other measurements run on. */
  readonly env?: Readonly<Record<string, string>>;
  /** For the server's Node. */
  readonly nodeArgs?: readonly string[];
}

/** One server and one worker as two processes. */
export function startTwoProcesses(options: TwoProcessesOptions = {}): Promise<TwoProcesses> {
  const { nodeArgs = [] } = options;
  return stopOnFailure(async (cleanup) => {
    const home = await createHome();
    cleanup.push(() => home.remove());
    const env = { ...environment(home.path), ...options.env };
    const command = ["start", "server", "--port", "0"];
    const server = new EngineProcess(command, { cwd: home.path, env, nodeArgs });
    cleanup.push(() => server.stop());
    const url = await printedUrl(server);
    const client = new HttpClient(url);
    cleanup.push(() => Promise.resolve(client.close()));
    await register(url, home.path);

    const workerEnv = { ...env, ENGINE_SERVER_URL: url };
    const startWorker = () =>
      new EngineProcess(["start", "worker", "bench"], { cwd: home.path, env: workerEnv });
    let worker = startWorker();
    cleanup.push(() => worker.stop());
    await client.run("chain", 0);

    const restartWorker = async () => {
      await worker.stop();
      worker = startWorker();
      // The module is loaded and every connection open before anything is measured.
      await client.run("chain", 0);
    };
    return { server, client, restartWorker, stop: () => stopAll(cleanup) };
  });
}

/** Server and worker in one process, as `npm start` has them. */
export function startOneProcess(): Promise<Engine> {
  return stopOnFailure(async (cleanup) => {
    const home = await createHome();
    cleanup.push(() => home.remove());
    const engine = new EngineProcess(["dev", "--no-watch", "--port", "0", WORKFLOWS], {
      cwd: home.path,
      env: environment(home.path),
    });
    cleanup.push(() => engine.stop());
    const client = new HttpClient(await printedUrl(engine));
    cleanup.push(() => Promise.resolve(client.close()));
    await client.untilRegistered("chain");
    await client.run("chain", 0);
    return { client, stop: () => stopAll(cleanup) };
  });
}

type Cleanup = (() => Promise<void>)[];

async function stopOnFailure<T>(start: (cleanup: Cleanup) => Promise<T>): Promise<T> {
  const cleanup: Cleanup = [];
  try {
    return await start(cleanup);
  } catch (error) {
    await stopAll(cleanup);
    throw error;
  }
}

async function stopAll(cleanup: Cleanup): Promise<void> {
  for (const step of cleanup.splice(0).reverse()) await step();
}

function environment(home: string): Record<string, string> {
  return { ENGINE_HOME: home, ENGINE_STORE__SYNCHRONOUS: "full", ENGINE_WORKERS__SLOTS: SLOTS };
}

async function printedUrl(server: EngineProcess): Promise<string> {
  const [url] = await server.printed(/http:\/\/[\w.]+:\d+/);
  return url;
}

async function register(url: string, cwd: string): Promise<void> {
  const env = { ENGINE_SERVER_URL: url };
  await new EngineProcess(["workflow", "register", WORKFLOWS], { cwd, env }).succeeded();
}
