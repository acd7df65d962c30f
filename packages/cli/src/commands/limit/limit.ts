import type { LimitRate } from "@engine/contract";
import type { Command } from "commander";
import { limitRate, wholeNumber } from "../../arguments/option-values.ts";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { limitBrief, limitTable, limitView } from "../../render/limit-view.ts";
import { nextPage } from "../../render/next-page.ts";
import { onServer, type ServerOptions } from "../../server-call.ts";

interface SetOptions extends ServerOptions {
  readonly concurrency?: number;
  readonly rate?: LimitRate;
}

interface ListOptions extends ServerOptions {
  readonly limit: number;
  readonly offset: number;
}

/** `engine limit …`: limits that workflows share by their names (FLW-3). */
export function addLimit(program: Command, io: CliIo): void {
  const limit = program
    .command("limit")
    .description("Defines limits that workflows name, and shows who holds them.");
  addSet(limit, io);
  addList(limit, io);
  addShow(limit, io);
  addDelete(limit, io);
}

function addSet(limit: Command, io: CliIo): void {
  const command = limit
    .command("set")
    .description(
      "Defines a limit, or puts another one in its place. Lowering one stops nobody; --concurrency 0 lets nothing start.",
    )
    .summary("Defines a limit, or changes it.")
    .argument("<name>", "name of the limit")
    .option("--concurrency <n>", "so many may run at once", wholeNumber(0, 100_000))
    .option("--rate <n/period>", "so many may begin in a period, such as 100/1m", limitRate);
  onServer(io, command, async ({ client, print }, name: string, options: SetOptions) => {
    const { concurrency, rate } = options;
    if (concurrency === undefined && rate === undefined) {
      throw new UsageError("say --concurrency N, --rate N/PERIOD or both");
    }
    const body = { ...(concurrency !== undefined && { concurrency }), ...(rate && { rate }) };
    print(await client.limits.put({ params: { name }, body }), limitBrief);
  });
  examples(command, ["limit set openai --concurrency 10", "limit set openai --rate 100/1m"]);
}

function addList(limit: Command, io: CliIo): void {
  const command = limit
    .command("list")
    .description("Lists limits by name.")
    .option("--limit <n>", "at most so many, up to 500", wholeNumber(1, 500), 100)
    .option("--offset <n>", "skip so many", wholeNumber(0), 0);
  onServer(io, command, async ({ client, print }, { limit: most, offset }: ListOptions) => {
    const page = await client.limits.list({ query: { limit: most, offset } });
    print(page, ({ items }, screen) =>
      items.length === 0
        ? "No limits here. Define one: npx engine limit set NAME --concurrency 10\n"
        : limitTable(items, screen) + nextPage(page),
    );
  });
  examples(command, ["limit list", "limit list --format json"]);
}

function addShow(limit: Command, io: CliIo): void {
  const command = limit
    .command("show")
    .description("Shows a limit with the executions that have its places.")
    .argument("<name>", "name of the limit");
  onServer(io, command, async ({ client, print }, name: string) =>
    print(await client.limits.get({ params: { name } }), limitView),
  );
  examples(command, ["limit show openai"]);
}

function addDelete(limit: Command, io: CliIo): void {
  const command = limit
    .command("delete")
    .description("Deletes a limit. What names it starts no more until it is defined again.")
    .summary("Deletes a limit.")
    .option("--yes", "do not ask")
    .argument("<name>", "name of the limit");
  onServer(io, command, async ({ client, print }, name: string, options: { yes?: boolean }) => {
    await client.limits.get({ params: { name } });
    const what = `Workflows that name limit ${name} start no more until it is defined again.`;
    if (!options.yes) await confirmLoss(io, { what, question: "Delete it?" });
    await client.limits.delete({ params: { name } });
    print({ name }, () => `Deleted limit ${name}.\n`);
  });
  examples(command, ["limit delete openai", "limit delete openai --yes"]);
}
