import type { Command } from "commander";
import { allPages, type PartOptions, partOptions } from "../../all-pages.ts";
import { readBody } from "../../arguments/input.ts";
import { wholeNumber } from "../../arguments/option-values.ts";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { nextPage } from "../../render/next-page.ts";
import { configTable, configView, heldText } from "../../render/secret-view.ts";
import { lines } from "../../render/table.ts";
import { onServer } from "../../server-call.ts";

/** `engine config …`: values that tasks read and nobody needs to hide (SEC-4). */
export function addConfig(program: Command, io: CliIo): void {
  const config = program
    .command("config")
    .summary("Keeps values that tasks read.")
    .description(
      "Keeps values that tasks read and that anybody may see. What is confidential belongs to engine secrets; how the engine itself is set up stands in engine.toml.",
    );
  addList(config, io);
  addSet(config, io);
  addGet(config, io);
  addRemove(config, io);
}

function addList(config: Command, io: CliIo): void {
  const command = partOptions(
    config.command("list").description("Lists the values by name, without the values themselves."),
  );
  onServer(io, command, async ({ client, print }, options: PartOptions) => {
    const page = await allPages(options, (query) => client.configs.list({ query }));
    print(page, ({ items, total, auth_filtered }, screen) => {
      if (items.length > 0) return configTable(items, screen) + nextPage(page);
      if (total > 0) return `No more: there are ${total} in all.\n`;
      return auth_filtered
        ? "There is no value that you may read.\n"
        : "No values yet. Keep one: npx engine config set <name> <value>\n";
    });
  });
  examples(command, ["config list", "config list --format json"]);
}

interface SetOptions {
  readonly description?: string;
  readonly ifVersion?: number;
}

function addSet(config: Command, io: CliIo): void {
  const command = config
    .command("set")
    .description("Keeps a value, new or in place of another one, which tasks get from then on.")
    .argument("<name>", "name of the value, as tasks declare it")
    .argument(
      "<value>",
      "JSON if it parses as JSON, else text; @FILE reads a file, - standard input",
    )
    .option("--description <text>", "what it is for; an empty one takes it away")
    .option(
      "--if-version <n>",
      "only where it is still of this version; 0 = only where there is none",
      wholeNumber(0),
    );
  onServer(
    io,
    command,
    async ({ client, print }, name: string, given: string, options: SetOptions) => {
      const { description, ifVersion } = options;
      const body = {
        value: await readBody(given, io),
        ...(description !== undefined && { description: description || null }),
        ...(ifVersion !== undefined && { if_version: ifVersion }),
      };
      const { body: record } = await client.configs.put({ params: { name }, body });
      print(record, configView);
    },
  );
  examples(command, [
    "config set shop_url https://shop.example.com",
    `config set limits '{"per_day":100}' --description "how much a customer may buy"`,
    "config set template @mail.html",
  ]);
}

function addGet(config: Command, io: CliIo): void {
  const command = config
    .command("get")
    .description("Prints a value alone: a text as it is, anything else as JSON.")
    .argument("<name>", "name of the value");
  onServer(io, command, async ({ client, print }, name: string) =>
    print(await client.configs.get({ params: { name } }), ({ value }) => `${heldText(value)}\n`),
  );
  examples(command, ["config get shop_url", "config get limits --format json"]);
}

function addRemove(config: Command, io: CliIo): void {
  const command = config
    .command("remove")
    .description("Deletes a value.")
    .argument("<name>", "name of the value")
    .option("--yes", "do not ask");
  onServer(io, command, async ({ client, print }, name: string, options: { yes?: boolean }) => {
    const what = `This deletes value ${name}: tasks that ask for it fail from then on.`;
    if (!options.yes) await confirmLoss(io, { what, question: "Delete it?" });
    await client.configs.delete({ params: { name } });
    print({ name }, () => lines([`Deleted value ${name}.`]));
  });
  examples(command, ["config remove shop_url", "config remove shop_url --yes"]);
}
