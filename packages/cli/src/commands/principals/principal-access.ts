/** The commands that say what a principal may do, and whether it may come in. */
import type { Command } from "commander";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { principalView } from "../../render/principal-view.ts";
import { lines } from "../../render/table.ts";
import { another, onPrincipal, type PrincipalOptions, readable } from "./on-principal.ts";

interface RoleOptions extends PrincipalOptions {
  readonly role: string;
}

export function addGrant(principals: Command, io: CliIo): void {
  const command = principals
    .command("grant")
    .description("Gives a user or a service account a role, which gives no more than you hold.")
    .requiredOption("--role <role>", "name of the role");
  onPrincipal(io, command, async ({ client, print }, named, { role }: RoleOptions) =>
    print(await client.principals.grantRole({ ...named, body: { role } }), principalView),
  );
  examples(command, ["principals grant reports --role viewer"]);
}

export function addRevoke(principals: Command, io: CliIo): void {
  const command = principals
    .command("revoke")
    .description("Takes a role from a user or a service account, at once.")
    .requiredOption("--role <role>", "name of the role");
  onPrincipal(io, command, async (server, named, { role }: RoleOptions) => {
    const { subject } = named.params;
    const before = await readable(server, named);
    await server.client.principals.revokeRole({ ...named, params: { subject, role } });
    const after = await readable(server, named);
    // Somebody who takes a role away believes that it was there, and is gone.
    if (before && !before.roles.includes(role)) {
      const has = before.roles.length === 0 ? "no role" : before.roles.join(", ");
      server.print({ subject, role }, () => lines([`${subject} did not have role ${role}.`]));
      io.err.write(lines([`note: ${subject} has ${has}`]));
      return;
    }
    server.print({ subject, role }, () => lines([`Took role ${role} from ${subject}.`]));
    if (after?.roles.includes(role)) {
      io.err.write(
        lines([`note: ${subject} still has it, by the claims of its login at the provider`]),
      );
    }
  });
  examples(command, ["principals revoke reports --role viewer"]);
}

export function addEnable(principals: Command, io: CliIo): void {
  const command = principals
    .command("enable")
    .description("Lets a principal in again. One that is banned has to be unbanned first.");
  onPrincipal(io, command, async ({ client, print }, named) =>
    print(await client.principals.enable(named), principalView),
  );
  examples(command, ["principals enable reports"]);
}

export function addDisable(principals: Command, io: CliIo): void {
  const command = principals
    .command("disable")
    .summary("Lets a principal in no more.")
    .description(
      "Lets a principal in no more, until it is enabled: none of its keys and logins counts, and what runs as it waits.",
    );
  onPrincipal(io, command, async ({ client, print }, named) =>
    print(await client.principals.disable(named), principalView),
  );
  examples(command, ["principals disable reports"]);
}

interface BanOptions extends PrincipalOptions {
  readonly reason?: string;
}

export function addBan(principals: Command, io: CliIo): void {
  const command = principals
    .command("ban")
    .summary("Lets a principal in no more, and revokes its keys.")
    .description(
      "Lets a principal in no more, and revokes its keys and credentials for good. What runs as it waits. It comes back only when it is unbanned and enabled, and given new keys.",
    )
    .option("--reason <text>", "why: kept and shown with it");
  onPrincipal(io, command, async ({ client, print }, named, { reason }: BanOptions) => {
    const body = reason === undefined ? null : { reason };
    print(await client.principals.ban({ ...named, body }), principalView);
  });
  examples(command, [
    "principals ban reports",
    `principals ban reports --reason "its key was in a public repository"`,
  ]);
}

export function addUnban(principals: Command, io: CliIo): void {
  const command = principals
    .command("unban")
    .description("Takes a ban back. The principal stays disabled, and its keys stay revoked.");
  onPrincipal(io, command, async ({ client, print }, named, options: PrincipalOptions) => {
    const principal = await client.principals.unban(named);
    print(principal, principalView);
    if (principal.enabled || options.format === "json") return;
    io.err.write(
      lines([`it stays disabled; let it in with: ${another("enable", named, options)}`]),
    );
  });
  examples(command, ["principals unban reports"]);
}
