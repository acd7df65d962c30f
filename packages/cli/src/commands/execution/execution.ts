import type { EventType, RecordedEvent } from "@engine/contract";
import type { Command } from "commander";
import { type ExecutionOptions, onExecution } from "../../arguments/execution-argument.ts";
import { eventType } from "../../arguments/option-values.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { detailedView, eventTable } from "../../render/execution-view.ts";
import type { ServerCall } from "../../server-call.ts";
import { addExecutionCancel } from "./cancel.ts";
import { addExport } from "./execution-export.ts";
import { addFork, addRestart } from "./execution-fork.ts";
import { addList } from "./execution-list.ts";
import { addRename } from "./execution-rename.ts";
import { addSignal } from "./execution-signal.ts";
import { addTakeOver } from "./execution-take-over.ts";
import { addWatch } from "./execution-watch.ts";
import { addExecutionResume } from "./resume.ts";

interface ShowOptions extends ExecutionOptions {
  readonly detailed?: boolean;
}

interface EventOptions extends ExecutionOptions {
  readonly type?: readonly EventType[];
}

/** `engine execution …`: runs of any workflow, by their ids. */
export function addExecution(program: Command, io: CliIo): void {
  const execution = program
    .command("execution")
    .description("Shows, follows, answers, cancels, forks and takes over executions.");
  addList(execution, io);
  addShow(execution, io);
  addEvents(execution, io);
  addWatch(execution, io);
  addRename(execution, io);
  addSignal(execution, io);
  addExecutionResume(execution, io);
  addExecutionCancel(execution, io);
  addFork(execution, io);
  addRestart(execution, io);
  addExport(execution, io);
  addTakeOver(execution, io);
}

function addShow(execution: Command, io: CliIo): void {
  const command = execution
    .command("show")
    .description("Shows one execution: state, input, output or error.")
    .option("--detailed", "add its log");
  onExecution(io, command, async ({ client, print }, id, options: ShowOptions) => {
    const query = options.detailed ? { detailed: "true" as const } : {};
    // A record in any state is an answer; only trouble on the way to it is thrown.
    const { body: record } = await client.executions.get({ params: { id }, query });
    print(record, detailedView);
  });
  examples(command, [
    "execution show 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --detailed",
    "execution show 0198c2f4-5b",
    "execution show --last --workflow shop/checkout",
  ]);
}

function addEvents(execution: Command, io: CliIo): void {
  const command = execution
    .command("events")
    .description("Prints the log of an execution, oldest first.")
    .option("--type <type>", "only events of this type; may be repeated", eventType);
  onExecution(io, command, async ({ client, print }, id, options: EventOptions) => {
    const items = await allEvents(client, id, options.type);
    const list = { items, total: items.length, limit: items.length, offset: 0 };
    print(list, (_, screen) =>
      items.length === 0 ? "No events of that type.\n" : eventTable(items, screen),
    );
  });
  examples(command, [
    "execution events 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --format json",
    "execution events 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --type task_failed --type task_retry_started",
  ]);
}

const EVENTS_PER_PAGE = 5000;

async function allEvents(
  client: ServerCall["client"],
  id: string,
  type: readonly EventType[] | undefined,
): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for (;;) {
    const query = { after: events.at(-1)?.seq ?? 0, limit: EVENTS_PER_PAGE, type };
    const { items } = await client.executions.events({ params: { id }, query });
    events.push(...items);
    if (items.length < EVENTS_PER_PAGE) return events;
  }
}
