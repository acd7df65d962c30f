import { randomUUID } from "node:crypto";
import { SERVICE_NAME_PATTERN, SERVICE_NAME_RULE } from "@engine/contract";
import type { GatewayStarted } from "@engine/gateway";
import type { Command } from "commander";
import { mcpSwitch } from "../../arguments/mcp-switch.ts";
import {
  httpUrls,
  port,
  seconds,
  secondsOrZero,
  texts,
  wholeNumber,
} from "../../arguments/option-values.ts";
import { tokenFor } from "../../auth/stored-token.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { createLog } from "../../io/log.ts";
import { productVersion } from "../../product-version.ts";
import { counted } from "../../render/counted.ts";
import { serveUntilStopped } from "../../serve-until-stopped.ts";
import { formatOption, type ServerOptions } from "../../server-call.ts";
import {
  type GatewayFlags,
  gatewayConfig,
  gatewaySettings,
  refuseProblems,
} from "./gateway-settings.ts";

type StartFlags = GatewayFlags & Pick<ServerOptions, "format">;

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
    );
  const mcp = mcpSwitch(command, {
    on: "offers its workflows as MCP tools at /mcp, whatever the service says",
    off: "offers no MCP tools, whatever the service says",
  });
  command
    .option(
      "--mcp-issuer <url>",
      "issuer of the tokens that /mcp takes; https, or http on this machine (default: that of [engine.security.auth.oidc] where it is enabled)",
    )
    .option(
      "--mcp-audience <text>",
      "what `aud` of those tokens has to contain; not looked at without one",
    )
    .option(
      "--mcp-jwks-uri <url>",
      "where the issuer's keys are (default: as its discovery document says)",
    )
    .option(
      "--mcp-base-url <url>",
      "where MCP clients find this process, such as https://tools.example.com/billing (default: its host and port)",
    )
    .option(
      "--mcp-max-sessions <n>",
      "MCP sessions at a time; one more ends the one that was idle longest (default: 1000)",
      wholeNumber(1),
    )
    .option(
      "--mcp-session-ttl <seconds>",
      "how long an MCP session may be idle before it ends (default: 3600)",
      seconds,
    )
    .addOption(formatOption())
    .action((name: string, flags: StartFlags) => start(io, name, { ...flags, mcp: mcp() }));
  examples(command, [
    "service start billing",
    "service start billing --port 9100 --server-url http://engine-1:8000 --server-url http://engine-2:8000",
    "service start billing --host 127.0.0.1 --allow-origin https://app.example.com",
    "service start billing --mcp --mcp-issuer https://id.example.com --mcp-audience engine --mcp-base-url https://tools.example.com",
  ]);
}

async function start(io: CliIo, name: string, flags: StartFlags): Promise<void> {
  if (!SERVICE_NAME_PATTERN.test(name)) {
    throw new UsageError(`the name of a service is ${SERVICE_NAME_RULE}`);
  }
  const config = gatewayConfig(io, flags);
  const settings = gatewaySettings(config);
  const serverUrls = flags.serverUrl ?? [config.server_url];
  const log = await createLog(config.log_level, io);
  const { Gateway, settingProblems } = await import("@engine/gateway");
  const { outputIssues } = await import("@engine/server/output-check");
  refuseProblems(settingProblems(settings), flags);
  const signals = io.stopSignals();
  const gateway = new Gateway({
    ...settings,
    service: name,
    serverUrls,
    token: () => tokenFor(serverUrls[0] ?? "", io),
    log,
    ids: randomUUID,
    tools: {
      version: productVersion(),
      limits: {
        mcp_sync_timeout: config.services.mcp_sync_timeout,
        sync_timeout: config.executions.sync_timeout,
      },
      maxValueBytes: config.executions.max_value_bytes,
      checkOutput: outputIssues,
      newSessionId: randomUUID,
    },
  });
  const started = await gateway.start().catch(async (error: unknown) => {
    await gateway.close();
    throw error;
  });
  const line = flags.format === "json" ? JSON.stringify(started) : startedLine(started);
  io.out.write(`${line}\n`);
  await serveUntilStopped({
    signals,
    ended: new Promise(() => {}),
    stop: () => gateway.drain(),
    abort: () => gateway.close(),
  });
}

function startedLine(started: GatewayStarted): string {
  const { service, url, server_url, endpoints, mcp_url, mcp_issuer } = started;
  const issuer = mcp_issuer === null ? "" : `, tokens of ${mcp_issuer}`;
  const mcp = mcp_url === null ? "MCP off" : `MCP on ${mcp_url}${issuer}`;
  const offered = counted(endpoints, "endpoint");
  return `service ${service} on ${url}, server ${server_url}, ${offered}, ${mcp}`;
}
