import type { Command } from "commander";
import { allPages, type PartOptions, partOptions } from "../../all-pages.ts";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import { Reported, UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { forTerminal } from "../../render/harmless.ts";
import { nextPage } from "../../render/next-page.ts";
import { heldText, secretTable } from "../../render/secret-view.ts";
import { lines } from "../../render/table.ts";
import { onServer, type ServerOptions } from "../../server-call.ts";
import { addKeys, addRotateKeys } from "./encryption-keys.ts";
import { addSet } from "./secret-set.ts";

/** `engine secrets …`: values that only tasks, and those who may read them, see (SEC-4). */
export function addSecrets(program: Command, io: CliIo): void {
  const secrets = program
    .command("secrets")
    .summary("Keeps values that tasks use and nobody should see.")
    .description(
      "Keeps values that tasks use and nobody should see, encrypted. Wherever such a value turns up in what is read of the engine, it is masked.",
    );
  addList(secrets, io);
  addSet(secrets, io);
  addGet(secrets, io);
  addRemove(secrets, io);
  addKeys(secrets, io);
  addRotateKeys(secrets, io);
}

function addList(secrets: Command, io: CliIo): void {
  const command = partOptions(
    secrets
      .command("list")
      .description("Lists the secrets that you may use, read or change by name, without values."),
  );
  onServer(io, command, async ({ client, print }, options: PartOptions) => {
    const page = await allPages(options, (query) => client.secrets.list({ query }));
    print(page, ({ items, total, auth_filtered }, screen) => {
      if (items.length > 0) return secretTable(items, screen) + nextPage(page);
      if (total > 0) return `No more: there are ${total} in all.\n`;
      return auth_filtered
        ? "There is no secret that you may use, read or change.\n"
        : "No secrets yet. Keep one: npx engine secrets set <name>\n";
    });
  });
  examples(command, ["secrets list", "secrets list --format json"]);
}

interface GetOptions extends ServerOptions {
  readonly yes?: boolean;
}

function addGet(secrets: Command, io: CliIo): void {
  const command = secrets
    .command("get")
    .summary("Prints a secret.")
    .description(
      "Prints the value of a secret alone, a text as it is and anything else as JSON; the audit log tells that you read it. At a terminal it asks before it shows it. With --format json all about it is printed.",
    )
    .argument("<name>", "name of the secret")
    .option("--yes", "do not ask");
  onServer(io, command, async ({ client, print }, name: string, options: GetOptions) => {
    const isSeen = io.out.isTTY && options.format === "simple";
    if (isSeen && !options.yes) await confirmShowing(io, name);
    const secret = await client.secrets.get({ params: { name } });
    const text = heldText(secret.value);
    print(secret, () => `${text}\n`);
    if (options.format === "simple" && forTerminal(text) !== text) {
      io.err.write(
        "note: it has control characters, which are not printed as they are: take --format json\n",
      );
    }
  });
  examples(command, ["secrets get stripe_key", "secrets get stripe_key > stripe.key"]);
}

async function confirmShowing(io: CliIo, name: string): Promise<void> {
  const what = `Whoever looks at this terminal sees secret ${name}.`;
  const answer = await io.confirm(`${what}\nShow it?`);
  if (answer === undefined) {
    throw new UsageError(
      `${what} Add --yes to show it all the same, or send it to a file: there is nobody to ask`,
    );
  }
  if (answer) return;
  io.err.write("Nothing was shown.\n");
  throw new Reported();
}

function addRemove(secrets: Command, io: CliIo): void {
  const command = secrets
    .command("remove")
    .description("Deletes a secret. Its value stays masked for a while, since logs still hold it.")
    .argument("<name>", "name of the secret")
    .option("--yes", "do not ask");
  onServer(io, command, async ({ client, print }, name: string, options: { yes?: boolean }) => {
    const what = `This deletes secret ${name}: tasks that ask for it fail from then on.`;
    if (!options.yes) await confirmLoss(io, { what, question: "Delete it?" });
    await client.secrets.delete({ params: { name } });
    print({ name }, () => lines([`Deleted secret ${name}.`]));
  });
  examples(command, ["secrets remove stripe_key", "secrets remove stripe_key --yes"]);
}
