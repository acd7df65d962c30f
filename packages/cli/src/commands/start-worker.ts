import { randomBytes } from "node:crypto";
import {
  type DispatchMode,
  EngineError,
  Labels,
  type Runner,
  WorkerRegistration,
} from "@engine/contract";
import { loadConfig } from "@engine/local/config";
import type { Command } from "commander";
import {
  dispatchMode,
  httpUrls,
  label,
  pairs,
  runner,
  secondsOrZero,
  wholeNumber,
} from "../arguments/option-values.ts";
import { examples } from "../examples.ts";
import { UsageError } from "../io/cli-error.ts";
import type { CliIo } from "../io/cli-io.ts";
import { createLog } from "../io/log.ts";
import { processPorts } from "../io/process-ports.ts";
import { serveUntilStopped } from "../serve-until-stopped.ts";

interface WorkerFlags {
  readonly label?: Record<string, string>;
  readonly service?: Record<string, string>;
  readonly slots?: number;
  readonly runner?: Runner[];
  readonly dispatch?: DispatchMode;
  readonly drainTimeout?: number;
  readonly serverUrl?: string[];
}

export function addStartWorker(start: Command, io: CliIo): void {
  const command = start
    .command("worker")
    .summary("Starts a worker, which runs executions.")
    .description(
      "Starts a worker: it connects to the server, runs executions and reports what they do. While the server is away it keeps trying.",
    )
    .argument("[name]", "unique name (default: worker-<6 hex digits>)")
    .option("--label <key=value>", "what this worker can do; may be repeated", label)
    .option(
      "--service <name=path>",
      "a local socket that it offers to task code, once an operator grants it; may be repeated",
      pairs("NAME=PATH"),
    )
    .option("--slots <n>", "executions at a time; 0 = unlimited", wholeNumber(0))
    .option(
      "--runner <runner>",
      "how it can run workflows: thread, process or inline; may be repeated, the first is the default",
      runner,
    )
    .option(
      "--dispatch <mode>",
      "how it gets work: event (a stream) or poll, for networks that break streams (default: as the server likes)",
      dispatchMode,
    )
    .option(
      "--drain-timeout <seconds>",
      "how long running work may take to end when it stops; 0 gives it back at once",
      secondsOrZero,
    )
    .option(
      "--server-url <url>",
      "server to connect to; of several the next one is tried when one is away (default: ENGINE_SERVER_URL, engine.toml, http://127.0.0.1:8000)",
      httpUrls,
    )
    .action((name: string | undefined, flags: WorkerFlags) =>
      startWorkerCommand(io, name, flags).catch(refuse),
    );
  examples(command, [
    "start worker",
    "start worker gpu-1 --label gpu=a100 --label zone=eu --slots 4",
    "start worker gpu-1 --service inference=/run/inference.sock",
    "start worker --runner process --drain-timeout 300",
    "start worker --server-url http://engine-1:8000 --server-url http://engine-2:8000",
    "start worker --dispatch poll --server-url https://engine.example.com",
  ]);
}

/** What the engine itself objects to is a configuration that cannot work (WRK-5). */
function refuse(error: unknown): never {
  if (error instanceof EngineError) throw new UsageError(error.message);
  throw error;
}

async function startWorkerCommand(
  io: CliIo,
  given: string | undefined,
  flags: WorkerFlags,
): Promise<void> {
  const name = given ?? `worker-${randomBytes(3).toString("hex")}`;
  // Whoever lists processes sees arguments, and the text is not repeated here.
  if (/^engine_[a-z]{2}_/.test(name)) {
    throw new UsageError(
      "a token is never an argument: give it as ENGINE_WORKERS__JOIN_TOKEN or in a file as engine.workers.join_token_file",
    );
  }
  const isName = WorkerRegistration.shape.name.safeParse(name);
  if (!isName.success)
    throw new UsageError(`worker name "${name}" ${isName.error.issues[0]?.message}`);
  const config = workerConfig(io, flags);
  const baseUrl = flags.serverUrl ?? [config.server_url];
  const log = await createLog(config.log_level, io);
  const { httpLink, OwnCredential, startWorker } = await import("@engine/worker");
  const signals = io.stopSignals();
  const refused = Promise.withResolvers<void>();
  // Listened to once the worker has started; until then a refusal must not count as unhandled.
  refused.promise.catch(() => {});

  const worker = await startWorker({
    name,
    link: httpLink({
      baseUrl,
      credential: new OwnCredential({ name, home: config.home, config: config.workers, log }),
      warn: (message) => log.warn(message),
    }),
    config: { ...config.workers, home: config.home },
    log,
    ...(flags.dispatch && { dispatch: flags.dispatch }),
    ...processPorts,
    exit: (code, message) =>
      refused.reject(code === 2 ? new UsageError(message) : new Error(message)),
  });
  let isStopping = false;
  void worker.connected.then(() => {
    // A worker that is stopped before it has reached a server waits for none any more.
    if (!isStopping) log.info({ worker: name, server: baseUrl.join(", ") }, "connected");
  });
  await serveUntilStopped({
    signals,
    // A worker that is not wanted says so through `exit`; a drained worker just ends.
    ended: Promise.race([refused.promise, worker.stopped]),
    stop: () => {
      isStopping = true;
      return worker.stop();
    },
    abort: () => worker.stop({ abort: true }),
  });
  log.info({ worker: name }, "stopped");
}

/** WRK-5: labels of the configuration, the environment and the flags, later ones winning. */
function workerConfig(io: CliIo, flags: WorkerFlags) {
  if (flags.label) checkLabels(flags.label);
  const { slots, runner: runners, drainTimeout, serverUrl } = flags;
  const { config } = loadConfig({
    ...io,
    flags: {
      server_url: serverUrl?.[0],
      workers: {
        slots,
        runners,
        default_runner: runners?.[0],
        drain_timeout: drainTimeout,
        labels: flags.label,
        services: flags.service,
      },
    },
  });
  checkLabels(config.workers.labels);
  return config;
}

function checkLabels(labels: Record<string, string>): void {
  const reserved = Object.keys(labels).find((key) => key.startsWith("engine."));
  if (reserved) {
    throw new UsageError(
      `label ${reserved}: keys beginning "engine." belong to the engine; choose another`,
    );
  }
  const parsed = Labels.safeParse(labels);
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  throw new UsageError(`label ${issue?.path.join(".")}: ${issue?.message}`);
}
