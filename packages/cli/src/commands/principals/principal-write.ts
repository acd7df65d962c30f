/** The commands that make, rename and delete principals. */
import type { PrincipalRecord, PrincipalType } from "@engine/contract";
import { type Command, Option } from "commander";
import { texts } from "../../arguments/option-values.ts";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { principalView } from "../../render/principal-view.ts";
import { lines } from "../../render/table.ts";
import { onServer } from "../../server-call.ts";
import { another, onPrincipal, type PrincipalOptions } from "./on-principal.ts";

interface CreateOptions extends PrincipalOptions {
  readonly type: Exclude<PrincipalType, "worker">;
  readonly role?: string[];
  readonly displayName?: string;
}

export function addCreate(principals: Command, io: CliIo): void {
  const command = principals
    .command("create")
    .summary("Makes a user or a service account.")
    .description(
      "Makes a service account, which comes in by API keys, or a user, who comes in by an OpenID provider. Its roles give no more than you hold. Workers come by themselves, with a token that engine server join-token makes.",
    )
    .argument("<subject>", "name of the service account, or what the provider calls the user (sub)")
    .addOption(
      new Option("--type <type>", "what it is")
        .choices(["user", "service_account"])
        .makeOptionMandatory(),
    )
    .option("--role <role>", "a role that it has; may be repeated", texts)
    .option("--display-name <name>", "how people call it")
    .option("--issuer <url>", "provider of a user (default: the one that the server is set to)");
  onServer(io, command, async ({ client, print }, subject: string, options: CreateOptions) => {
    const { type, role, displayName, issuer, format } = options;
    const body = {
      ...{ subject, type },
      ...(role && { roles: role }),
      ...(displayName !== undefined && { display_name: displayName || null }),
      ...(issuer !== undefined && { issuer }),
    };
    print(await client.principals.create({ body }), principalView);
    if (type === "user" || format === "json") return;
    const next = another("create-key", { params: { subject }, query: {} }, options);
    io.err.write(lines([`make a key for it with: ${next} --key-name <name>`]));
  });
  examples(command, [
    "principals create reports --type service_account --role viewer",
    `principals create 8f14e45f --type user --role operator --display-name "Ada Lovelace"`,
  ]);
}

interface UpdateOptions extends PrincipalOptions {
  readonly displayName: string;
}

export function addUpdate(principals: Command, io: CliIo): void {
  const command = principals
    .command("update")
    .description("Gives a principal another name for people; an empty one takes it away.")
    .requiredOption("--display-name <name>", "how people call it");
  onPrincipal(io, command, async ({ client, print }, named, options: UpdateOptions) => {
    const body = { display_name: options.displayName || null };
    print(await client.principals.update({ ...named, body }), principalView);
  });
  examples(command, [`principals update reports --display-name "Nightly reports"`]);
}

interface DeleteOptions extends PrincipalOptions {
  readonly force?: boolean;
  readonly yes?: boolean;
}

export function addDelete(principals: Command, io: CliIo): void {
  const command = principals
    .command("delete")
    .summary("Deletes a principal with its roles and keys.")
    .description(
      "Deletes a principal with its roles and keys. What it did keeps its name; one that is made later under its subject is another one. To keep somebody out for a while, disable or ban it.",
    )
    .option(
      "--force",
      "also while it has keys that count, executions that have not ended, or schedules",
    )
    .option("--yes", "do not ask");
  onPrincipal(io, command, async ({ client, print }, named, options: DeleteOptions) => {
    const { force, yes } = options;
    const principal = await client.principals.get(named);
    const name = nameOf(principal);
    const what = `This deletes ${name} with its roles and keys.`;
    const kept = force ? HELD : undefined;
    if (!yes) await confirmLoss(io, { what, ...(kept && { kept }), question: "Delete it?" });
    const { subject, issuer } = principal;
    // The one that was shown, also where another one of this subject came since.
    const query = { issuer, ...(force && { force: "true" as const }) };
    await client.principals.delete({ params: { subject }, query });
    print({ subject, issuer }, () => lines([`Deleted ${name}.`]));
  });
  examples(command, ["principals delete reports", "principals delete reports --force --yes"]);
}

const HELD =
  "Its executions that have not ended wait until somebody takes them over; its schedules fail.";

const TYPES = { user: "user", service_account: "service account", worker: "worker" } as const;

function nameOf({ type, subject }: PrincipalRecord): string {
  return `${TYPES[type]} ${subject}`;
}
