import { randomBytes, randomUUID } from "node:crypto";
import {
  authSwitch,
  type Config,
  createUuidV7,
  routes,
  type WorkerProtocol,
} from "@engine/contract";
import {
  type App,
  type Authorize,
  bodyLimitOf,
  clientUrl,
  closeApp,
  createApp,
  innerFetch,
  type Listening,
  leave,
  listen,
  RateLimits,
  Tls,
} from "@engine/http";
import type { TokenFetch } from "@engine/oidc";
import { openValueStore, type Store } from "@engine/store";
import { type Access, createAccess } from "./auth/access.ts";
import { ensureBootstrapToken } from "./auth/bootstrap-token.ts";
import { ensureFirstAdmin } from "./auth/first-admin.ts";
import { tellOfHeld } from "./auth/held-at-start.ts";
import { JoinTokens } from "./auth/join-tokens.ts";
import { ReadLog } from "./auth/read-log.ts";
import { RefusalLog } from "./auth/refusal-log.ts";
import { authProblems, refuseStartProblems, type StartProblems } from "./auth/start-problems.ts";
import { edgeProblems } from "./edge-problems.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { EnginePorts, SetTimer } from "./engine-ports.ts";
import { recovered } from "./failpoints.ts";
import { auditHandlers } from "./handlers/audit.ts";
import { authHandlers } from "./handlers/auth.ts";
import { basicHandlers } from "./handlers/basic.ts";
import { catalogHandlers } from "./handlers/catalog.ts";
import { configHandlers } from "./handlers/configs.ts";
import { encryptionHandlers } from "./handlers/encryption.ts";
import { executionHandlers } from "./handlers/executions.ts";
import { fleetHandlers } from "./handlers/fleet.ts";
import { hookHandlers } from "./handlers/hooks.ts";
import { joinTokenHandlers } from "./handlers/join-tokens.ts";
import { limitHandlers } from "./handlers/limits.ts";
import { looks, runListOf } from "./handlers/looks.ts";
import { principalHandlers } from "./handlers/principals.ts";
import { resources } from "./handlers/resources.ts";
import { roleHandlers } from "./handlers/roles.ts";
import { scheduleHandlers } from "./handlers/schedules.ts";
import { secretHandlers } from "./handlers/secrets.ts";
import { serviceHandlers } from "./handlers/services.ts";
import { systemHandlers } from "./handlers/system.ts";
import { workerAttributeHandlers } from "./handlers/worker-attributes.ts";
import { workerHandlers } from "./handlers/workers.ts";
import { encryptionProblems, openRing } from "./secrets/opened-ring.ts";
import { tokenKeysOf } from "./secrets/token-keys.ts";
import { McpEndpoints } from "./services/mcp-endpoints.ts";
import { McpMetadata } from "./services/mcp-metadata.ts";
import { systemTimer } from "./system-timer.ts";

type Chance = "ids" | "token" | "seed" | "random";
type Time = "clock" | "monotonic" | "setTimer";

/** Time and chance are those of the system when absent. */
export interface ServerOptions
  extends Pick<EnginePorts, "config" | "log">,
    Partial<Pick<EnginePorts, Time | Chance>> {
  /** Stays the caller's: close it after the server. */
  readonly store: Store;
  /**
   * With it this process calls the server in it: it reads and registers everything, and starts nothing
   * (AUTH-63). Made in memory, `engine_in_<secret>`, and never shown.
   */
  readonly ownToken?: string;
  /** Of the product, as `GET /health` shows it. */
  readonly version: string;
  /** In place of what `[engine.security]` says; for tests. */
  readonly authorize?: Authorize;
  /** For the keys of an OpenID provider; that of the process when absent. */
  readonly fetch?: TokenFetch;
}

export interface Server {
  /** Where clients on this machine reach it. */
  readonly url: string;
  readonly port: number;
  readonly engine: Engine;
  /** For a worker in this process: the same protocol without the network. */
  readonly workers: WorkerProtocol;
  /** Who is let in; undefined with authorization off. */
  readonly access: Access | undefined;
  /** Reads the files of its certificate again, as it does by itself now and then (NET-6). */
  reloadTls(): Promise<void>;
  /** Answers what waits, ends streams, lets requests finish; at most a few seconds. */
  close(): Promise<void>;
}

/** All that can be wrong with a configuration and what it finds (AUTH-3). */
const START_PROBLEMS: readonly StartProblems[] = [authProblems, encryptionProblems, edgeProblems];

