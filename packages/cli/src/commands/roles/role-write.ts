/** The commands that make, change and delete roles. */
import { covers } from "@engine/contract";
import type { Command } from "commander";
import { permissions } from "../../arguments/option-values.ts";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { roleView } from "../../render/role-view.ts";
import { lines } from "../../render/table.ts";
import { onServer } from "../../server-call.ts";

interface CreateOptions {
  readonly permission: string[];
  readonly description?: string;
}

export function addCreate(roles: Command, io: CliIo): void {
  const command = roles
    .command("create")
    .summary("Makes a role of permissions that you hold.")
    .description(
      "Makes a role of permissions that you hold: nobody gives others what they lack. A permission is words joined by ':'; * is any word, and at the end whatever follows.",
    )
    .argument("<name>", "small letters, digits, '_' and '-'")
    .requiredOption(
      "--permission <permission>",
      "what it gives, as workflow:shop:*:read; may be repeated",
      permissions,
    )
    .option("--description <text>", "what it is for");
  onServer(io, command, async ({ client, print }, name: string, options: CreateOptions) => {
    const { permission, description } = options;
    const body = { name, permissions: permission, ...(description && { description }) };
    print(await client.roles.create({ body }), roleView);
  });
  examples(command, [
    "roles create refunds --permission workflow:shop:refund:run --permission 'workflow:shop:refund:task:*:execute'",
    `roles create shop-readers --permission 'workflow:shop:*:read' --permission 'execution:*:read' --description "reads all of the shop"`,
  ]);
}

export function addClone(roles: Command, io: CliIo): void {
  const command = roles
    .command("clone")
    .summary("Makes a role that gives what another one gives.")
    .description(
      "Makes a role that gives what another one gives, for example to change a role of the engine, which never changes itself.",
    )
    .argument("<name>", "name of the role that is there")
    .requiredOption("--new-name <name>", "name of the role that is made");
  onServer(io, command, async ({ client, print }, name: string, options: { newName: string }) => {
    const body = { new_name: options.newName };
    print(await client.roles.clone({ params: { name }, body }), roleView);
  });
  examples(command, ["roles clone viewer --new-name auditors"]);
}

interface UpdateOptions {
  readonly add?: string[];
  readonly remove?: string[];
  readonly description?: string;
}

export function addUpdate(roles: Command, io: CliIo): void {
  const command = roles
    .command("update")
    .summary("Changes what a role gives.")
    .description(
      "Changes what a role gives, to everybody who has it, at once. What is added comes first, then what is removed goes.",
    )
    .argument("<name>", "name of the role")
    .option("--add <permission>", "gives this, too; may be repeated", permissions)
    .option("--remove <permission>", "gives this no more; may be repeated", permissions)
    .option("--description <text>", "what it is for; an empty one takes it away");
  onServer(io, command, async ({ client, print }, name: string, options: UpdateOptions) => {
    const { add, remove, description } = options;
    if (!add && !remove && description === undefined) {
      throw new UsageError(
        "say what to change, such as --add workflow:shop:*:read or --remove workflow:shop:*:run",
      );
    }
    const body = {
      ...(add && { add_permissions: add }),
      ...(remove && { remove_permissions: remove }),
      ...(description !== undefined && { description: description || null }),
    };
    const role = await client.roles.update({ params: { name }, body });
    print(role, roleView);
    // Somebody who takes a permission away believes that it is gone.
    for (const gone of remove ?? []) {
      const by = role.permissions.find((permission) => covers(permission, gone));
      if (by !== undefined) io.err.write(lines([`note: ${name} still gives ${gone}, by ${by}`]));
    }
  });
  examples(command, [
    "roles update refunds --add workflow:shop:refund:read",
    "roles update refunds --remove 'workflow:shop:*' --add workflow:shop:refund:run",
  ]);
}

interface DeleteOptions {
  readonly force?: boolean;
  readonly yes?: boolean;
}

export function addDelete(roles: Command, io: CliIo): void {
  const command = roles
    .command("delete")
    .summary("Deletes a role.")
    .description(
      "Deletes a role that nobody has, or with --force one that somebody has. A role that is made later under its name is another one, which nobody has.",
    )
    .argument("<name>", "name of the role")
    .option("--force", "also take it from everybody who has it")
    .option("--yes", "do not ask");
  onServer(io, command, async ({ client, print }, name: string, options: DeleteOptions) => {
    const { force, yes } = options;
    const { built_in } = await client.roles.get({ params: { name } });
    const what = force
      ? `This deletes role ${name}, and takes it from everybody who has it.`
      : `This deletes role ${name}.`;
    // The engine's own are refused: nothing to ask about.
    if (!yes && !built_in) await confirmLoss(io, { what, question: "Delete it?" });
    await client.roles.delete({ params: { name }, query: force ? { force: "true" } : {} });
    print({ name }, () => lines([`Deleted role ${name}.`]));
  });
  examples(command, ["roles delete refunds", "roles delete refunds --force --yes"]);
}
