import { EngineError } from "@engine/contract";
import type { Command } from "commander";
import { credentialsOf } from "../../auth/stored-token.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { processPorts } from "../../io/process-ports.ts";
import { clientAt, onServer, type ServerCall } from "../../server-call.ts";

interface LoginOptions {
  readonly apiKey?: boolean;
  readonly issuer?: string;
  readonly clientId?: string;
  readonly browser: boolean;
}

export function addLogin(auth: Command, io: CliIo): void {
  const command = auth
    .command("login")
    .summary("Logs in to a server.")
    .description(
      "Logs in to a server: by its OpenID provider, with an address and a code to enter there, or with --api-key by a key that is read from standard input. No command takes a key as an argument, which others on the machine could read.",
    )
    .option("--api-key", "keep an API key, read from standard input")
    .option("--issuer <url>", "OpenID provider (default: that of the server)")
    .option("--client-id <id>", "what this command is called there (default: as the server says)")
    .option("--no-browser", "only print the address");
  onServer(io, command, async (server, options: LoginOptions) => {
    await (options.apiKey ? keepKey(io, server) : logIn(io, server, options));
    server.print({ logged_in: true, server: server.url }, () => `Logged in to ${server.url}.\n`);
  });
  examples(command, ["auth login", "auth login --api-key < admin-key", "auth login --no-browser"]);
}

export function addLogout(auth: Command, io: CliIo): void {
  const command = auth.command("logout").description("Forgets what you have logged in with.");
  onServer(io, command, async ({ url, print }) => {
    const wasLoggedIn = await credentialsOf(io).remove(url);
    const text = wasLoggedIn ? `Logged out of ${url}.\n` : `You were not logged in to ${url}.\n`;
    print({ logged_in: false, server: url }, () => text);
  });
  examples(command, ["auth logout"]);
}

/** Keeps a key once the server has said that it counts. */
async function keepKey(io: CliIo, { url }: ServerCall): Promise<void> {
  const api_key = (await io.readStdin()).trim();
  if (api_key === "") {
    throw new UsageError(
      "no key came on standard input; send it as in: auth login --api-key < file",
    );
  }
  await clientAt(url, api_key, io).auth.whoami();
  await credentialsOf(io).save(url, { kind: "api_key", api_key });
}

async function logIn(
  io: CliIo,
  { client, url }: ServerCall,
  { issuer, clientId, browser }: LoginOptions,
): Promise<void> {
  const { oidc } = await client.auth.config();
  const provider = issuer ?? oidc?.issuer;
  if (provider === undefined) {
    const message = `the server ${url} has no OpenID provider; log in with a key: auth login --api-key`;
    throw new EngineError("invalid_input", message);
  }
  // Loaded here only: other commands need nothing of it.
  const { deviceLogin } = await import("../../auth/device-login.ts");
  const { openBrowser } = await import("../../auth/open-browser.ts");
  await deviceLogin({
    server_url: url,
    issuer: provider,
    client_id: clientId ?? oidc?.client_id ?? "engine-cli",
    ...(oidc && { scopes: oidc.scopes }),
    credentials: credentialsOf(io),
    fetch,
    err: io.err,
    ...(browser && { openBrowser }),
    clock: io.now,
    setTimer: processPorts.setTimer,
  });
}
