/** The commands that act on one schedule by its name: pause, resume, trigger, delete, history. */
import type { Schedule } from "@engine/contract";
import type { Command } from "commander";
import { wholeNumber } from "../../arguments/option-values.ts";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { executionView } from "../../render/execution-view.ts";
import { nextPage } from "../../render/next-page.ts";
import { scheduleRunTable, scheduleView } from "../../render/schedule-view.ts";
import {
  callServer,
  type ServerCall,
  type ServerOptions,
  serverOptions,
} from "../../server-call.ts";

export function addPause(schedule: Command, io: CliIo): void {
  const command = named(
    schedule
      .command("pause")
      .summary("Pauses a schedule.")
      .description("Pauses a schedule. What it would have started meanwhile is not caught up."),
  );
  command.action((name: string, options: ServerOptions) =>
    control(io, options, (client) => client.schedules.pause({ params: { name } })),
  );
  examples(command, ["schedule pause nightly"]);
}

export function addResume(schedule: Command, io: CliIo): void {
  const command = named(
    schedule
      .command("resume")
      .summary("Goes on with a paused or disabled schedule.")
      .description("Goes on with a paused or disabled schedule, from its next instant after now."),
  );
  command.action((name: string, options: ServerOptions) =>
    control(io, options, (client) => client.schedules.resume({ params: { name } })),
  );
  examples(command, ["schedule resume nightly"]);
}

export function addTrigger(schedule: Command, io: CliIo): void {
  const command = named(
    schedule
      .command("trigger")
      .summary("Starts one run of a schedule now.")
      .description("Starts one run now, whatever the status of the schedule and its other runs."),
  );
  command.action((name: string, options: ServerOptions) =>
    callServer(io, options, async ({ client, print, paint }) => {
      const record = await client.schedules.trigger({ params: { name } });
      print(record, () => executionView(record, paint, io.now()));
    }),
  );
  examples(command, ["schedule trigger nightly"]);
}

export function addDelete(schedule: Command, io: CliIo): void {
  const command = named(
    schedule
      .command("delete")
      .summary("Deletes a schedule.")
      .description("Deletes a schedule. Runs that it has started stay and go on.")
      .option("--yes", "do not ask"),
  );
  command.action((name: string, options: ServerOptions & { yes?: boolean }) =>
    callServer(io, options, async ({ client, print }) => {
      await client.schedules.get({ params: { name } });
      const what = `This deletes schedule ${name}.`;
      if (!options.yes) await confirmLoss(io, { what, kept: KEPT, question: "Delete it?" });
      await client.schedules.delete({ params: { name } });
      print({ name }, () => `Deleted schedule ${name}. ${KEPT}\n`);
    }),
  );
  examples(command, ["schedule delete nightly", "schedule delete nightly --yes"]);
}

export function addHistory(schedule: Command, io: CliIo): void {
  const command = named(
    schedule
      .command("history")
      .description("Lists the runs of a schedule, newest first.")
      .option("--limit <n>", "at most so many, up to 200", wholeNumber(1, 200), 50)
      .option("--offset <n>", "skip so many", wholeNumber(0), 0),
  );
  command.action((name: string, options: ServerOptions & { limit: number; offset: number }) =>
    callServer(io, options, async ({ client, print, paint }) => {
      const { limit, offset } = options;
      const page = await client.schedules.history({ params: { name }, query: { limit, offset } });
      print(page, () =>
        page.items.length === 0
          ? `No runs yet. Start one now: npx engine schedule trigger ${name}\n`
          : scheduleRunTable(page.items, paint, io.now()) + nextPage(page),
      );
    }),
  );
  examples(command, ["schedule history nightly", "schedule history nightly --limit 200"]);
}

const KEPT = "Runs that it has started stay and go on.";

function named(command: Command): Command {
  return serverOptions(command.argument("<name>", "name of the schedule"));
}

async function control(
  io: CliIo,
  options: ServerOptions,
  call: (client: ServerCall["client"]) => Promise<Schedule>,
): Promise<void> {
  await callServer(io, options, async ({ client, print, paint }) => {
    const record = await call(client);
    print(record, () => scheduleView(record, paint, io.now()));
  });
}
