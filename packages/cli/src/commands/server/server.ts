import type { Command } from "commander";
import type { CliIo } from "../../io/cli-io.ts";
import { addAdminKey } from "./admin-key.ts";
import { addBootstrapToken } from "./bootstrap-token.ts";
import { addJoinTokens } from "./join-tokens.ts";
import { addAudit } from "./server-audit.ts";

/** `engine server …`: what is done on the host of a server, beside it, and what its audit log says. */
export function addServer(program: Command, io: CliIo): void {
  const server = program
    .command("server")
    .description(
      "Administers a server: the key of its first admin, the tokens with which workers join, and the log of who changed what.",
    );
  addAdminKey(server, io);
  addBootstrapToken(server, io);
  addJoinTokens(server, io);
  addAudit(server, io);
}