/**
 * Starts the engine and serves it over HTTP.
 *
 * @throws EngineError `conflict` when the port is taken, `invalid_input` with a line for each problem of
 * the configuration.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { config, store, log, version } = options;
  const { clock = Date.now, monotonic = () => performance.now(), setTimer = systemTimer } = options;
  const {
    ids = createUuidV7(clock, randomUUID),
    seed = randomUUID,
    random = Math.random,
  } = options;
  const { token = () => randomBytes(32).toString("base64url") } = options;
  await refuseStartProblems({ config, store, log }, START_PROBLEMS);
  const ring = await openRing({ config, store, log });
  const values = await openValueStore(config);
  if (store.kind === "postgres" && config.storage.type === "file") {
    log.warn(
      { path: config.storage.path ?? `${config.home}/values` },
      "values over executions.inline_value_bytes are kept in files of this server (storage.type = file): servers that share the database need a folder that all of them see, or storage.type = s3",
    );
  }
  const time = { clock, monotonic, setTimer };
  const chance = { ids, token, seed, random, replica: ids() };
  const keys = ring ? { ring, tokenKeys: tokenKeysOf(ring) } : {};
  const ports = { store, values, config, log, ...keys, ...time, ...chance };
  const engine = createEngine(ports);
  const access = createAccess({
    ports,
    engine,
    fetch: options.fetch ?? fetch,
    ownToken: options.ownToken,
  });
  if (engine.tokens) access?.verifiers.use("execution_token", engine.tokens);
  const tls = await Tls.open(config.server.tls, { log });
  let isReady = false;
  const { sync_timeout } = config.executions;
  const refusals = new RefusalLog(ports);
  const reads = config.security.audit.reads ? new ReadLog(ports) : undefined;
  const authorize = options.authorize ?? access?.authentication.authorize;
  let app: App | undefined;
  let listening: Listening | undefined;
  const metadata = new McpMetadata({
    base: () => publicUrl(config, listening),
    issuer: issuerOf(config),
  });
  const mcp = new McpEndpoints({
    ports,
    services: engine.services,
    catalog: engine.catalog,
    epochs: engine.epochs,
    limits: { mcp_sync_timeout: config.services.mcp_sync_timeout, sync_timeout },
    version,
    maxBodyBytes: bodyLimitOf(routes.services.mcp, config.executions.max_value_bytes),
    requests: (address) => {
      if (!app) throw new Error("nothing is served yet");
      return innerFetch(app, address);
    },
    masks: engine.masks,
  });
  const services = serviceHandlers({ engine, syncTimeout: sync_timeout, mcp, metadata });
  app = createApp({
    routes,
    handlers: {
      system: systemHandlers({ store, version, isReady: () => isReady }),
      auth: authHandlers({ engine, config, access }),
      catalog: catalogHandlers(engine, ports),
      executions: executionHandlers(engine, sync_timeout),
      fleet: fleetHandlers(engine, ports),
      workerAttributes: workerAttributeHandlers(engine, ports),
      limits: limitHandlers(engine, ports),
      services: services.handlers,
      schedules: scheduleHandlers(engine, ports),
      hooks: hookHandlers(engine),
      joinTokens: joinTokenHandlers({ joinTokens: new JoinTokens(ports), ports }),
      workers: workerHandlers(engine),
      roles: roleHandlers(engine),
      principals: principalHandlers(engine),
      secrets: secretHandlers(engine),
      configs: configHandlers(engine),
      encryption: encryptionHandlers(engine),
      audit: auditHandlers(store),
      basic: basicHandlers(engine, sync_timeout),
    },
    looks: looks(engine),
    befores: { services: services.befores },
    runList: runListOf(engine),
    resources,
    valueBytes: config.executions.max_value_bytes,
    ...(tls && { tls }),
    limits: new RateLimits({ rates: config.security.rate_limits, monotonic }),
    trustedProxies: config.server.trusted_proxies,
    log,
    ids,
    neighbours: {
      hosts: [...config.server.allowed_hosts, new URL(config.server_url).hostname],
      origins: config.server.cors_allow_origins,
    },
    redaction: {
      known: () => engine.masks.known(),
      current: () => engine.masks.current(),
      passedFrames: new Set(config.security.redaction.progress ? [] : ["task.progress"]),
    },
    resourceMetadata: (action, params) => metadata.ofRefused(action, params),
    onRefused: (error, refused) => refusals.note(error, refused),
    ...(reads && { onRead: (read) => reads.note(read) }),
    ...(authorize && { authorize }),
  });
  const served = app;
  try {
    await engine.start();
    if (access) {
      await ensureFirstAdmin(ports);
      await tellOfHeld(ports);
      await ensureBootstrapToken(ports);
    }
    listening = await listen(served, config.server);
    if (recovered.hasSubscribers) recovered.publish({ of: ["listening"] });
  } catch (error) {
    await engine.close();
    await served.close();
    throw error;
  }
  isReady = true;
  let closing: Promise<void> | undefined;
  return {
    ...listening,
    engine,
    workers: engine.workers,
    access,
    reloadTls: async () => tls?.reload(),
    close() {
      isReady = false;
      closing ??= close({ engine, app: served, access, refusals, reads }, setTimer);
      return closing;
    },
  };
}

/** The provider whose tokens are taken. */
function issuerOf({ security: { auth } }: Config): string | undefined {
  return authSwitch(auth).isOn && auth.oidc.enabled ? auth.oidc.issuer : undefined;
}

function publicUrl(
  { services: { public_url }, server: { host } }: Config,
  listening: Listening | undefined,
): string {
  // As a URL has it: what stands in headers then holds no character that they do not take.
  if (public_url !== undefined) return new URL(public_url).href.replace(/\/+$/, "");
  if (!listening) throw new Error("nothing is served yet");
  const scheme = listening.url.startsWith("https:") ? "https" : "http";
  return clientUrl(scheme, { host, port: listening.port });
}

interface Closed {
  readonly engine: Engine;
  readonly app: App;
  readonly access: Access | undefined;
  readonly refusals: RefusalLog;
  readonly reads: ReadLog | undefined;
}

async function close(
  { engine, app, access, refusals, reads }: Closed,
  setTimer: SetTimer,
): Promise<void> {
  if (engine.hasPeers) await leave(app, setTimer);
  await engine.close();
  await closeApp(app, setTimer);
  await access?.close();
  await refusals.close();
  await reads?.close();
}
