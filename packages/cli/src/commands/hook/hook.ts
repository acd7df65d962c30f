import type { Command } from "commander";
import { allPages } from "../../all-pages.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { detailedHookView, hookList } from "../../render/hook-view.ts";
import { onServer } from "../../server-call.ts";
import { addDeliveries, addDelivery, addRetry } from "./hook-deliveries.ts";
import { addTest } from "./hook-trial.ts";
import { addCreate, addDelete, addUpdate } from "./hook-write.ts";

/** `engine hook …`: workflows that events start (HOOK-52). */
export function addHook(program: Command, io: CliIo): void {
  const hook = program
    .command("hook")
    .summary("Starts workflows by events: makes, shows and tests hooks.")
    .description(
      "Starts workflows by events: makes, shows and tests hooks, and looks after their deliveries.",
    );
  addCreate(hook, io);
  addList(hook, io);
  addGet(hook, io);
  addUpdate(hook, io);
  addDelete(hook, io);
  addTest(hook, io);
  addDeliveries(hook, io);
  addDelivery(hook, io);
  addRetry(hook, io);
}

function addList(hook: Command, io: CliIo): void {
  const command = hook
    .command("list")
    .description("Lists all hooks by name.")
    .option("--enabled-only", "leave out those that are disabled");
  onServer(io, command, async ({ client, print }, options: { enabledOnly?: boolean }) => {
    const enabled_only = options.enabledOnly ? ({ enabled_only: "true" } as const) : {};
    const page = await allPages({ offset: 0 }, (place) =>
      client.hooks.list({ query: { ...place, ...enabled_only } }),
    );
    print(page, ({ items }, screen) =>
      items.length === 0
        ? "No hooks here. Make one: npx engine hook create NAME --on SELECTOR --workflow REF --principal SUBJECT\n"
        : hookList(items, screen),
    );
  });
  examples(command, ["hook list", "hook list --enabled-only --format json"]);
}

function addGet(hook: Command, io: CliIo): void {
  const command = hook
    .command("get")
    .summary("Shows a hook.")
    .description(
      "Shows a hook with what became of its deliveries, and the problems that would stop the next one.",
    )
    .argument("<name>", "name of the hook");
  onServer(io, command, async ({ client, print }, name: string) =>
    print(await client.hooks.get({ params: { name } }), detailedHookView),
  );
  examples(command, ["hook get page-on-failure"]);
}
