import { WorkerStatus } from "@engine/contract";
import { type Command, Option } from "commander";
import { label, wholeNumber } from "../../arguments/option-values.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { nextPage } from "../../render/next-page.ts";
import { workerTable, workerView } from "../../render/worker-view.ts";
import type { ServerOptions } from "../../server-call.ts";
import { onFleet } from "./on-fleet.ts";
import { addDelete, addPause, addResume } from "./worker-control.ts";
import { addDrain } from "./worker-drain.ts";
import { addMetadata } from "./worker-metadata.ts";
import { addWorkerService } from "./worker-service.ts";

interface ListOptions extends ServerOptions {
  readonly status?: WorkerStatus;
  readonly label?: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly offset: number;
}

interface ShowOptions extends ServerOptions {
  readonly packages?: boolean;
}

/** `engine worker …`: the processes that run executions, as operators see and direct them. */
export function addWorker(program: Command, io: CliIo): void {
  const worker = program
    .command("worker")
    .description("Shows workers, describes, pauses, drains and forgets them.");
  addList(worker, io);
  addShow(worker, io);
  addPause(worker, io);
  addResume(worker, io);
  addDrain(worker, io);
  addDelete(worker, io);
  addMetadata(worker, io);
  addWorkerService(worker, io);
}

function addList(worker: Command, io: CliIo): void {
  const command = worker
    .command("list")
    .description("Lists workers by name: how they are, what they run, when they last spoke.")
    .addOption(
      new Option("--status <status>", "only those that are so").choices(WorkerStatus.options),
    )
    .option("--label <key=value>", "only with this label; may be repeated", label)
    .option("--limit <n>", "at most so many, up to 1000", wholeNumber(1, 1000), 100)
    .option("--offset <n>", "skip so many", wholeNumber(0), 0);
  onFleet(io, command, async ({ client, print }, options: ListOptions) => {
    const { status, label: labels, limit, offset } = options;
    const terms = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
    const query = { status, limit, offset, ...(terms.length > 0 && { label: terms }) };
    const page = await client.fleet.list({ query });
    const isFiltered = status !== undefined || terms.length > 0;
    print(page, ({ items, total }, screen) =>
      items.length === 0
        ? noneText(total, isFiltered)
        : workerTable(items, screen) + nextPage(page),
    );
  });
  examples(command, [
    "worker list",
    "worker list --status online --label gpu=a100",
    "worker list --label engine.service.inference=true",
    "worker list --status offline --format json",
  ]);
}

function noneText(total: number, isFiltered: boolean): string {
  if (total > 0) return `No more: ${total} match in all.\n`;
  return isFiltered
    ? "No workers match. See them all: npx engine worker list\n"
    : "No workers yet. Start one: npx engine start worker\n";
}

function addShow(worker: Command, io: CliIo): void {
  const command = worker
    .command("show")
    .description("Shows a worker: how it is, what it runs, what it can run and where it is.")
    .argument("<name>", "name of the worker")
    .option("--packages", "list its packages, however many");
  onFleet(io, command, async ({ client, print }, name: string, options: ShowOptions) => {
    const record = await client.fleet.show({ params: { name } });
    print(record, (_, screen) => workerView(record, screen, options.packages === true));
  });
  examples(command, ["worker show gpu-1", "worker show gpu-1 --packages"]);
}
