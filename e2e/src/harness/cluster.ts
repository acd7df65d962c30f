import { startTestPostgres, type TestPostgres } from "@engine/store/test-postgres";
import type { CliProcess } from "./cli-process.ts";
import { serverUrl } from "./engine.ts";
import { accessAt, type EngineAccess, type Env, ProcessGroup } from "./engine-access.ts";
import { createHome } from "./home.ts";
import { Http } from "./http.ts";
import { TcpBalancer } from "./tcp-balancer.ts";
import { until } from "./until.ts";

/** One of the servers of a cluster: the process changes, its port stays. */
export interface ClusterServer {
  readonly port: number;
  /** Past the balancer. */
  readonly http: Http;
  readonly process: CliProcess;
  /** Starts it again after its process has ended; resolves once it answers. */
  startAgain(): Promise<void>;
}

/** Several servers on one PostgreSQL behind one address, which is that of workers and clients. */
export interface Cluster extends EngineAccess, AsyncDisposable {
  readonly postgres: TestPostgres;
  readonly servers: readonly ClusterServer[];
  /** Another way to the same servers, to be broken for whoever takes it. */
  anotherWay(): Promise<TcpBalancer>;
}

export interface ClusterOptions {
  readonly servers?: number;
  readonly workers?: readonly string[];
  readonly env?: Env;
  /** Whether servers hear of each other by notifications; unless told otherwise they do. */
  readonly hears?: boolean;
}

/** Starts PostgreSQL, two servers and, unless told otherwise, two workers. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { servers: count = 2, workers = ["a", "b"], hears = true } = options;
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await createHome());
  const postgres = await startTestPostgres();
  stack.defer(() => postgres.stop());
  const url = await postgres.createDatabase();
  if (!hears) await postgres.cutNotifications(url);
  const env = {
    ENGINE_HOME: home.file(".engine"),
    ENGINE_DATABASE_URL: url,
    ...options.env,
  };
  const processes = stack.use(new ProcessGroup(home, env));
  const servers: ClusterServer[] = [];
  // The first one makes the tables; then the others can come together.
  servers.push(await startClusterServer(processes));
  const others = Array.from({ length: count - 1 }, () => startClusterServer(processes));
  servers.push(...(await Promise.all(others)));
  const ports = () => servers.map(({ port }) => port);
  const balancer = stack.use(await TcpBalancer.start(ports));
  const all = stack.move();
  const cluster: Cluster = {
    ...accessAt(balancer.url, processes),
    postgres,
    servers,
    anotherWay: async () => all.use(await TcpBalancer.start(ports)),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
  for (const name of workers) cluster.startWorker(name);
  return cluster;
}

async function startClusterServer(processes: ProcessGroup): Promise<ClusterServer> {
  let server = processes.start(["start", "server", "--port", "0"]);
  const url = await serverUrl(server);
  const port = Number(new URL(url).port);
  const http = new Http(url);
  return {
    port,
    http,
    get process() {
      return server;
    },
    async startAgain() {
      server = processes.start(["start", "server", "--port", `${port}`]);
      await until("the server answers again", () => http.isHealthy());
    },
  };
}
