import { EngineError } from "@engine/contract";
import type { Command } from "commander";
import { neverAnArgument, readHidden, stdinOption } from "../../arguments/hidden-value.ts";
import { credentialsOf } from "../../auth/stored-token.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { processPorts } from "../../io/process-ports.ts";
import { clientAt, onServer, type ServerCall } from "../../server-call.ts";

interface LoginOptions {
  readonly apiKey?: boolean;
  readonly stdin?: boolean;
  readonly issuer?: string;
  readonly clientId?: string;
  readonly browser: boolean;
}

export function addLogin(auth: Command, io: CliIo): void {
  const command = auth
    .command("login")
    .summary("Logs in to a server.")
    .description(
      "Logs in to a server: by its OpenID provider, with an address and a code to enter there, or with --api-key by a key that is asked for and not shown. No command takes a key as an argument, which others on the machine could read.",
    )
    .option("--api-key", "log in by an API key: from a prompt, or from standard input")
    .option("--issuer <url>", "OpenID provider (default: that of the server)")
    .option("--client-id <id>", "what this command is called there (default: as the server says)")
    .option("--no-browser", "only print the address");
  stdinOption(command);
  neverAnArgument(command, "key", "it is asked for, or comes on standard input: < FILE");
  onServer(io, command, async (server, options: LoginOptions) => {
    if (options.stdin && !options.apiKey) throw new UsageError("--stdin belongs to --api-key");
    await (options.apiKey ? keepKey(io, server, options) : logIn(io, server, options));
    server.print({ logged_in: true, server: server.url }, () => `Logged in to ${server.url}.\n`);
  });
  examples(command, [
    "auth login",
    "auth login --no-browser",
    "auth login --api-key",
    "auth login --api-key --stdin < .engine/admin-key",
  ]);
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
async function keepKey(io: CliIo, { url }: ServerCall, { stdin }: LoginOptions): Promise<void> {
  const api_key = (await readHidden(io, { what: "API key", stdin })).trim();
  try {
    const { auth_enabled } = await clientAt(url, api_key, io).auth.whoami();
    if (!auth_enabled) {
      io.err.write("note: that server asks nobody who they are, so the key was not tried\n");
    }
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "unauthenticated") throw error;
    // Where a key is refused, the advice to log in would not help.
    throw new EngineError("invalid_input", `${url} does not let this key in: ${error.message}`);
  }
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
