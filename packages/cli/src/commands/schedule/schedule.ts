import { ScheduleSource, ScheduleStatus } from "@engine/contract";
import { type Command, Option } from "commander";
import { wholeNumber } from "../../arguments/option-values.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { nextPage } from "../../render/next-page.ts";
import { scheduleTable, scheduleView } from "../../render/schedule-view.ts";
import { onServer, type ServerOptions } from "../../server-call.ts";
import { addDelete, addHistory, addPause, addResume, addTrigger } from "./schedule-control.ts";
import { addCreate, addUpdate } from "./schedule-write.ts";

interface ListOptions extends ServerOptions {
  readonly namespace?: string;
  readonly workflow?: string;
  readonly status?: ScheduleStatus;
  readonly source?: ScheduleSource;
  readonly limit: number;
  readonly offset: number;
}

/** `engine schedule …`: what the engine starts by itself. */
export function addSchedule(program: Command, io: CliIo): void {
  const schedule = program
    .command("schedule")
    .description("Starts workflows by the clock: creates, shows and controls schedules.");
  addCreate(schedule, io);
  addList(schedule, io);
  addShow(schedule, io);
  addUpdate(schedule, io);
  addPause(schedule, io);
  addResume(schedule, io);
  addTrigger(schedule, io);
  addDelete(schedule, io);
  addHistory(schedule, io);
}

function addList(schedule: Command, io: CliIo): void {
  const command = schedule
    .command("list")
    .description("Lists schedules by name.")
    .option("-n, --namespace <ns>", "only of workflows of this namespace")
    .option("--workflow <name>", "only of workflows with this name")
    .addOption(
      new Option("--status <status>", "only with this status").choices(ScheduleStatus.options),
    )
    .addOption(
      new Option("--source <source>", "api, or code for those a workflow declares").choices(
        ScheduleSource.options,
      ),
    )
    .option("--limit <n>", "at most so many, up to 1000", wholeNumber(1, 1000), 200)
    .option("--offset <n>", "skip so many", wholeNumber(0), 0);
  onServer(io, command, async ({ client, print }, options: ListOptions) => {
    const { format: _format, serverUrl: _url, ...query } = options;
    const page = await client.schedules.list({ query });
    print(page, ({ items }, screen) =>
      items.length === 0
        ? "No schedules match. Create one: npx engine schedule create <ref> <name> --every 1h\n"
        : scheduleTable(items, screen) + nextPage(page),
    );
  });
  examples(command, ["schedule list", "schedule list --status disabled --format json"]);
}

function addShow(schedule: Command, io: CliIo): void {
  const command = schedule
    .command("show")
    .description("Shows a schedule: when it fires next, how often it did, what went wrong.")
    .argument("<name>", "name of the schedule");
  onServer(io, command, async ({ client, print }, name: string) =>
    print(await client.schedules.get({ params: { name } }), scheduleView),
  );
  examples(command, ["schedule show nightly-report"]);
}
