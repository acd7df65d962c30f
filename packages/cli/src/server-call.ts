import { type Client, createClient } from "@engine/client";
import { EngineError } from "@engine/contract";
import { loadConfig } from "@engine/local/config";
import { type Command, Option } from "commander";
import { httpUrl } from "./arguments/option-values.ts";
import { tokenFor } from "./auth/stored-token.ts";
import type { CliIo } from "./io/cli-io.ts";
import { type Screen, screenOf } from "./render/paint.ts";
import { shellQuote } from "./render/value-text.ts";
import { withAdvice } from "./with-advice.ts";

/** Options of every command that calls a server (EXE-95). */
export interface ServerOptions {
  readonly format: "simple" | "json";
  readonly serverUrl?: string;
}

export interface ServerCall {
  readonly client: Client;
  readonly url: string;
  /** Prints an answer: as it is with `--format json`, else as the view shows it. */
  print<Answer>(answer: Answer, view: (answer: Answer, screen: Screen) => string): void;
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

/** The server as it was named on the command line, for a command that goes on there. */
export function serverFlag({ serverUrl }: Pick<ServerOptions, "serverUrl">): string {
  return serverUrl ? ` --server-url ${shellQuote(serverUrl)}` : "";
}

/** Gives a command the options of a server, and has it work on the server that they name. */
export function onServer<Given extends unknown[]>(
  io: CliIo,
  command: Command,
  work: (server: ServerCall, ...given: Given) => Promise<void>,
): void {
  serverOptions(command).action(async (...passed: unknown[]) => {
    // Commander passes the arguments, the options, and the command itself.
    const given = passed.slice(0, -1) as Given;
    await callServer(io, given.at(-1) as ServerOptions, (server) => work(server, ...given));
  });
}

/** Calls the configured server; what it refuses or cannot find comes with what helps. */
export async function callServer<T>(
  io: CliIo,
  options: ServerOptions,
  call: (server: ServerCall) => Promise<T>,
): Promise<T> {
  const { config } = loadConfig({ ...io, flags: { server_url: options.serverUrl } });
  const url = config.server_url.replace(/\/+$/, "");
  const token = await tokenFor(url, io);
  try {
    return await call({
      client: clientAt(url, token, io),
      url,
      print: printer(io, options.format),
    });
  } catch (error) {
    throw error instanceof EngineError
      ? withAdvice(error, { url, flag: serverFlag(options), env: io.env })
      : error;
  }
}

/** A client that says on standard error what is wrong with the way to its server. */
export function clientAt(
  baseUrl: string,
  token: string | undefined,
  { err }: Pick<CliIo, "err">,
): Client {
  const warn = (message: string) => err.write(`warning: ${message}\n`);
  return createClient({ baseUrl, warn, ...(token !== undefined && { token }) });
}

export function printer(io: CliIo, format: ServerOptions["format"]): ServerCall["print"] {
  return (answer, view) => {
    const isJson = format === "json";
    io.out.write(isJson ? `${JSON.stringify(answer, null, 2)}\n` : view(answer, screenOf(io)));
  };
}
