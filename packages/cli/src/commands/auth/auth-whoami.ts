import { formatInstant } from "@engine/contract";
import type { Command } from "commander";
import { credentialsOf } from "../../auth/stored-token.ts";
import { examples } from "../../examples.ts";
import { Reported } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { lines } from "../../render/table.ts";
import { onServer } from "../../server-call.ts";
import { heldLine } from "./held-line.ts";

export function addStatus(auth: Command, io: CliIo): void {
  const command = auth
    .command("status")
    .description("Says what commands send to the server, without asking it.");
  onServer(io, command, async ({ url, print }) => {
    const status = { server: url, ...(await loginTo(url, io)) };
    const { auth_method, issuer, expires_at } = status;
    const how = issuer === null ? auth_method : `${auth_method} of ${issuer}`;
    const end = expires_at === null ? "" : `, until ${expires_at}`;
    print(status, () =>
      status.logged_in ? `Logged in to ${url} by ${how}${end}.\n` : `Not logged in to ${url}.\n`,
    );
  });
  examples(command, ["auth status", "auth status --format json"]);
}

export function addWhoami(auth: Command, io: CliIo): void {
  const command = auth.command("whoami").description("Asks the server who you are there.");
  onServer(io, command, async ({ client, print }) => {
    print(await client.auth.whoami(), ({ subject, type, roles, permissions }) => {
      const held = permissions.map((permission) => `  ${permission}\n`).join("");
      const known = type === null ? "" : ` (${type}${roles.length ? `, ${roles.join(", ")}` : ""})`;
      return `${subject}${known} may\n${held}`;
    });
  });
  examples(command, ["auth whoami", "auth whoami --format json"]);
}

export function addCheck(auth: Command, io: CliIo): void {
  const command = auth
    .command("check")
    .summary("Says whether you hold permissions.")
    .description("Says of each permission whether you hold it; exits 1 unless all are held.")
    .argument("<permission...>", "as workflow:shop:refund:run");
  onServer(io, command, async ({ client, print }, permissions: string[]) => {
    const answer = await client.auth.check({ body: { permissions } });
    const held = Object.entries(answer.allowed);
    print(answer, () => lines(held.map(([name, is]) => heldLine(name, is))));
    if (held.some(([, is]) => !is)) throw new Reported();
  });
  examples(command, ["auth check workflow:shop:refund:run"]);
}

async function loginTo(url: string, io: CliIo) {
  const nothing = { issuer: null, client_id: null, expires_at: null };
  if (io.env["ENGINE_AUTH_TOKEN"]) {
    return { logged_in: true, auth_method: "env_token", ...nothing };
  }
  const known = await credentialsOf(io).read(url);
  if (known === undefined) return { logged_in: false, auth_method: "none", ...nothing };
  if (known.kind === "api_key") return { logged_in: true, auth_method: "api_key", ...nothing };
  const { issuer, client_id } = known;
  const expires_at = known.expires_at === null ? null : formatInstant(known.expires_at);
  return { logged_in: true, auth_method: "oidc", issuer, client_id, expires_at };
}
