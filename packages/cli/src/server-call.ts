import { type Client, createClient } from "@engine/client";
import { EngineError } from "@engine/contract";
import { loadConfig } from "@engine/local/config";
import { type Command, Option } from "commander";
import { httpUrl } from "./arguments/option-values.ts";
import type { CliIo } from "./io/cli-io.ts";
import { type Paint, painter } from "./render/paint.ts";
import { shellQuote } from "./render/value-text.ts";

/** Options of every command that calls a server (EXE-95). */
export interface ServerOptions {
  readonly format: "simple" | "json";
  readonly serverUrl?: string;
}

export interface ServerCall {
  readonly client: Client;
  readonly url: string;
  readonly paint: Paint;
  /** Prints an answer: as it is with `--format json`, else as the view shows it. */
  print(answer: unknown, view: () => string): void;
}

export function serverOptions(command: Command): Command {
  return command
    .addOption(formatOption())
    .option(
      "--server-url <url>",
      "server to call (default: ENGINE_SERVER_URL, engine.toml, http://127.0.0.1:8000)",
      httpUrl,
    );
}

export function formatOption(): Option {
  return new Option("--format <format>", "how to print")
    .choices(["simple", "json"])
    .default("simple");
}

interface Named {
  readonly serverUrl?: string | undefined;
}

/** The server as it was named on the command line, for a command that goes on there. */
export function serverFlag({ serverUrl }: Named): string {
  return serverUrl ? ` --server-url ${shellQuote(serverUrl)}` : "";
}

/** Calls the configured server; what it refuses or cannot find comes with what helps. */
export async function callServer<T>(
  io: CliIo,
  { format, serverUrl }: ServerOptions,
  call: (server: ServerCall) => Promise<T>,
): Promise<T> {
  const flags = { server_url: serverUrl };
  const { config } = loadConfig({ cwd: io.cwd, env: io.env, flags });
  const url = config.server_url.replace(/\/+$/, "");
  const token = io.env["ENGINE_AUTH_TOKEN"];
  try {
    return await call({
      client: createClient({ baseUrl: url, ...(token && { token }) }),
      url,
      paint: painter(io.out, io.env),
      print: printer(io, format),
    });
  } catch (error) {
    if (isUnreached(error)) throw withAdvice(error);
    throw isElsewhere(error) ? ofNoEngine(error, url) : withWhereToLook(error, { serverUrl });
  }
}

export function printer(io: CliIo, format: ServerOptions["format"]): ServerCall["print"] {
  return (answer, view) =>
    io.out.write(format === "json" ? `${JSON.stringify(answer, null, 2)}\n` : view());
}

/** No answer came at all; a server that answers `unavailable` itself has no cause to show. */
function isUnreached(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code === "unavailable" && error.cause !== undefined;
}

function withAdvice(error: EngineError): EngineError {
  const [what] = error.message.split("; ");
  const advice = "start an engine with `npx engine dev`, or name another with --server-url";
  return new EngineError("unavailable", `${what}; ${advice}`, { cause: error.cause });
}

/** A server answers, but does not know the route: the address is not an engine's. */
function isElsewhere(error: unknown): error is EngineError {
  if (!(error instanceof EngineError)) return false;
  return error.code === "method_not_allowed" || error.details?.["resource"] === "route";
}

function ofNoEngine(error: EngineError, url: string): EngineError {
  const advice = `check the address ${url}, or whether that engine is older than this command`;
  return new EngineError(error.code, `${error.message}; ${advice}`, { cause: error });
}

/** What is not there may have another name: the list of all tells. */
function withWhereToLook(error: unknown, at: Named): unknown {
  if (!(error instanceof EngineError) || error.code !== "not_found") return error;
  const list = LISTS[String(error.details?.["resource"])];
  if (!list) return error;
  const advice = `see all of them with: npx engine ${list}${serverFlag(at)}`;
  return new EngineError("not_found", `${error.message}; ${advice}`, { cause: error });
}

const LISTS: Readonly<Record<string, string>> = {
  workflow: "workflow list",
  execution: "execution list",
  schedule: "schedule list",
};
