import type { Command } from "commander";
import type { CliIo } from "../../io/cli-io.ts";
import { addBootstrapToken } from "./bootstrap-token.ts";
import { addJoinTokens } from "./join-tokens.ts";

/** `engine server …`: what is done on the host of a server, beside it. */
export function addServer(program: Command, io: CliIo): void {
  const server = program
    .command("server")
    .description("Makes and revokes the tokens with which workers join.");
  addBootstrapToken(server, io);
  addJoinTokens(server, io);
}
