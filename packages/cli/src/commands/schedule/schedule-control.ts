/** The commands that act on one schedule by its name: pause, resume, trigger, delete, history. */
import type { Command } from "commander";
import { wholeNumber } from "../../arguments/option-values.ts";
import { ROUTING_OPTION, routingHeaders, routingInput } from "../../arguments/routing-input.ts";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { executionView } from "../../render/execution-view.ts";
import { nextPage } from "../../render/next-page.ts";
import { scheduleRunTable, scheduleView } from "../../render/schedule-view.ts";
import { onServer } from "../../server-call.ts";

export function addPause(schedule: Command, io: CliIo): void {
  const command = schedule
    .command("pause")
    .summary("Pauses a schedule.")
    .description("Pauses a schedule. What it would have started meanwhile is not caught up.")
    .argument("<name>", "name of the schedule");
  onServer(io, command, async ({ client, print }, name: string) =>
    print(await client.schedules.pause({ params: { name } }), scheduleView),
  );
  examples(command, ["schedule pause nightly"]);
}

export function addResume(schedule: Command, io: CliIo): void {
  const command = schedule
    .command("resume")
    .summary("Goes on with a paused or disabled schedule.")
    .description("Goes on with a paused or disabled schedule, from its next instant after now.")
    .argument("<name>", "name of the schedule");
  onServer(io, command, async ({ client, print }, name: string) =>
    print(await client.schedules.resume({ params: { name } }), scheduleView),
  );
  examples(command, ["schedule resume nightly"]);
}

export function addTrigger(schedule: Command, io: CliIo): void {
  const command = schedule
    .command("trigger")
    .summary("Starts one run of a schedule now.")
    .description("Starts one run now, whatever the status of the schedule and its other runs.")
    .argument("<name>", "name of the schedule")
    .option(ROUTING_OPTION[0], `${ROUTING_OPTION[1]} (default: the schedule's own)`, routingInput);
  onServer(io, command, async ({ client, print }, name: string, options: TriggerOptions) => {
    const headers = routingHeaders(options.routingInput);
    print(await client.schedules.trigger({ params: { name }, headers }), executionView);
  });
  examples(command, ["schedule trigger nightly", "schedule trigger nightly -r dataset=berlin"]);
}

interface TriggerOptions {
  readonly routingInput?: Readonly<Record<string, string>>;
}

export function addDelete(schedule: Command, io: CliIo): void {
  const command = schedule
    .command("delete")
    .summary("Deletes a schedule.")
    .description("Deletes a schedule. Runs that it has started stay and go on.")
    .argument("<name>", "name of the schedule")
    .option("--yes", "do not ask");
  onServer(io, command, async ({ client, print }, name: string, options: { yes?: boolean }) => {
    await client.schedules.get({ params: { name } });
    const what = `This deletes schedule ${name}.`;
    if (!options.yes) await confirmLoss(io, { what, kept: KEPT, question: "Delete it?" });
    await client.schedules.delete({ params: { name } });
    print({ name }, () => `Deleted schedule ${name}. ${KEPT}\n`);
  });
  examples(command, ["schedule delete nightly", "schedule delete nightly --yes"]);
}

const KEPT = "Runs that it has started stay and go on.";

export function addHistory(schedule: Command, io: CliIo): void {
  const command = schedule
    .command("history")
    .description("Lists the runs of a schedule, newest first.")
    .argument("<name>", "name of the schedule")
    .option("--limit <n>", "at most so many, up to 200", wholeNumber(1, 200), 50)
    .option("--offset <n>", "skip so many", wholeNumber(0), 0);
  onServer(io, command, async ({ client, print }, name: string, options: Part) => {
    const { limit, offset } = options;
    const page = await client.schedules.history({ params: { name }, query: { limit, offset } });
    print(page, ({ items }, screen) =>
      items.length === 0
        ? `No runs yet. Start one now: npx engine schedule trigger ${name}\n`
        : scheduleRunTable(items, screen) + nextPage(page),
    );
  });
  examples(command, ["schedule history nightly", "schedule history nightly --limit 200"]);
}

interface Part {
  readonly limit: number;
  readonly offset: number;
}
