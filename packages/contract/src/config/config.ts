import * as z from "zod";
import { parseResourceAmount, RESOURCE_AMOUNT } from "../definitions/resource-amount.ts";
import { Runner } from "../definitions/runner.ts";
import { VALUE_STORES } from "../values/stored-reference.ts";
import { DispatchMode, Labels, ServiceName } from "../workers/worker.ts";
import { count, seconds, table } from "./config-table.ts";
import { hooksTable } from "./hooks-config.ts";
import { METRICS_PROVIDER, parseMetricsProvider } from "./metrics-provider.ts";
import { securityTable } from "./security-config.ts";

const names = z.array(z.string().min(1)).default([]);
const hostName = z.string().regex(/^(?:\*|[\w.-]+)$/, {
  error: 'expected a host name without a port, as "engine.internal", or "*"',
});
const webOrigin = z
  .string()
  .regex(/^(?:\*|https?:\/\/(?:[a-z\d.-]+|\[[a-f\d:]+\])(?::\d{1,5})?)$/, {
    error:
      'expected an origin as browsers send it: scheme, host in lower case, and the port if it is not the usual one, as "https://app.example.com"',
  });
const amount = z
  .union([z.number(), z.string()], { error: `expected ${RESOURCE_AMOUNT}` })
  .refine((value) => parseResourceAmount(value) !== undefined, {
    error: ({ input }) => `expected ${RESOURCE_AMOUNT}; got ${JSON.stringify(input)}`,
  });

/**
 * Every configuration key that takes effect, with its default (EXE-97, workers section 16). Units
 * are seconds unless the name says otherwise. `docs/configuration.md` is printed from here.
 */
