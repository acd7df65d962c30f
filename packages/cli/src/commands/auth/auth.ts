import type { Command } from "commander";
import type { CliIo } from "../../io/cli-io.ts";
import { addLogin, addLogout } from "./auth-login.ts";
import { addPermissions } from "./auth-permissions.ts";
import { addTestToken } from "./auth-test-token.ts";
import { addCheck, addStatus, addWhoami } from "./auth-whoami.ts";

export function addAuth(program: Command, io: CliIo): void {
  const auth = program
    .command("auth")
    .summary("Logs in to a server, and says who you are there.")
    .description(
      "Logs in to a server, and says who you are there. Every command that calls a server sends ENGINE_AUTH_TOKEN where that is set, else what you have logged in with.",
    );
  addLogin(auth, io);
  addLogout(auth, io);
  addStatus(auth, io);
  addWhoami(auth, io);
  addCheck(auth, io);
  addPermissions(auth, io);
  addTestToken(auth, io);
}
