/** The commands about deliveries of a hook: what became of events, and having them tried anew. */
import type { Client } from "@engine/client";
import {
  DeadReason,
  DeliveryStatus,
  formatInstant,
  type RetriedDeliveries,
} from "@engine/contract";
import { type Command, Option } from "commander";
import { wholeNumber } from "../../arguments/option-values.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { deliveryList, deliveryView, detailedDeliveryView } from "../../render/hook-view.ts";
import { nextPage } from "../../render/next-page.ts";
import { callServer, onServer, type ServerOptions, serverOptions } from "../../server-call.ts";

interface ListOptions {
  readonly limit: number;
  readonly offset: number;
  readonly status?: DeliveryStatus;
}

export function addDeliveries(hook: Command, io: CliIo): void {
  const command = hook
    .command("deliveries")
    .description("Lists the deliveries of a hook, newest first.")
    .argument("<name>", "name of the hook")
    .option("--limit <n>", "at most so many, up to 200", wholeNumber(1, 200), 50)
    .option("--offset <n>", "skip so many", wholeNumber(0), 0)
    .addOption(
      new Option("--status <status>", "only with this status").choices(DeliveryStatus.options),
    );
  onServer(io, command, async ({ client, print }, name: string, options: ListOptions) => {
    const { limit, offset, status } = options;
    const query = { limit, offset, ...(status && { status }) };
    const page = await client.hooks.deliveries({ params: { name }, query });
    print(page, ({ items, total }, screen) => {
      if (items.length > 0) return deliveryList(items, screen) + nextPage(page);
      return total === 0 ? "No deliveries.\n" : `No more: there are ${total} in all.\n`;
    });
  });
  examples(command, [
    "hook deliveries page-on-failure",
    "hook deliveries page-on-failure --status dead --limit 200",
  ]);
}

export function addDelivery(hook: Command, io: CliIo): void {
  const command = hook
    .command("delivery")
    .description("Shows a delivery with its envelope, the input of what it starts.")
    .argument("<name>", "name of the hook")
    .argument("<delivery_id>", "id of the delivery");
  onServer(io, command, async ({ client, print }, name: string, delivery_id: string) =>
    print(await client.hooks.delivery({ params: { name, delivery_id } }), detailedDeliveryView),
  );
  examples(command, ["hook delivery page-on-failure 0192f0c1-5b7a-7c31-9d7e-3f1b8a6c2d10"]);
}

interface RetryOptions extends ServerOptions {
  readonly all?: boolean;
  readonly reason?: DeadReason;
}

export function addRetry(hook: Command, io: CliIo): void {
  const command = hook
    .command("retry")
    .summary("Has deliveries that were given up tried anew.")
    .description("Has one delivery that was given up tried anew, or all of them with --all.")
    .argument("<name>", "name of the hook")
    .argument("[delivery_id]", "id of the delivery")
    .option("--all", "all that were given up until now")
    .addOption(
      new Option("--reason <code>", "of all, those that were given up for this").choices(
        DeadReason.options,
      ),
    );
  serverOptions(command).action(
    async (name: string, delivery_id: string | undefined, options: RetryOptions) => {
      const { all = false, reason } = options;
      if (all === (delivery_id !== undefined)) {
        throw new UsageError("say which delivery: its id, or --all for all that were given up");
      }
      if (reason !== undefined && !all) throw new UsageError("--reason belongs to --all");
      await callServer(io, options, async ({ client, print }) => {
        if (delivery_id !== undefined) {
          const retried = await client.hooks.retry({ params: { name, delivery_id } });
          return print(retried, deliveryView);
        }
        const settled_before = formatInstant(io.now());
        const retried = await retryAll(client, name, { settled_before, dead_reason: reason });
        print(retried, retriedView);
      });
    },
  );
  examples(command, [
    "hook retry page-on-failure 0192f0c1-5b7a-7c31-9d7e-3f1b8a6c2d10",
    "hook retry page-on-failure --all --reason target_not_found",
  ]);
}

interface Which {
  readonly settled_before: string;
  readonly dead_reason: DeadReason | undefined;
}

/** What dies again meanwhile lies behind the instant, so that this ends. */
async function retryAll(
  client: Client,
  name: string,
  { settled_before, dead_reason }: Which,
): Promise<RetriedDeliveries> {
  const body = { settled_before, ...(dead_reason && { dead_reason }) };
  let total = 0;
  for (;;) {
    const { retried, remaining } = await client.hooks.retryMany({ params: { name }, body });
    total += retried;
    if (remaining === 0 || retried === 0) return { retried: total, remaining };
  }
}

function retriedView({ retried, remaining }: RetriedDeliveries): string {
  const left = remaining === 0 ? "" : `; ${remaining} are left`;
  return `Handed back ${retried} ${retried === 1 ? "delivery" : "deliveries"}${left}.\n`;
}