export const Config = z.strictObject({
  home: z.string().min(1).default(".engine").describe("Folder of the engine's own files."),
  database_url: z
    .string()
    .optional()
    .describe(
      "`sqlite:<path>`, or `postgres://user:password@host:port/database` for any number of servers; by default `sqlite:<home>/engine.db`.",
    ),
  server_url: z.url().default("http://127.0.0.1:8000").describe("Where clients find the server."),
  log_level: z
    .enum(["trace", "debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("Least severe log line that is printed."),
  server: table({
    host: z.string().default("127.0.0.1").describe("Address the server listens on."),
    port: z.int().min(0).max(65535).default(8000).describe("0 = any free port, printed."),
    allowed_hosts: z
      .array(hostName)
      .default([])
      .describe(
        "Names by which the server is reached, besides localhost and addresses; a request with another `Host` is refused. `*` allows any.",
      ),
    cors_allow_origins: z
      .array(webOrigin)
      .default([])
      .describe(
        "Origins of web pages that may use the server from a browser, as `https://app.example.com`; its own pages always may. `*` allows any, with authorization on.",
      ),
    trusted_proxies: z
      .array(z.string().min(1))
      .default([])
      .describe(
        "Networks of proxies, as `10.0.0.0/8`, whose `X-Forwarded-For` is believed; without any the header is ignored.",
      ),
    tls: table({
      cert_file: z.string().min(1).optional().describe("Certificate chain, PEM; with `key_file`."),
      key_file: z.string().min(1).optional().describe("Its private key, PEM."),
      min_version: z.enum(["1.2", "1.3"]).default("1.2").describe("Oldest TLS that is spoken."),
      client_ca_file: z
        .string()
        .min(1)
        .optional()
        .describe("Authorities of client certificates, PEM."),
      require_client_cert: z
        .boolean()
        .default(false)
        .describe("Whether clients need a certificate of those authorities."),
    }),
  }),
  security: securityTable,
  services: table({
    mcp_sync_timeout: z
      .number()
      .positive()
      .default(50)
      .describe(
        "How long a tool call waits for its execution; then the answer is its id. Callers that are told of progress wait as long as `executions.sync_timeout`.",
      ),
    public_url: z
      .url({ protocol: /^https?$/, error: "expected an absolute http or https URL" })
      // Paths come behind it, and it stands in headers and documents that anybody may read.
      .refine((text) => !/[?#]|\/\/[^/]*@/.test(text), {
        error: "expected a URL without query, fragment, user and password",
      })
      .optional()
      .describe(
        "Where clients of MCP reach the server, as `https://engine.example.com`; by default its own address.",
      ),
  }),
  gateway: table({
    host: z.string().default("0.0.0.0").describe("Address `engine service start` listens on."),
    port: z.int().min(0).max(65535).default(9000).describe("0 = any free port, printed."),
    cache_ttl: seconds(60).describe(
      "How long the list of endpoints is used before it is fetched again; 0 = for each request.",
    ),
    upstream_timeout: seconds(330).describe(
      "How long the server may take to answer a sync call; 0 = for ever.",
    ),
    allow_origins: z
      .array(webOrigin)
      .default([])
      .describe(
        "Origins of web pages that may call it from a browser, besides those of this machine.",
      ),
    mcp: z
      .boolean()
      .optional()
      .describe("Whether it offers the workflows as MCP tools; by default as the service says."),
    mcp_issuer: z
      .string()
      .optional()
      .describe(
        "Issuer of the tokens that `/mcp` takes: https, or http on this machine. By default that of `[engine.security.auth.oidc]` where it is enabled, with its other keys; without one tokens are left to the server.",
      ),
    mcp_audience: z
      .string()
      .optional()
      .describe("What `aud` of those tokens has to contain; not looked at without one."),
    mcp_jwks_uri: z
      .string()
      .optional()
      .describe("Where the issuer's keys are; by default as its discovery document says."),
    mcp_base_url: z
      .string()
      .optional()
      .describe(
        "Where MCP clients find it, as `https://tools.example.com/billing`; by default its own host and port.",
      ),
    mcp_max_sessions: count(1000, 1).describe(
      "MCP sessions at a time; one more ends the one that was idle longest.",
    ),
    mcp_session_ttl: z
      .number()
      .positive()
      .default(3600)
      .describe("How long an MCP session may be idle before it ends."),
  }),
  store: table({
    synchronous: z
      .enum(["full", "normal"])
      .default("full")
      .describe(
        "SQLite: `full` survives power loss; `normal` is faster and may lose the last commits on power loss, never on a crash.",
      ),
  }),
  executions: table({
    sync_timeout: seconds(300).describe("Longest wait of a sync call; 0 = none."),
    inline_wait: seconds(1).describe(
      "Sleeps and retry delays up to this keep their slot; longer ones give it back.",
    ),
    sibling_grace: seconds(2).describe("Time that siblings of a failed branch get to settle."),
    rollback_timeout: seconds(10).describe("For each rollback after a cancel."),
    cancel_timeout: seconds(300).describe(
      "For a worker to unwind a cancelled execution; then it ends without.",
    ),
    max_depth: count(20, 1).describe("Nesting of executions by `call`."),
    max_events: count(100_000, 100).describe(
      "Log length at which an execution fails, and takes no more signals.",
    ),
    max_kept_signals: count(10_000, 1).describe(
      "Signals that an execution keeps until a call takes them.",
    ),
    max_kept_signal_bytes: count(67_108_864, 1024).describe("Length of their payloads in all."),
    inline_value_bytes: count(262_144, 1024).describe(
      "Larger values are kept in the storage below rather than in the log.",
    ),
    max_value_bytes: count(16_777_216, 1024).describe("Largest single value."),
  }),
  storage: table({
    type: z
      .enum(VALUE_STORES)
      .default("file")
      .describe("Where values over `inline_value_bytes` are kept."),
    path: z.string().min(1).optional().describe("Folder; by default `<home>/values`."),
    bucket: z.string().min(1).optional().describe("S3: the bucket."),
    prefix: z.string().default("").describe("S3: what every key begins with."),
    endpoint: z.url().optional().describe("S3: of a compatible service."),
    region: z.string().optional().describe("S3: the bucket's region."),
  }),
  workers: table({
    slots: count(64).describe("Executions at a time per worker; 0 = unlimited."),
    runners: z
      .array(Runner)
      .min(1)
      .default(["thread", "process"])
      .describe("Ways to run user code."),
    default_runner: Runner.default("thread").describe("For workflows that name no runner."),
    threads: count(0).describe("Runner threads; 0 = min(4, cores)."),
    thread_memory_mb: count(512, 16).describe("Memory of the objects of a runner thread, in MiB."),
    process_memory_mb: count(512, 16).describe(
      "Memory of the objects of a runner process, in MiB; a workflow may ask for less.",
    ),
    process_spares: count(1).describe("Runner processes that are kept ready."),
    kill_grace: seconds(10).describe("For a runner process to end, before it is killed."),
    env_allow: names.describe(
      "Environment variables that runner processes get besides `PATH HOME LANG LC_* TZ TMPDIR`.",
    ),
    env_deny: names.describe("Environment variables that no runner gets."),
    cancel_grace: seconds(30).describe(
      "For code of a cancelled execution to end, after its rollbacks; then it is abandoned.",
    ),
    stall_warn: seconds(5, 1).describe(
      "Without an answer of a runner, before the log names the execution that blocks it.",
    ),
    stuck_after: seconds(30, 1).describe(
      "Without an answer of a runner, before it is ended and its executions go elsewhere.",
    ),
    loop_lag_threshold: seconds(1, 0.01).describe(
      "Delay of the worker's main loop, three times in a row, at which it gets no new work.",
    ),
    labels: Labels.default({}).describe("What this worker can do."),
    resources: table({
      cpu: z
        .number()
        .nonnegative()
        .optional()
        .describe("Cores it counts as having, in place of what the machine says."),
      memory: amount.optional().describe("The same of memory: bytes, or text such as `16GiB`."),
      disk: amount.optional().describe("The same of disk space."),
      gpu: z.int().nonnegative().optional().describe("The same of GPUs: how many."),
    }),
    services: z
      .record(ServiceName, z.string().min(1))
      .default({})
      .describe(
        "Local sockets that it offers to task code, path by name; `serviceSocket()` gives those that are granted to it.",
      ),
    packages: z
      .array(z.string().min(1))
      .default([])
      .describe("Packages it has, as `name@version`, besides those it can resolve."),
    metrics_provider: z
      .string()
      .refine((text) => text === "" || parseMetricsProvider(text) !== undefined, {
        error: `expected ${METRICS_PROVIDER}`,
      })
      .default("")
      .describe(
        "Module and export that gives metrics of your own, as `./metrics.ts#collect`: a record of numbers, or a promise of one. Empty = none.",
      ),
    metrics_interval: seconds(10, 1).describe("Between two calls of it."),
    builtin_metrics: z
      .boolean()
      .default(true)
      .describe("Whether it tells the engine's own metrics, `engine.…`, with each heartbeat."),
    heartbeat_interval: seconds(10, 1).describe("Between two heartbeats."),
    disconnect_grace: seconds(1).describe("After a stream closed, before its executions move on."),
    claim_timeout: seconds(10, 1).describe(
      "For a worker to list what was assigned to it; then it goes back to the queue.",
    ),
    max_crashes: count(5, 1).describe(
      "Losses in a row, without an outcome in between, at which an execution fails.",
    ),
    park_ttl: seconds(0).describe(
      "How long an execution may wait for a worker; then it fails. 0 = for ever.",
    ),
    offline_retention: seconds(604_800).describe(
      "After which a name that nobody uses is forgotten.",
    ),
    silence_timeout: seconds(30, 2).describe("Without any request, before a worker is lost."),
    bootstrap_token: z
      .string()
      .trim()
      .refine((text) => text === "" || text.length >= 32, {
        error: "expected at least 32 characters",
      })
      .optional()
      .describe(
        "Secret with which workers join, at least 32 characters; by default the server makes one and keeps it in `<home>/bootstrap-token`.",
      ),
    bootstrap_token_file: z
      .string()
      .min(1)
      .optional()
      .describe("File that a worker reads the bootstrap token from."),
    bootstrap_token_enabled: z
      .boolean()
      .default(true)
      .describe("Whether workers may join with it; false leaves join tokens."),
    join_token: z
      .string()
      .min(1)
      .optional()
      .describe("Single-use token with which this worker joins; best set in the environment."),
    join_token_file: z
      .string()
      .min(1)
      .optional()
      .describe("File that a worker reads its join token from."),
    join_token_ttl: seconds(3600, 60).describe("Life of a join token unless it is given one."),
    join_token_retention: seconds(86_400).describe(
      "After which expired join tokens are forgotten.",
    ),
    credential_ttl: seconds(86_400, 60).describe(
      "Life of a worker's credential; it renews it at two thirds.",
    ),
    credential_renew_window: seconds(604_800).describe(
      "After its end, in which a credential can still be renewed.",
    ),
    drain_timeout: seconds(60).describe("For running work when a worker stops."),
    checkpoint_lanes: count(1, 1).describe("Checkpoint requests in flight at a time."),
    module_cache_size: count(64, 1).describe("Bundles kept loaded."),
    warm_executions: count(256).describe(
      "Waiting executions kept in memory, so that they go on without a replay.",
    ),
  }),
  retention: table({
    enabled: z.boolean().default(true).describe("Whether what ended long ago is removed."),
    retention_days: z
      .number()
      .positive()
      .default(30)
      .describe("Days an execution is kept after its end."),
    sweep_interval: seconds(3600, 1).describe("Between two looks for what is to be removed."),
    batch_size: count(500, 1).describe("Executions removed at a time."),
    audit_days: count(365).describe("Days the audit log is kept; 0 = for ever."),
  }),
  dispatch: table({
    mode: DispatchMode.default("event").describe(
      "How workers get their work unless they choose: `event` pushes it down a stream, `poll` answers their requests.",
    ),
    batch_size: count(64, 1).describe("Claims in one transaction."),
    fairness: z
      .enum(["none", "namespace"])
      .default("none")
      .describe(
        "Who takes turns among executions of one priority whose workflows declare no `fairness`: nobody, or namespaces.",
      ),
    safety_interval: seconds(15, 1).describe("Between two looks for work that a wake-up missed."),
  }),
  scheduling: table({
    poll_interval: seconds(30, 1).describe(
      "Between two looks for schedules that were changed without this server hearing of it.",
    ),
    auto_schedule_enabled: z
      .boolean()
      .default(true)
      .describe("Registering a workflow makes the schedule it declares; false leaves them alone."),
  }),
  hooks: hooksTable,
});
export type Config = z.infer<typeof Config>;

/** Where the data lives when `database_url` is not set. */
export function databaseUrl(config: Config): string {
  return config.database_url ?? `sqlite:${config.home}/engine.db`;
}
