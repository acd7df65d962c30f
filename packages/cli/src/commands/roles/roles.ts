import type { Command } from "commander";
import { allPages, type PartOptions, partOptions } from "../../all-pages.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { nextPage } from "../../render/next-page.ts";
import { roleTable, roleView } from "../../render/role-view.ts";
import { onServer } from "../../server-call.ts";
import { addClone, addCreate, addDelete, addUpdate } from "./role-write.ts";

/** `engine roles …`: what may be given to principals (AUTH-24). */
export function addRoles(program: Command, io: CliIo): void {
  const roles = program
    .command("roles")
    .description(
      "Shows, makes and changes roles: permissions under a name, which principals are given. Takes admin:roles:read, and admin:roles:manage for changes.",
    )
    .summary("Shows, makes and changes roles, which give permissions.");
  addList(roles, io);
  addShow(roles, io);
  addCreate(roles, io);
  addClone(roles, io);
  addUpdate(roles, io);
  addDelete(roles, io);
}

function addList(roles: Command, io: CliIo): void {
  const command = partOptions(
    roles.command("list").description("Lists roles by name, the engine's own among them."),
  );
  onServer(io, command, async ({ client, print }, options: PartOptions) => {
    const page = await allPages(options, (query) => client.roles.list({ query }));
    print(page, ({ items, total }, screen) =>
      items.length === 0
        ? `No more: there are ${total} in all.\n`
        : roleTable(items, screen) + nextPage(page),
    );
  });
  examples(command, ["roles list", "roles list --format json"]);
}

function addShow(roles: Command, io: CliIo): void {
  const command = roles
    .command("show")
    .description("Shows a role: every permission that it gives.")
    .argument("<name>", "name of the role");
  onServer(io, command, async ({ client, print }, name: string) =>
    print(await client.roles.get({ params: { name } }), roleView),
  );
  examples(command, ["roles show operator"]);
}
