import { randomUUID } from "node:crypto";
import {
  type Config,
  EngineError,
  SERVICE_NAME_PATTERN,
  SERVICE_NAME_RULE,
} from "@engine/contract";
import { loadConfig } from "@engine/local/config";
import type { Command } from "commander";
import { httpUrls, port, secondsOrZero, texts } from "../../arguments/option-values.ts";
import { tokenFor } from "../../auth/stored-token.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { createLog } from "../../io/log.ts";
import { counted } from "../../render/counted.ts";
import { serveUntilStopped } from "../../serve-until-stopped.ts";
import { formatOption, type ServerOptions } from "../../server-call.ts";

interface StartFlags extends Pick<ServerOptions, "format"> {
  readonly host?: string;
  readonly port?: number;
  readonly serverUrl?: string[];
  readonly cacheTtl?: number;
  readonly upstreamTimeout?: number;
  readonly allowOrigin?: string[];
}

/** `engine service start`: the process that serves one service by itself (GW-21). */
export function addStart(service: Command, io: CliIo): void {
  const command = service
    .command("start")
    .summary("Serves one service at an address of its own.")
    .description(
      "Serves one service at the root of an address of its own: POST /invoice instead of POST /services/billing/invoice. It passes requests on to the server, which decides; while that is away it answers 502 and recovers by itself.",
    )
    .argument("<name>", "name of the service")
    .option("--host <address>", "address to listen on (default: 0.0.0.0)")
    .option("--port <n>", "port to listen on; 0 = any free one, printed (default: 9000)", port)
    .option(
      "--server-url <url>",
      "server to pass requests on to; of several the next one is tried when one is away (default: ENGINE_SERVER_URL, engine.toml, http://127.0.0.1:8000)",
      httpUrls,
    )
    .option(
      "--cache-ttl <seconds>",
      "how long the list of endpoints is used before it is fetched again (default: 60)",
      secondsOrZero,
    )
    .option(
      "--upstream-timeout <seconds>",
      "how long the server may take to answer a sync call; 0 = for ever (default: 330)",
      secondsOrZero,
    )
    .option(
      "--allow-origin <origin>",
      "origin of web pages that may call it from a browser; may be repeated",
      texts,
    )
    .addOption(formatOption())
    .action((name: string, flags: StartFlags) => start(io, name, flags));
  examples(command, [
    "service start billing",
    "service start billing --port 9100 --server-url http://engine-1:8000 --server-url http://engine-2:8000",
    "service start billing --host 127.0.0.1 --allow-origin https://app.example.com",
  ]);
}

async function start(io: CliIo, name: string, flags: StartFlags): Promise<void> {
  if (!SERVICE_NAME_PATTERN.test(name)) {
    throw new UsageError(`the name of a service is ${SERVICE_NAME_RULE}`);
  }
  const { serverUrl } = flags;
  const config = configOf(io, flags);
  const serverUrls = serverUrl ?? [config.server_url];
  const { gateway: settings } = config;
  const log = await createLog(config.log_level, io);
  const { Gateway } = await import("@engine/gateway");
  const signals = io.stopSignals();
  const gateway = new Gateway({
    service: name,
    serverUrls,
    host: settings.host,
    port: settings.port,
    cacheTtl: settings.cache_ttl,
    upstreamTimeout: settings.upstream_timeout,
    allowOrigins: settings.allow_origins,
    // Until there are tools to serve.
    mcp: false,
    token: () => tokenFor(serverUrls[0] ?? "", io),
    log,
    ids: randomUUID,
  });
  const started = await gateway.start().catch(async (error: unknown) => {
    await gateway.close();
    throw error;
  });
  if (flags.format === "json") io.out.write(`${JSON.stringify(started)}\n`);
  else {
    const { service, url, server_url, endpoints } = started;
    const offered = counted(endpoints, "endpoint");
    io.out.write(`service ${service} on ${url}, server ${server_url}, ${offered}, MCP off\n`);
  }
  await serveUntilStopped({
    signals,
    ended: new Promise(() => {}),
    stop: () => gateway.drain(),
    abort: () => gateway.close(),
  });
}

/** A value that cannot work is wrong usage, wherever it was set. */
function configOf(io: CliIo, flags: StartFlags): Config {
  const gateway = {
    host: flags.host,
    port: flags.port,
    cache_ttl: flags.cacheTtl,
    upstream_timeout: flags.upstreamTimeout,
    allow_origins: flags.allowOrigin,
  };
  try {
    return loadConfig({ ...io, flags: { server_url: flags.serverUrl?.[0], gateway } }).config;
  } catch (error) {
    throw error instanceof EngineError ? new UsageError(error.message) : error;
  }
}
