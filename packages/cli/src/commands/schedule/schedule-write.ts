/** `schedule create` and `schedule update`, which take the same options. */
import {
  CatchUp,
  type Json,
  Overlap,
  parseDuration,
  type ScheduleChanges,
  type ScheduleSpec,
} from "@engine/contract";
import { type Command, InvalidArgumentError, Option } from "commander";
import { INPUT_HELP, readInput } from "../../arguments/input.ts";
import { wholeNumber } from "../../arguments/option-values.ts";
import { ROUTING_OPTION, routingInput } from "../../arguments/routing-input.ts";
import { refArgument, type WorkflowRef } from "../../arguments/workflow-ref.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { scheduleView } from "../../render/schedule-view.ts";
import { callServer, type ServerOptions, serverOptions } from "../../server-call.ts";

interface WriteOptions extends ServerOptions {
  readonly cron?: string;
  readonly every?: number;
  readonly at?: string;
  readonly timezone?: string;
  readonly startAt?: string;
  readonly endAt?: string;
  readonly overlap?: Overlap;
  readonly catchUp?: CatchUp;
  readonly input?: string;
  readonly routingInput?: Readonly<Record<string, string>>;
  readonly runAs?: string;
  readonly version?: number;
  readonly description?: string;
}

interface UpdateOptions extends WriteOptions {
  readonly latest?: boolean;
  readonly clearRoutingInput?: boolean;
}

export function addCreate(schedule: Command, io: CliIo): void {
  const command = writeOptions(
    schedule
      .command("create")
      .summary("Creates a schedule of a workflow.")
      .description(
        "Creates a schedule of a workflow: by a cron expression, by an interval, or for one instant.",
      )
      .addArgument(refArgument())
      .argument("<name>", "name of the schedule, unique in the engine"),
  );
  serverOptions(command).action(
    async ({ ns, wf }: WorkflowRef, name: string, options: WriteOptions) => {
      const spec = specOf(options);
      if (!spec) {
        throw new UsageError("say when it fires: one of --cron, --every and --at");
      }
      const body = { ...(await fieldsOf(options, io)), name, namespace: ns, workflow: wf, spec };
      await callServer(io, options, async ({ client, print }) =>
        print(await client.schedules.create({ body }), scheduleView),
      );
    },
  );
  examples(command, [
    `schedule create sales_report nightly --cron "0 2 * * *" --timezone Europe/Berlin`,
    `schedule create shop/sync prices --every 15m --overlap queue --input '{"full":false}'`,
    "schedule create hello_world greeting --at 2026-12-24T18:00:00Z",
  ]);
}

export function addUpdate(schedule: Command, io: CliIo): void {
  const command = writeOptions(
    schedule
      .command("update")
      .summary("Changes a schedule.")
      .description("Changes a schedule; what is not named stays as it is.")
      .argument("<name>", "name of the schedule"),
  )
    .addOption(new Option("--latest", "run the latest version again").conflicts("version"))
    .addOption(
      new Option("--clear-routing-input", "forget the routing input").conflicts("routingInput"),
    );
  serverOptions(command).action(async (name: string, options: UpdateOptions) => {
    const spec = specOf(options);
    const body: ScheduleChanges = {
      ...(await fieldsOf(options, io)),
      ...(spec && { spec }),
      ...(options.latest && { version: null }),
      ...(options.clearRoutingInput && { routing_input: {} }),
    };
    if (Object.keys(body).length === 0) {
      throw new UsageError("say what to change, such as --every 1h or --overlap queue");
    }
    await callServer(io, options, async ({ client, print }) =>
      print(await client.schedules.update({ params: { name }, body }), scheduleView),
    );
  });
  examples(command, [
    `schedule update nightly --cron "30 2 * * *" --timezone Europe/Berlin`,
    "schedule update prices --overlap skip --latest",
  ]);
}

function writeOptions(command: Command): Command {
  return command
    .option("--cron <expression>", "5 fields, or 6 with seconds first")
    .option("--every <duration>", "again and again, such as 30s, 15m, 1h or 7d", interval)
    .option("--at <instant>", "once, at an ISO 8601 instant")
    .option("--timezone <zone>", "of --cron: an IANA name (default: UTC)")
    .option("--start-at <instant>", "of --every: the first time (default: one interval from now)")
    .option("--end-at <instant>", "of --every: never after this")
    .addOption(
      new Option(
        "--overlap <policy>",
        "while a run has not ended: skip (default), allow, queue or cancel",
      ).choices(Overlap.options),
    )
    .addOption(
      new Option("--catch-up <policy>", "of missed runs: one (default), none or all").choices(
        CatchUp.options,
      ),
    )
    .option("--input <input>", INPUT_HELP)
    .option(...ROUTING_OPTION, routingInput)
    .option("--run-as <account>", "account the runs have the rights of")
    .option("--version <n>", "version to run (default: the latest at each run)", wholeNumber(1))
    .option("--description <text>", "what it is for");
}

/** Seconds of `15m`. */
function interval(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 1000) return ms / 1000;
  throw new InvalidArgumentError("Expected at least a second, such as 30s, 15m, 1h or 7d.");
}

async function fieldsOf(options: WriteOptions, io: CliIo): Promise<ScheduleChanges> {
  const { overlap, catchUp, routingInput, runAs, version, description } = options;
  const input = (await readInput(options.input, io)) as Json | undefined;
  return {
    ...(overlap && { overlap }),
    ...(catchUp && { catch_up: catchUp }),
    ...(input !== undefined && { input }),
    ...(routingInput && { routing_input: { ...routingInput } }),
    ...(runAs !== undefined && { run_as: runAs }),
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
  };
}

/** Undefined when none of the three was given; an option of another one is a usage error. */
function specOf(options: WriteOptions): ScheduleSpec | undefined {
  const { cron, every, at, timezone, startAt, endAt } = options;
  const given = [cron, every, at].filter((value) => value !== undefined);
  if (given.length > 1) throw new UsageError("take one of --cron, --every and --at");
  if (timezone !== undefined && cron === undefined) {
    throw new UsageError("--timezone belongs to --cron");
  }
  if ((startAt ?? endAt) !== undefined && every === undefined) {
    throw new UsageError("--start-at and --end-at belong to --every");
  }
  if (cron !== undefined) {
    return { type: "cron", expression: cron, timezone: timezone ?? "UTC" };
  }
  if (at !== undefined) return { type: "once", at };
  if (every === undefined) return undefined;
  return {
    type: "interval",
    every_seconds: every,
    ...(startAt !== undefined && { start_at: startAt }),
    ...(endAt !== undefined && { end_at: endAt }),
  };
}
