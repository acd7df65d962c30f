import { homedir } from "node:os";
import type { CliIo } from "../io/cli-io.ts";
import { processPorts } from "../io/process-ports.ts";
import { accessToken } from "./access-token.ts";
import { CredentialsFile } from "./credentials-file.ts";

/** What the user of a command has logged in with. */
export function credentialsOf({ env, now }: Pick<CliIo, "env" | "now">): CredentialsFile {
  const { setTimer } = processPorts;
  return new CredentialsFile({ home: env["HOME"] ?? homedir(), clock: now, setTimer });
}

/**
 * What a command sends to a server (AUTH-60): `ENGINE_AUTH_TOKEN`, else what the user has logged in
 * with there, else nothing.
 */
export async function tokenFor(
  server_url: string,
  io: Pick<CliIo, "env" | "now">,
): Promise<string | undefined> {
  const given = io.env["ENGINE_AUTH_TOKEN"];
  if (given) return given;
  const credentials = credentialsOf(io);
  return accessToken(server_url, { credentials, fetch, clock: io.now });
}
